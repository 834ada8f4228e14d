/* simavr_runner.c -- runs a program on a simulated AVR and answers its doorbell.
 *
 *     simavr_runner --version
 *     simavr_runner MCU PROGRAM.elf REQUEST CYCLE_LIMIT
 *
 * REQUEST is the address of bncc_request in data space, in hexadecimal; port_doorbell.h lists the
 * program's requests. Its input is standard input, its output standard output. The runner ends
 * with the program's status, 0 to 99, or with a reason below and a sentence on standard error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_core_config.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

enum reason { CANNOT_START = 100, CRASHED, ENDED, BAD_REQUEST, TOO_LONG };
enum { STATUS_MAX = 99, DOORBELL = 0x3E /* GPIOR0 */, LOW_HALF = 1, HIGH_HALF = 2 };

struct run {
    FILE *output;
    uint32_t request; /* where bncc_request lies */
    uint16_t mark;    /* stack pointer at 'k' */
    uint16_t deepest; /* lowest stack pointer since */
    unsigned halves;  /* which halves of the stack pointer are new */
    int status;       /* of the program, negative while it has not quit */
};

static __attribute__((noreturn)) void refuse(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(CANNOT_START);
}

static __attribute__((noreturn)) void stop(const avr_t *avr, enum reason reason, const char *what)
{
    fprintf(stderr, "the program %s after %llu cycles, at 0x%04lx\n", what,
            (unsigned long long)avr->cycle, (unsigned long)avr->pc);
    exit((int)reason);
}

/* simavr continues after an illegal instruction, and past the end of the RAM it writes into its
 * own memory, but it logs a message before it does either. */
static void on_log(avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)level;
    (void)arguments;
    if (avr != NULL && avr->pc > avr->flashend) {
        stop(avr, CRASHED, "left its flash memory");
    }
    if (avr != NULL && strstr(format, "CORE: ***") != NULL) {
        stop(avr, CRASHED, (strstr(format, "Opcode") != NULL) ? "ran an illegal instruction"
                                                              : "accessed memory beyond its RAM");
    }
}

static uint16_t stack_pointer(const avr_t *avr)
{
    return (uint16_t)(avr->data[R_SPL] | (avr->data[R_SPH] << 8));
}

/* Between the writes of its two halves the stack pointer points nowhere. An instruction such as
 * push writes both, and so does the compiler when it makes room for a frame, one after the other. */
static void on_stack_pointer(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param)
{
    struct run *run = param;

    avr->data[address] = value;
    run->halves |= (address == R_SPL) ? LOW_HALF : HIGH_HALF;
    if (run->halves == (LOW_HALF | HIGH_HALF)) {
        run->halves = 0U;
        if (stack_pointer(avr) < run->deepest) {
            run->deepest = stack_pointer(avr);
        }
    }
}

static uint32_t get(const uint8_t *b)
{
    return b[0] | ((uint32_t)b[1] << 8) | ((uint32_t)b[2] << 16) | ((uint32_t)b[3] << 24);
}

static int lies_in_ram(const avr_t *avr, uint64_t address, uint64_t size)
{
    return address > avr->ioend && address + size <= (uint64_t)avr->ramend + 1U;
}

/* simavr calls this in the course of the instruction that stores to the doorbell, before it counts
 * that instruction: avr->cycle is the end of the one before, whichever instruction stores. */
static void on_doorbell(avr_t *avr, avr_io_addr_t doorbell, uint8_t operation, void *param)
{
    struct run *run = param;
    uint8_t *request = avr->data + run->request;
    uint32_t address = get(request);
    uint32_t size = get(request + 4U);
    uint32_t result = 0U;

    avr->data[doorbell] = operation;
    if ((operation == 'r' || operation == 'w') && !lies_in_ram(avr, address, size)) {
        stop(avr, BAD_REQUEST, "asked to transfer bytes outside its RAM");
    }
    switch (operation) {
    case 'r':
        result = (uint32_t)fread(avr->data + address, 1U, size, stdin);
        break;
    case 'w':
        (void)fwrite(avr->data + address, 1U, size, run->output);
        break;
    case 't':
        result = (uint32_t)avr->cycle;
        break;
    case 'k':
        run->mark = run->deepest = stack_pointer(avr);
        break;
    case 'd':
        result = (uint32_t)(run->mark - run->deepest);
        break;
    case 'q':
        run->status = (size <= STATUS_MAX) ? (int)size : STATUS_MAX;
        avr->state = cpu_Done;
        break;
    default:
        stop(avr, BAD_REQUEST, "asked for something unknown");
    }
    for (int k = 0; k < 4; k++) {
        request[8 + k] = (uint8_t)(result >> (8 * k));
    }
}

/* simavr 1.6 takes an adiw or sbiw of 12 to 15, modulo 16, for an instruction of two words, and
 * what skips it skips a word too many, in a cycle too many. */
static void mend_skip(avr_t *avr, avr_flashaddr_t from)
{
    uint32_t words = get(avr->flash + from);
    int is_cpse = (words & 0xFC00U) == 0x1000U;
    int is_sbrc_or_sbrs = (words & 0xFC00U) == 0xFC00U;
    int is_sbic_or_sbis = (words & 0xFD00U) == 0x9900U;

    if ((is_cpse || is_sbrc_or_sbrs || is_sbic_or_sbis) && (words & 0xFE0C0000U) == 0x960C0000U) {
        avr->pc -= 2U;
        avr->cycle -= 1U;
    }
}

static int follow(avr_t *avr, const struct run *run, unsigned long long cycle_limit)
{
    avr_flashaddr_t from = avr->pc;

    for (; avr_run(avr) == cpu_Running; from = avr->pc) { /* one instruction */
        if (avr->pc == from + 6U) {
            mend_skip(avr, from);
        }
        if (avr->pc == from && !avr->sreg[S_I]) { /* the end of exit() and of abort() */
            stop(avr, ENDED, "jumps to itself forever");
        }
        if (avr->cycle >= cycle_limit) {
            stop(avr, TOO_LONG, "had not ended");
        }
    }
    if (run->status < 0) {
        stop(avr, ENDED, (avr->state == cpu_Crashed) ? "crashed" : "fell asleep");
    }
    return run->status;
}

int main(int argc, char **argv)
{
    static struct run run = {.status = -1};
    static elf_firmware_t firmware;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        return (puts(CONFIG_SIMAVR_VERSION) >= 0) ? 0 : CANNOT_START;
    }
    if (argc != 5) {
        refuse("usage: simavr_runner MCU PROGRAM.elf REQUEST CYCLE_LIMIT");
    }
    run.output = fdopen(dup(STDOUT_FILENO), "wb");
    if (run.output == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) { /* simavr may print */
        refuse("standard output is closed");
    }
    avr_global_logger_set(on_log);
    avr_t *avr = avr_make_mcu_by_name(argv[1]);
    if (avr == NULL || elf_read_firmware(argv[2], &firmware) != 0) {
        refuse((avr == NULL) ? "simavr does not know the processor" : "the file cannot be read");
    }
    (void)avr_init(avr);
    avr_load_firmware(avr, &firmware);
    run.request = (uint32_t)strtoul(argv[3], NULL, 16);
    if (!lies_in_ram(avr, run.request, 12U)) {
        refuse("the request lies outside the RAM");
    }
    avr_register_io_write(avr, DOORBELL, on_doorbell, &run);
    avr_register_io_write(avr, R_SPL, on_stack_pointer, &run);
    avr_register_io_write(avr, R_SPH, on_stack_pointer, &run);
    return follow(avr, &run, strtoull(argv[4], NULL, 10));
}
