/* The kernel's part and the guest library's, as far as this test needs them: <fvm/guest.h> and
 * <fvm/trap_csr.h> say what they have to do. Nothing is protected here. */
#include <fvm/guest.h>

#include "machine.h"

#define TIMER 0x80000007u
#define USER_CALL 8u
#define STATUS_MIE 8u
#define STATUS_MPIE 0x80u
#define STATUS_MPP 0x1800u
#define TICK_COUNTS 10000u

_Noreturn void ends(unsigned failed);
uintptr_t trapped(uint32_t cause);
uintptr_t returned(uint32_t cause, uint32_t asked);

_Static_assert(offsetof(struct fvm_state, usr_reg) == USR, "machine.S counts on it");

struct fvm_state fvm_state;
volatile uint32_t virt_mscratch;
uint32_t in_vct; /* VCT runs */
static uintptr_t handler;
static uint32_t cause_of_vct;
static volatile uint64_t *const compare = (volatile uint64_t *)0x2004000;

uint32_t virt_cause(void) { return cause_of_vct; }

uint32_t virt_mstatus(void)
{
    return STATUS_MPP | (virt_int_query(VIRT_PRIMASK) != 0 ? 0 : STATUS_MIE);
}

void virt_trap_set(uintptr_t mtvec) { handler = mtvec; }

uintptr_t virt_trap_get(void) { return handler; }

static uintptr_t enter(uintptr_t what, uint32_t cause)
{
    in_vct = 1;
    fvm_state.vct_act = 1;
    cause_of_vct = cause;
    __asm volatile("csrc mie, %0" : : "r"(0x80));
    return what;
}

/* The most urgent vector that is pending, or back to USR: masked, where MPIE is 0. */
static uintptr_t next(void)
{
    static const uint32_t causes[] = {[FVM_VIRT_SVC] = 11, [FVM_VIRT_TICK] = TIMER};
    for (uint32_t vector = FVM_VIRT_SVC; vector >= FVM_VIRT_TICK; vector--) {
        if (fvm_state.pending[vector] != 0) {
            fvm_state.pending[vector] = 0;
            return enter(handler, causes[vector]);
        }
    }
    in_vct = 0;
    fvm_state.vct_act = 0;
    fvm_state.int_pend.any = 0;
    fvm_state.int_mask.byte.pri = (USR_REG->Reg.MSTATUS & STATUS_MPIE) == 0;
    __asm volatile("csrs mie, %0" : : "r"(0x80));
    return 0;
}

uintptr_t trapped(uint32_t cause)
{
    uint32_t asked = cause == USER_CALL ? USR_REG->Reg.X6 : 0;
    if (cause == USER_CALL) {
        USR_REG->Reg.PC += 4;
    }
    if (cause == TIMER) {
        *compare += TICK_COUNTS;
        fvm_state.pending[FVM_VIRT_TICK] = 1;
    } else if (asked == ASK_TRIGGER) {
        fvm_state.pending[USR_REG->Reg.X10] = 1;
    } else if (asked == ASK_TICK) {
        *compare = *(volatile uint64_t *)0x200BFF8 + TICK_COUNTS;
        __asm volatile("csrs mie, %0" : : "r"(0x80));
    } else if (asked == ASK_CALL) {
        USR_REG->Reg.MSTATUS = virt_mstatus();
        return enter(USR_REG->Reg.X5, 11);
    } else if (asked != ASK_UNMASKED) {
        ends(3);
    }
    if (virt_int_query(VIRT_PRIMASK) != 0) {
        fvm_state.int_pend.byte.vector = 1;
        return 0;
    }
    USR_REG->Reg.MSTATUS = STATUS_MPP | STATUS_MPIE;
    return next();
}

uintptr_t returned(uint32_t cause, uint32_t asked)
{
    if (cause != USER_CALL || asked != ASK_RETURN) {
        ends(4);
    }
    return next();
}
