/* What stands in for a hypervisor in this test, and what it is asked for: number in t1. */
#define ASK_TRIGGER 1 /* a0: the virtual vector */
#define ASK_CALL 2    /* t0: what VCT runs; a0 to a6 are for it */
#define ASK_UNMASKED 3
#define ASK_TICK 4
#define ASK_RETURN 5 /* from VCT */
#define USR 32       /* of USR_REG in fvm_state */
