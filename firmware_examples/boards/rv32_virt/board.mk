# QEMU's virtual RISC-V board, which exists nowhere else. Executed instructions are counted.
CROSS := riscv64-unknown-elf-
SIMULATOR := qemu-system-riscv32
PACKAGES := gcc-riscv64-unknown-elf qemu-system-misc
MACHINE := -march=rv32imc_zicsr -mabi=ilp32 -mcmodel=medany
TARGET := rv32
BOARD_SOURCES := startup.c rv32_virt/reset.S rv32_virt/board.c
BOARD_INCLUDES := -I$(EXAMPLES)/boards
LINK := -L $(EXAMPLES)/boards -T $(EXAMPLES)/boards/rv32_virt/rv32_virt.ld
SIMULATE = qemu-system-riscv32 -M virt -bios none -display none -monitor none -serial stdio \
    -icount shift=0 -kernel $(1)
CLEAN_TEXT := tr -d '\r'
