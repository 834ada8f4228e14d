/* board.c -- Netduino Plus 2 or STM32F4 Discovery: STM32F4, Cortex-M4, on its internal clock of
 * 16 MHz; USART2, transmitting on pin PA2. */
#include "board.h"

#include "systick.h"

#define CLOCKS ((volatile uint32_t *)0x40023800U)
#define GPIO_A ((volatile uint32_t *)0x40020000U)
#define USART2 ((volatile uint32_t *)0x40004400U)

/* Registers, as indices of words. */
enum { AHB1_ENABLE = 0x30 / 4, APB1_ENABLE = 0x40 / 4 };
enum { MODE = 0x00 / 4, FUNCTION_LOW = 0x20 / 4 };
enum { STATUS = 0x00 / 4, DATA = 0x04 / 4, BAUD_RATE = 0x08 / 4, CONTROL_1 = 0x0C / 4 };

#define CLOCK_HZ 16000000U
#define BAUD 115200U
#define TX_EMPTY (1U << 7)

void board_begin(void)
{
    CLOCKS[AHB1_ENABLE] |= 1U << 0;   /* port A */
    CLOCKS[APB1_ENABLE] |= 1U << 17;  /* USART2 */
    GPIO_A[FUNCTION_LOW] |= 7U << 8;  /* PA2: function 7, USART2 */
    GPIO_A[MODE] |= 2U << 4;
    USART2[BAUD_RATE] = (CLOCK_HZ + BAUD / 2U) / BAUD;
    USART2[CONTROL_1] = (1U << 13) | (1U << 3); /* on, transmitting */
    systick_begin(21504U, 125U); /* 172.032 ticks of QEMU's 168 MHz in 1024 ns */
}

void board_put_char(char c)
{
    while ((USART2[STATUS] & TX_EMPTY) == 0U) {
    }
    USART2[DATA] = (uint8_t)c;
}
