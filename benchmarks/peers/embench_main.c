/* embench_main.c -- runs a task of Embench once, as its main.c does, on a simulated board.
 *
 * Out: what benchmark() returned, and whether verify_benchmark() accepts it; each has four bytes,
 *      least significant first. */
#include "bncc_port.h"

void initialise_benchmark(void);
void warm_caches(int heat);
int benchmark(void);
int verify_benchmark(int result);

static void put(uint32_t value)
{
    unsigned char bytes[4];
    int k;

    for (k = 0; k < 4; k++) {
        bytes[k] = (unsigned char)(value & 0xFFU);
        value >>= 8;
    }
    port_write(bytes, sizeof bytes);
}

int main(void)
{
    int result;

    port_open();
    initialise_benchmark();
    warm_caches(1);
    result = benchmark();
    put((uint32_t)result);
    put((uint32_t)verify_benchmark(result));
    return port_close(0);
}
