/* simavr_calls.c -- a library that calls a function of a program on a simulated AVR.
 *
 * Each instruction is checked before it is executed: what it reads and writes must be the input,
 * the output, the function's own stack or bytes of the program. */
#include <stdint.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>

enum place { INPUT = 0x1000, OUTPUT = 0x2000, STACK_LOW = 0x3000, STACK_TOP = 0x4000 };
enum what { NOTHING, DATA_READ, DATA_WRITE, FLASH_READ, FETCH, ILLEGAL, CALLER, UNRESTORED };
enum { BACK = 0x1FFFC, JUNK = 0xA5, N_REGISTERS = 32, SIZE_MAX_BUFFER = 0x1000 };

struct range {
    uint32_t start, end; /* of flash, in bytes; the end is not included */
};

struct call {
    uint32_t entry; /* in bytes */
    uint32_t n_input, n_output, n_ranges, most;
    const struct range *ranges; /* code and constants */
    const uint8_t *input;
    uint8_t *output;
    int32_t outcome;
    uint32_t instructions, stack, what, address, at, has_ended;
};

void *bncc_calls_new(const char *mcu)
{
    avr_t *avr = avr_make_mcu_by_name(mcu);

    if (avr != NULL) {
        avr_init(avr);
        avr->log = 0;
    }
    return avr;
}

uint32_t bncc_calls_flash(avr_t *avr, uint32_t at, const uint8_t *bytes, uint32_t n)
{
    if (at > avr->flashend || n > avr->flashend + 1U - at) {
        return 0U;
    }
    memcpy(avr->flash + at, bytes, n);
    return 1U;
}

static uint32_t word_of(const avr_t *avr, uint32_t at)
{
    return avr->flash[at] | ((uint32_t)avr->flash[at + 1U] << 8);
}

static uint32_t pair_of(const avr_t *avr, unsigned low)
{
    return avr->data[low] | ((uint32_t)avr->data[low + 1U] << 8);
}

static int is_code(const struct call *call, uint32_t start, uint32_t n)
{
    for (uint32_t k = 0U; k < call->n_ranges; k++) {
        if (start >= call->ranges[k].start && start + n <= call->ranges[k].end) {
            return 1;
        }
    }
    return 0;
}

static void access_data(struct call *call, uint32_t address, int is_write)
{
    int is_input = address >= INPUT && address < INPUT + call->n_input;
    int is_output = address >= OUTPUT && address < OUTPUT + call->n_output;
    int is_stack = address >= STACK_LOW && address < STACK_TOP;

    if (address >= STACK_TOP && address < STACK_TOP + 0x100U) {
        call->what = CALLER;
    } else if (!(is_output || is_stack || (is_input && !is_write))) {
        call->what = is_write ? DATA_WRITE : DATA_READ;
    } else if (is_write && is_stack && STACK_TOP - address > call->stack) {
        call->stack = STACK_TOP - address;
    }
    call->address = address;
}

static void access_stack(struct call *call, uint32_t lowest, uint32_t n, int is_write)
{
    for (uint32_t k = 0U; k < n && call->what == NOTHING; k++) {
        access_data(call, lowest + k, is_write);
    }
}

static void access_flash(struct call *call, uint32_t address)
{
    if (!is_code(call, address, 1U)) {
        call->what = FLASH_READ;
        call->address = address;
    }
}

/* Instructions of the group 1001 00sd dddd mmmm; s is 1 for stores. */
static void check_transfer(struct call *call, const avr_t *avr, uint32_t word, uint32_t sp)
{
    static const uint8_t low[16] = {0, 30, 30, 0, 30, 30, 0, 0, 0, 28, 28, 0, 26, 26, 26, 0};
    unsigned mode = word & 15U;
    int is_store = (word & 0x0200U) != 0U;

    if (mode == 0U) {
        access_data(call, word_of(avr, avr->pc + 2U), is_store);
    } else if (mode == 15U) {
        access_stack(call, is_store ? sp : sp + 1U, 1U, is_store);
    } else if ((mode == 4U || mode == 5U) && !is_store) {
        access_flash(call, pair_of(avr, 30U));
    } else if (low[mode] == 0U || ((mode == 4U || mode == 5U) && is_store)) {
        call->what = ILLEGAL;
    } else {
        int is_before = mode == 2U || mode == 10U || mode == 14U;
        access_data(call, (pair_of(avr, low[mode]) - (uint32_t)is_before) & 0xFFFFU, is_store);
    }
}

static void check(struct call *call, const avr_t *avr)
{
    uint32_t word, sp = pair_of(avr, R_SPL);
    unsigned port;

    if ((avr->pc & 1U) != 0U || !is_code(call, avr->pc, 2U)) {
        call->what = FETCH;
        call->address = avr->pc;
        return;
    }
    word = word_of(avr, avr->pc);
    port = (word & 15U) | ((word >> 5) & 0x30U);
    if ((word & 0xD000U) == 0x8000U) { /* ldd, std */
        uint32_t q = ((word >> 8) & 0x20U) | ((word >> 7) & 0x18U) | (word & 7U);
        unsigned low = ((word & 8U) != 0U) ? 28U : 30U;
        access_data(call, (pair_of(avr, low) + q) & 0xFFFFU, (word & 0x0200U) != 0U);
    } else if ((word & 0xFC00U) == 0x9000U) {
        check_transfer(call, avr, word, sp);
    } else if ((word & 0xFE0EU) == 0x940EU || (word & 0xF000U) == 0xD000U || word == 0x9509U) {
        access_stack(call, sp - 1U, 2U, 1); /* calls */
    } else if (word == 0x9508U) { /* ret; the caller's address is read at the end */
        if (sp != STACK_TOP - 1U) {
            access_stack(call, sp + 1U, 2U, 0);
        }
    } else if (word == 0x95C8U) { /* lpm */
        access_flash(call, pair_of(avr, 30U));
    } else if ((word & 0xF000U) == 0xB000U) { /* in, out */
        call->what = (port < 0x3DU) ? ILLEGAL : NOTHING;
    } else if ((word & 0xFC00U) == 0x9800U || word == 0x9518U || word == 0x9588U ||
               word == 0x9598U || word == 0x95A8U || word == 0x95D8U || word == 0x95E8U ||
               word == 0x95F8U || word == 0x9419U || word == 0x9519U) {
        call->what = ILLEGAL; /* ports, reti, sleep, break, wdr, elpm, spm, eijmp, eicall */
    }
}

static void prepare(avr_t *avr, const struct call *call)
{
    for (unsigned k = 0U; k < N_REGISTERS; k++) {
        avr->data[k] = (uint8_t)(JUNK + 7U * k);
    }
    memset(avr->data + INPUT - 0x100, JUNK, STACK_TOP + 0x200U - INPUT);
    memcpy(avr->data + INPUT, call->input, call->n_input);
    memcpy(avr->data + OUTPUT, call->output, call->n_output);
    avr->data[1] = 0U;
    avr->data[22] = OUTPUT & 0xFF;
    avr->data[23] = OUTPUT >> 8;
    avr->data[24] = INPUT & 0xFF;
    avr->data[25] = INPUT >> 8;
    avr->data[R_SPL] = (STACK_TOP - 1) & 0xFF;
    avr->data[R_SPH] = (STACK_TOP - 1) >> 8;
    avr->data[STACK_TOP] = (BACK >> 9) & 0xFF;
    avr->data[STACK_TOP + 1] = (BACK >> 1) & 0xFF;
    memset(avr->sreg, 0, sizeof avr->sreg);
    avr->sreg[S_C] = avr->sreg[S_T] = 1U;
    avr->pc = call->entry;
    avr->state = cpu_Running;
}

/* simavr 1.6 takes an adiw or sbiw of 12 to 15, modulo 16, for an instruction of two words, and
 * what skips it skips a word too many. */
static void mend_skip(avr_t *avr, uint32_t from)
{
    uint32_t first = word_of(avr, from), second = word_of(avr, from + 2U);
    int is_skip = (first & 0xFC00U) == 0x1000U || (first & 0xFC00U) == 0xFC00U;

    if (avr->pc == from + 6U && is_skip && (second & 0xFE0CU) == 0x960CU) {
        avr->pc -= 2U;
    }
}

static void verify_registers(const avr_t *avr, struct call *call)
{
    for (unsigned k = 1U; k < 30U; k++) {
        uint8_t before = (k == 1U) ? 0U : (uint8_t)(JUNK + 7U * k);
        int is_kept = k < 18U || k >= 28U;

        if (is_kept && avr->data[k] != before) {
            call->what = UNRESTORED;
            call->address = k;
            return;
        }
    }
    if (pair_of(avr, R_SPL) != STACK_TOP + 1U || avr->sreg[S_I] != 0U) {
        call->what = UNRESTORED;
        call->address = (avr->sreg[S_I] != 0U) ? 33U : 32U;
    }
}

void bncc_calls_call(avr_t *avr, struct call *call)
{
    call->what = NOTHING;
    call->instructions = call->stack = call->has_ended = 0U;
    if (call->n_input > SIZE_MAX_BUFFER || call->n_output > SIZE_MAX_BUFFER) {
        call->what = ILLEGAL;
        return;
    }
    prepare(avr, call);
    while (avr->pc != BACK && call->instructions < call->most && call->what == NOTHING) {
        uint32_t from = avr->pc;

        call->at = from;
        check(call, avr);
        if (call->what == NOTHING) {
            avr->pc = avr_run_one(avr);
            mend_skip(avr, from);
            call->instructions++;
            if (avr->state != cpu_Running) {
                call->what = ILLEGAL;
            }
        }
    }
    call->has_ended = (avr->pc == BACK && call->what == NOTHING) ? 1U : 0U;
    if (call->has_ended != 0U) {
        verify_registers(avr, call);
    }
    call->outcome = (int16_t)pair_of(avr, 24U);
    memcpy(call->output, avr->data + OUTPUT, call->n_output);
}
