/* startup.c -- from reset to main on a bare-metal target. bare.ld defines the addresses. */
#include <stdint.h>

extern uint32_t bncc_data_load[];
extern uint32_t bncc_data_start[];
extern uint32_t bncc_data_end[];
extern uint32_t bncc_bss_start[];
extern uint32_t bncc_bss_end[];
extern uint32_t bncc_stack_top[];

int main(void);
void bncc_start(void);
void bncc_reset(void);

#if defined(__arm__) || defined(__riscv)
/* After a fault QEMU would continue: request an exit (semihosting's SYS_EXIT_EXTENDED) with a
 * status that qemu.py knows. Unicorn stops at a fault by itself. */
extern const uint32_t bncc_fault[2];
__attribute__((used)) const uint32_t bncc_fault[2] = {0x20026U, 99U};
#endif

#if defined(__arm__)
/* A Cortex-M loads its stack pointer and its entry from the first two words of memory, and the
 * handlers of an NMI and a fault from the next two. */
typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector_t;

static void fault(void)
{
    register uint32_t r0 __asm__("r0") = 0x20U;
    register const uint32_t *r1 __asm__("r1") = bncc_fault;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

extern const vector_t bncc_vectors[4];
__attribute__((section(".vectors"), used)) const vector_t bncc_vectors[4] = {
    {.stack = bncc_stack_top},
    {.handler = bncc_start},
    {.handler = fault},
    {.handler = fault},
};

void bncc_start(void)
{
#if defined(__ARM_FP)
    /* Coprocessors 10 and 11 are the floating-point unit: full access. */
    volatile uint32_t *const access = (volatile uint32_t *)0xE000ED88U;
    *access |= 0xFU << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    bncc_reset();
}
#elif defined(__riscv)
__asm__(".section .text.bncc_start,\"ax\",@progbits\n"
        ".globl bncc_start\n"
        "bncc_start:\n"
        "\tla sp, bncc_stack_top\n"
        "\tla t0, fault\n"
        "\t.option push\n"
        "\t.option arch, +zicsr\n"
        "\tcsrw mtvec, t0\n"
        "\t.option pop\n"
        "\tj bncc_reset\n"
        "\t.balign 16\n"
        "fault:\n"
        "\t.option push\n"
        "\t.option norvc\n"
        "\tla a1, bncc_fault\n"
        "\tli a0, 0x20\n"
        "\t.balign 16\n"
        "\tslli x0, x0, 0x1f\n" /* these three are the call */
        "\tebreak\n"
        "\tsrai x0, x0, 7\n"
        "\t.option pop\n");
#elif defined(__mips__)
__asm__(".section .text.bncc_start,\"ax\",@progbits\n"
        ".globl bncc_start\n"
        "bncc_start:\n"
        "\tla $29, bncc_stack_top - 16\n" /* room for the callee to keep four arguments */
        "\tj bncc_reset\n"
        "\tnop\n");
#elif defined(__x86_64__)
__asm__(".section .text.bncc_start,\"ax\",@progbits\n"
        ".globl bncc_start\n"
        "bncc_start:\n"
        "\tmovabs $bncc_stack_top, %rsp\n"
        "\tcall bncc_reset\n");
#else
#error "startup.c: which machine is this?"
#endif

void bncc_reset(void)
{
    /* Whole words, the last of which may extend beyond the end into unused memory.
     * Volatile, or a compiler would call memcpy and memset, which would count as the runtime's. */
    volatile uint32_t *to = bncc_data_start;
    const uint32_t *from = bncc_data_load;

    while (to < (volatile uint32_t *)bncc_data_end) {
        *to++ = *from++;
    }
    for (to = bncc_bss_start; to < (volatile uint32_t *)bncc_bss_end; to++) {
        *to = 0U;
    }
    (void)main();
    for (;;) {
    }
}
