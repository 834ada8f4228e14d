/* widths.h -- tables that are read in several widths: one set of parameters, bounded for each. */
#ifndef BNCC_WIDTHS_H
#define BNCC_WIDTHS_H

#include "descent.h"

/* Rows as each width has them: no cost is further above the least of its row than its bits go.
 * Nothing to do where there are no widths. */
static void narrow(const structure_engine_t *e, size_t at, size_t n, const size_t n_lanes)
{
    size_t row;
    size_t c;
    uint32_t w;

    if (e->n_widths == 0U) {
        return;
    }
    for (row = at; row < at + n; row++) {
        const float *restrict theta = &e->tables.theta[row * n_lanes];
        float top = theta[0];

        for (c = 1U; c < e->objective.n_classes; c++) {
            top = (theta[c] > top) ? theta[c] : top;
        }
        for (w = 0U; w < e->n_widths; w++) {
            float *restrict read = &e->read[((size_t)w * e->n_rows + row) * n_lanes];
            const float least = top - e->span[w];

            for (c = 0U; c < n_lanes; c++) {
                read[c] = (theta[c] > least) ? theta[c] : least;
            }
        }
    }
}

#endif
