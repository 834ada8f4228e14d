# Arduino Uno: ATmega328P at 16 MHz. Simulated by simavr, whose cycles are the chip's.
CROSS := avr-
SIMULATOR := simavr
PACKAGES := gcc-avr avr-libc simavr
MACHINE := -mmcu=atmega328p -DF_CPU=16000000UL
TARGET := avr
BOARD_SOURCES := uno/startup.S uno/board.c
LINK := -T $(EXAMPLES)/boards/uno/uno.ld -Wl,--relax
SIMULATE = simavr -m atmega328p -f 16000000 $(1)
# simavr colors the lines of the serial port and turns their ends into dots.
ESCAPE := $(shell printf '\033')
CLEAN_TEXT = sed -e 's/$(ESCAPE)\[[0-9]*m//g' -e 's/\.\.$$//' -e '/^Loaded /d'

PORT ?= /dev/ttyACM0
FLASH_TOOL := avrdude
FLASH = avrdude -p atmega328p -c arduino -b 115200 -D -P $(PORT) -U flash:w:$(1):i
