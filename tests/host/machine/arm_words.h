/* Included before every source of the architecture folder: the few Arm instructions that they hold
 * as inline assembler, as assembler macros that do the same to the variables of processor.c. */
__asm(".macro mrs to, special\n\tmovl host_\\special, \\to\n.endm\n"
      ".macro msr special, from\n\tmovl \\from, host_\\special\n.endm\n"
      ".macro dsb\n.endm\n"
      ".macro isb\n.endm\n");
