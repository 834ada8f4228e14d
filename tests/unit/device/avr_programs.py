"""The C programs of the tests of simavr."""

ECHO = """
int main(void)
{
    unsigned char block[7];
    unsigned char one;
    port_open();
    port_write(&(unsigned char){'>'}, 1U);
    while (port_read(&one, 1U) && one > 0U && port_read(block, one)) {
        port_write(block, one);
    }
    port_write(&one, 1U);
    return port_close(0);
}
"""

# Writes the cycles of a call of measure() less those of nothing, for each of some fragments.
CYCLES = r"""
static void put(uint32_t value) { port_write(&value, sizeof value); }

#define MEASURE(code)                             \
    do {                                          \
        uint32_t start = port_elapsed();          \
        __asm__ volatile(code ::: "r0", "r1", "r24", "r26", "r27", "r30", "r31"); \
        start = port_elapsed() - start;           \
        __asm__ volatile("clr r1" ::: "memory");  \
        put(start);                               \
    } while (0)

int main(void)
{
    port_open();
    MEASURE("");
MEASURED
    MEASURE("");
    return port_close(0);
}
"""

FRAGMENTS = {
    r"nop": 1,
    r"mov r0, r1": 1,
    r"adiw r30, 1": 2,
    r"mul r30, r31": 2,
    r"push r0\n\tpop r0": 4,
    r"rcall .+0\n\tpop r0\n\tpop r0": 7,
    r"rjmp 1f\n1:": 2,
    r"jmp 1f\n1:": 3,
    r"rcall 1f\n\trjmp 2f\n1:\tret\n2:": 9,
    r"call 1f\n\trjmp 2f\n1:\tret\n2:": 10,
    r"lds r0, 0x100": 2,
    r"clr r27\n\tldi r26, 0x20\n\tld r0, X+": 4,
    r"clr r27\n\tldi r26, 0x3F\n\tld r0, -X\n\tst X, r0": 6,
    r"clr r30\n\tclr r31\n\tlpm r0, Z+": 5,
    r"in r0, 0x3f": 1,
    r"set\n\tbrts 1f\n1:": 3,
    r"clt\n\tbrts 1f\n1:": 2,
    r"ldi r24, 1\n\tsbrs r24, 0\n\tnop": 3,
    r"ldi r24, 1\n\tsbrc r24, 0\n\tnop": 3,
    r"ldi r24, 1\n\tsbrs r24, 0\n\tlds r0, 0x100": 4,
    # simavr 1.6 alone skips two words here.
    r"ldi r24, 1\n\tsbrs r24, 0\n\tadiw r30, 12\n\trjmp .+0": 5,
    r"ldi r24, 1\n\tsbrc r24, 1\n\tsbiw r30, 63\n\trjmp .+0": 5,
    r"cpse r1, r1\n\tadiw r30, 31\n\trjmp .+0": 4,
    r"sbi 0x05, 0\n\tsbis 0x05, 0\n\tadiw r30, 45\n\trjmp .+0": 6,
    r"ldi r24, 1\n\tsbrc r24, 0\n\tadiw r30, 12\n\trjmp .+0": 6,
    r"rjmp 1f\n\tadiw r30, 12\n\trjmp .+0\n1:\tnop": 3,
    r"ldi r30, lo8(1000)\n\tldi r31, hi8(1000)\n1:\tsbiw r30, 1\n\tbrne 1b": 2 + 4 * 1000 - 1,
    r"ldi r30, lo8(3000)\n\tldi r31, hi8(3000)\n1:\tsbiw r30, 1\n\tbrne 1b": 2 + 4 * 3000 - 1,
}

# The doorbell by `out` and by `sts`, each at a known distance after another ring.
RINGS = r"""
#define RING(store)                                                                        \
    do {                                                                                   \
        uint32_t start = port_elapsed();                                                   \
        __asm__ volatile("ldi r24, 't'\n\tnop\n\t" store ::: "r24", "memory");             \
        start = bncc_request.result - start;                                               \
        port_write(&start, sizeof start);                                                  \
    } while (0)

int main(void)
{
    RING("out 0x1e, r24");
    RING("sts 0x3e, r24");
    RING("nop\n\tsts 0x3e, r24");
    return port_close(0);
}
"""

# dip(n) lowers the stack pointer by n as the compiler does for a frame: first the high half.
STACK = r"""
void dip(uint16_t n);
__asm__(".text\n"
        "dip:\tin r30, 0x3d\n\tin r31, 0x3e\n\tmovw r26, r30\n"
        "\tsub r30, r24\n\tsbc r31, r25\n"
        "\tin r0, 0x3f\n\tcli\n\tout 0x3e, r31\n\tout 0x3f, r0\n\tout 0x3d, r30\n"
        "\tin r0, 0x3f\n\tcli\n\tout 0x3e, r27\n\tout 0x3f, r0\n\tout 0x3d, r26\n"
        "\tret\n");

static void push_3(void) __attribute__((noinline));
static void push_3(void)
{
    __asm__ volatile("push r0\n\tpush r0\n\tpush r0\n\tpop r0\n\tpop r0\n\tpop r0");
}

static void put(uint32_t value) { port_write(&value, sizeof value); }

int main(void)
{
    uint16_t n;
    port_open();
    port_stack_mark();
    put(port_stack_depth());
    dip(500U);
    port_stack_mark();
    push_3();
    put(port_stack_depth());
    port_stack_mark();
    push_3();
    push_3();
    put(port_stack_depth());
    for (n = 0U; n < 700U; n++) {
        port_stack_mark();
        dip(n);
        push_3();
        put(port_stack_depth());
    }
    return port_close(0);
}
"""

FRAME = """
static uint8_t use(const volatile uint8_t *bytes) __attribute__((noinline));
static uint8_t use(const volatile uint8_t *bytes) { return bytes[3]; }
uint8_t framed(void) __attribute__((noinline));
uint8_t framed(void)
{
    volatile uint8_t bytes[300];
    bytes[3] = 1U;
    return use(bytes);
}
int main(void)
{
    uint32_t depth;
    port_open();
    port_stack_mark();
    (void)framed();
    depth = port_stack_depth();
    port_write(&depth, sizeof depth);
    return port_close(0);
}
"""
