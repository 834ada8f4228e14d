/* This generated file may be used under any terms; see LICENSE-EXCEPTION of bncc. */
/* Self-test on a board: prints the class of every test vector, then PASS or FAIL. */
#include <stddef.h>

#include <zephyr/sys/printk.h>

#include "gait.h"
#include "gait_vectors.h"

int main(void)
{
    const int wrong = gait_selftest();

    for (unsigned int n = 0U; n < GAIT_N_VECTORS; n++) {
        const int16_t label = gait_predict_raw(&gait_vector_readings[n]);

        printk("vector %u: class %d %s\n", n, label, gait_class_name((uint8_t)label));
    }
    printk("%u vectors, %d wrong: %s\n", GAIT_N_VECTORS, wrong, (wrong == 0) ? "PASS" : "FAIL");
    return 0;
}
