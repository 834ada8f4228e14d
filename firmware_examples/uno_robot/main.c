/* Decides the emitted test vectors and one set of raw readings, and reports over the UART. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>

#include "robot.h"
#include "robot_vectors.h"

#define BAUD 9600UL

/* Distances in meters, as the sensors deliver them; front first, then clockwise. */
static const float ranges[ROBOT_N_FEATURES] PROGMEM = {
    0.438f, 0.498f, 3.625f, 3.645f, 5.0f, 2.918f, 5.0f, 2.351f, 2.332f, 2.643f, 1.698f, 1.687f,
    1.698f, 1.717f, 1.744f, 0.593f, 0.502f, 0.493f, 0.504f, 0.445f, 0.431f, 0.444f, 0.44f, 0.429f
};

static void uart_begin(void)
{
    UBRR0 = (uint16_t)(F_CPU / (16UL * BAUD) - 1UL);
    UCSR0B = _BV(TXEN0);
}

static void put_char(char c)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = (uint8_t)c;
}

/* Text in flash, where the names of classes are too. */
static void put(const char *text)
{
    for (char c = (char)pgm_read_byte(text); c != '\0'; c = (char)pgm_read_byte(text)) {
        put_char(c);
        text++;
    }
}

static void put_number(uint8_t n)
{
    if (n >= 10U) {
        put_number(n / 10U);
    }
    put_char((char)('0' + n % 10U));
}

/* Number of vectors that this machine decides otherwise than Python. */
static uint8_t wrong_vectors(void)
{
    uint16_t k = 0U;
    uint8_t wrong = 0U;

    for (uint8_t n = 0U; n < ROBOT_N_VECTORS; n++) {
        uint8_t x[ROBOT_N_FEATURES];

        for (uint8_t i = 0U; i < ROBOT_N_FEATURES; i++) {
            x[i] = pgm_read_byte(&robot_vector_states[k++]);
        }
        if (robot_predict(x) != (int16_t)pgm_read_byte(&robot_vector_classes[n])) {
            wrong++;
        }
    }
    return wrong;
}

int main(void)
{
    robot_raw_t readings[ROBOT_N_FEATURES];
    uint8_t wrong;

    uart_begin();
    for (uint8_t i = 0U; i < ROBOT_N_FEATURES; i++) {
        readings[i] = pgm_read_float(&ranges[i]);
    }
    put(PSTR("move: "));
    put(robot_class_name((uint8_t)robot_predict_raw(readings)));
    put(PSTR("\r\nvectors: "));
    put_number(ROBOT_N_VECTORS);
    put(PSTR(", wrong: "));
    wrong = wrong_vectors();
    put_number(wrong);
    put((wrong == 0U) ? PSTR("\r\nPASS\r\n") : PSTR("\r\nFAIL\r\n"));

    loop_until_bit_is_set(UCSR0A, UDRE0);
    cli(); /* asleep without interrupts: a simulator takes it as the end */
    sleep_enable();
    for (;;) {
        sleep_cpu();
    }
}
