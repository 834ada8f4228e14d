# micro:bit v1: Cortex-M0 at 16 MHz. Simulated by QEMU, which counts instructions, not cycles.
CROSS := arm-none-eabi-
SIMULATOR := qemu-system-arm
PACKAGES := gcc-arm-none-eabi qemu-system-arm
MACHINE := -mcpu=cortex-m0 -mthumb
TARGET := cortex-m0
BOARD_SOURCES := startup.c cortex_m/reset.c cortex_m/systick.c cortex_m/end.c microbit/board.c
BOARD_INCLUDES := -I$(EXAMPLES)/boards -I$(EXAMPLES)/boards/cortex_m
LINK := -L $(EXAMPLES)/boards -T $(EXAMPLES)/boards/microbit/microbit.ld
SIMULATE = qemu-system-arm -M microbit -display none -monitor none -serial stdio \
    -icount shift=10 -semihosting-config enable=on,target=native -no-reboot -kernel $(1)
CLEAN_TEXT := tr -d '\r'

FLASH_TOOL := openocd
FLASH = openocd -f interface/cmsis-dap.cfg -f target/nrf51.cfg -c "program $(1) verify reset exit"
