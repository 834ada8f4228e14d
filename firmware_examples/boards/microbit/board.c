/* board.c -- micro:bit v1: nRF51822, Cortex-M0 at 16 MHz, UART to the USB chip. */
#include "board.h"

#include "systick.h"

#define UART ((volatile uint32_t *)0x40002000U)
#define GPIO ((volatile uint32_t *)0x50000000U)

/* Registers, as indices of words. */
enum { START_TX = 0x008 / 4, TX_READY = 0x11C / 4, ENABLE = 0x500 / 4, TX_PIN = 0x50C / 4 };
enum { TX_DATA = 0x51C / 4, BAUD_RATE = 0x524 / 4 };
enum { OUT_SET = 0x508 / 4, DIRECTION_SET = 0x518 / 4 };

#define USB_TX 24U
#define BAUD_115200 0x01D7E000U
#define UART_ON 4U

void board_begin(void)
{
    GPIO[OUT_SET] = 1U << USB_TX;
    GPIO[DIRECTION_SET] = 1U << USB_TX;
    UART[TX_PIN] = USB_TX;
    UART[BAUD_RATE] = BAUD_115200;
    UART[ENABLE] = UART_ON;
    UART[START_TX] = 1U;
    systick_begin(2048U, 125U); /* 16.384 ticks of 16 MHz in 1024 ns */
}

void board_put_char(char c)
{
    UART[TX_READY] = 0U;
    UART[TX_DATA] = (uint8_t)c;
    while (UART[TX_READY] == 0U) {
    }
}
