/* For an RTOS whose exceptions all enter at one place, which saves every register, calls C with the
 * number of the exception and resumes the registers that C returns.
 *
 * VCT calls one function a vector instead. Each saves what the hardware didn't, on the task's
 * stack, and resumes what the dispatcher returns. FILL IN what is marked so: above all, the order
 * of the saved registers is here r4-r11, EXC_RETURN, above them S16-S31 where bit 4 of EXC_RETURN
 * is 0, above those the exception frame; let the RTOS's own offsets say the same.
 */
#include <fvm/guest.h>

uint32_t *dispatch(int exception, uint32_t *registers); /* FILL IN: the RTOS's own */

enum { SVCALL = 11, PENDSV = 14, SYSTICK = 15 }; /* FILL IN: and 16 + n for interrupt n */

static void enter(int exception)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    if ((USR_REG->Reg.LR & 0x10) == 0) {
        USR_VSTMDB(sp);
    }
    USR_STMDB(sp, R4, LR);
    sp = dispatch(exception, sp);
    USR_LDMIA(sp, R4, LR);
    if ((USR_REG->Reg.LR & 0x10) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}

static void on_switch(void) { enter(PENDSV); }

static void on_tick(void) { enter(SYSTICK); }

static void on_supervisor_call(void) { enter(SVCALL); }

/* FILL IN: to be called where the original set its vector table. */
void set_vectors(void);
void set_vectors(void)
{
    virt_vct_set(FVM_VIRT_SWITCH, on_switch, 0, 0);
    virt_vct_set(FVM_VIRT_TICK, on_tick, 0, 0);
    virt_vct_set(FVM_VIRT_SVC, on_supervisor_call, 0, VIRT_TRANSPARENT);
}
