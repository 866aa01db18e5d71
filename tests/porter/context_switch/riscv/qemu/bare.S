/* The original's reset: it stays in machine mode. */
    .section .reset, "ax"
    .global _start
_start:
    la      sp, stack_top
    call    main
