/* embench_task.c -- Embench's task `xgboost` with a classifier of bncc.
 *
 * The task's images and labels are in xgboost.c next to its trees: it is included under another name
 * for its predict(), which the linker then drops. */
#include "digits.h"

#define predict trees_predict
#include "xgboost.c"
#undef predict

uint8_t predict(const uint8_t *x)
{
    return (uint8_t)digits_predict_raw(x);
}
