/* blobs.c -- opens blobs and decides with those that are accepted, around bncc_runtime.c.
 *
 * In:  requests of  size of a blob, number of its readings, number of rows, number of slots
 *                                                (4 bytes each, least significant first)
 *                   a blob, or one in each of two slots
 *                   the rows                     (readings of 4 bytes, least significant first)
 * Out: for each request an int16_t of bncc_open or bncc_open_newer (2 bytes, least significant
 *      first) and, where it is no error, one of each row.
 * On the host a blob and a row are in objects of exactly their sizes, so that sanitizers detect an
 * access on either side of them. */
#include "bncc_runtime.h"
#include "bncc_port.h"

#ifdef BLOBS_ON_HEAP
#include <stdlib.h>
#else
static uint8_t blob_at[2][BLOBS_MOST_BYTES / 2U];
static bncc_reading_t row_at[BNCC_MAX_FEATURES];
#endif

static int get(uint32_t *number)
{
    uint8_t bytes[4];

    if (!port_read(bytes, sizeof bytes)) {
        return 0;
    }
    *number = (uint32_t)bytes[0] | ((uint32_t)bytes[1] << 8) | ((uint32_t)bytes[2] << 16)
              | ((uint32_t)bytes[3] << 24);
    return 1;
}

static void put(int16_t number)
{
    const uint8_t bytes[2] = {(uint8_t)((uint16_t)number & 0xFFU), (uint8_t)((uint16_t)number >> 8)};

    port_write(bytes, sizeof bytes);
}

/* Returns 1, or 0 where the input ends. */
static int answer(
    uint8_t *blob, uint8_t *other, bncc_reading_t *x, uint32_t size, uint32_t n, uint32_t n_rows)
{
    bncc_model_t m;
    int16_t opened;
    uint32_t i;
    uint32_t word;

    if ((size > 0U) && !port_read(blob, (size_t)size)) {
        return 0;
    }
    if ((other != 0) && !port_read(other, (size_t)size)) {
        return 0;
    }
    opened = (other != 0) ? bncc_open_newer(&m, blob, other, size) : bncc_open(&m, blob, size);
    put(opened);
    for (; n_rows > 0U; n_rows--) {
        for (i = 0U; i < n; i++) {
            if (!get(&word)) {
                return 0;
            }
            x[i] = (bncc_reading_t)(int32_t)word;
        }
        if (opened >= 0) {
            put(bncc_predict_raw(&m, x));
        }
    }
    return 1;
}

int main(void)
{
    uint32_t size;
    uint32_t n;
    uint32_t n_rows;
    uint32_t n_slots;
    int is_whole = 1;

    port_open();
    while ((is_whole != 0) && get(&size) && get(&n) && get(&n_rows) && get(&n_slots)) {
#ifdef BLOBS_ON_HEAP
        uint8_t *blob = malloc((size_t)size);
        uint8_t *other = (n_slots == 2U) ? malloc((size_t)size) : 0;
        bncc_reading_t *x = malloc((size_t)n * sizeof *x);

        is_whole = answer(blob, other, x, size, n, n_rows);
        free(x);
        free(other);
        free(blob);
#else
        if ((size > (BLOBS_MOST_BYTES / 2U)) || (n > BNCC_MAX_FEATURES)) {
            return port_close(1);
        }
        is_whole = answer(
            blob_at[0], (n_slots == 2U) ? blob_at[1] : 0, row_at, size, n, n_rows);
#endif
    }
    return port_close((is_whole != 0) ? 0 : 1);
}
