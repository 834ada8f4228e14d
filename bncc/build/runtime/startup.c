/* startup.c -- from reset to main on a bare machine. bare.ld gives the addresses. */
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

#if defined(__arm__)
/* A Cortex-M takes its stack pointer and its entry from the first two words of memory. */
typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector_t;

extern const vector_t bncc_vectors[2];
__attribute__((section(".vectors"), used)) const vector_t bncc_vectors[2] = {
    {.stack = bncc_stack_top},
    {.handler = bncc_start},
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
        "\tj bncc_reset\n");
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
    /* Volatile, or a compiler would call memcpy and memset, which then counted as the runtime's. */
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
