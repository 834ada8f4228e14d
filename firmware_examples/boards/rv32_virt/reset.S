/* reset.S -- how the RISC-V processor starts, and where it goes after a trap. */
    .section .reset, "ax", @progbits
    .global reset
reset:
    la   sp, stack_top
    la   t0, trap_entry
    csrw mtvec, t0
    j    startup

    .balign 4
trap_entry:
    j    trap
