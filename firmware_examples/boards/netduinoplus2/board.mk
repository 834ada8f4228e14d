# Netduino Plus 2 (STM32F405, Cortex-M4), and the STM32F4 Discovery: the same pins. Simulated by
# QEMU, which counts instructions, not cycles. Of the serial ports the second is used.
CROSS := arm-none-eabi-
SIMULATOR := qemu-system-arm
PACKAGES := gcc-arm-none-eabi qemu-system-arm
MACHINE := -mcpu=cortex-m4 -mthumb
TARGET := cortex-m4
BOARD_SOURCES := startup.c cortex_m/reset.c cortex_m/systick.c cortex_m/end.c netduinoplus2/board.c
BOARD_INCLUDES := -I$(EXAMPLES)/boards -I$(EXAMPLES)/boards/cortex_m
LINK := -L $(EXAMPLES)/boards -T $(EXAMPLES)/boards/netduinoplus2/netduinoplus2.ld
SIMULATE = qemu-system-arm -M netduinoplus2 -display none -monitor none -serial null \
    -serial stdio -icount shift=10 -semihosting-config enable=on,target=native -no-reboot -kernel $(1)
CLEAN_TEXT := tr -d '\r'

FLASH_TOOL := openocd
FLASH = openocd -f interface/stlink.cfg -f target/stm32f4x.cfg -c "program $(1) verify reset exit"
