/* Two tasks of an RTOS as the emulated processor finds it: which of them runs, and calls to yield
 * in. Their registers and stacks are the processor's business. */
#include <fvm/guest.h>

struct task {
    uint32_t *sp;
};

struct fvm_state fvm_state;
struct task task[2];
struct task *volatile current;
volatile uint32_t tick_switches;

static void choose(void) { current = current == &task[0] ? &task[1] : &task[0]; }

static void tick(void)
{
    if (tick_switches != 0) {
        virt_yield();
    }
}

#ifdef SHORT_FRAMES
static void pend_sv(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    USR_STMDB(sp, R4, R11);
    current->sp = sp;
    choose();
    sp = current->sp;
    USR_LDMIA(sp, R4, R11);
    USR_REG->Reg.SP = (uint32_t)sp;
}
#endif

#ifdef HANDLER
/* With an FPU a word below r4-r11 says whether S16-S31 are in the frame. */
static int has_fpu(uint32_t exc_return) { return (exc_return & 0x10u) == 0; }

static uint32_t *next(uint32_t *sp, uint32_t exc_return)
{
#ifdef __ARM_FP
    *--sp = has_fpu(exc_return);
#else
    (void)exc_return;
#endif
    current->sp = sp;
    choose();
    return current->sp;
}

static void pend_sv(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    uint32_t fpu = 0;
    if (!virt_in_vct()) {
        return;
    }
    if (has_fpu(USR_REG->Reg.LR)) {
        USR_VSTMDB(sp);
    }
    USR_STMDB(sp, R4, R11);
    sp = next(sp, USR_REG->Reg.LR);
#ifdef __ARM_FP
    fpu = *sp++;
#endif
    USR_LDMIA(sp, R4, R11);
    if (fpu != 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
    USR_REG->Reg.LR = fpu != 0 ? 0xFFFFFFEDu : 0xFFFFFFFDu;
}

VIRT_YIELD_HANDLER(pend_sv);
#endif

void set_up(void)
{
    current = &task[1];
    (void)virt_vct_set(FVM_VIRT_TICK, tick, 0, VIRT_MASKABLE);
#ifndef HANDLER
    virt_yield_task((void *volatile *)&current, choose, NULL);
#endif
#ifdef HANDLER
    (void)virt_vct_set(FVM_VIRT_SWITCH, pend_sv, 0, VIRT_MASKABLE);
#endif
#ifdef SHORT_FRAMES
    (void)virt_vct_set(FVM_VIRT_SWITCH, pend_sv, 0, VIRT_MASKABLE);
    virt_yield_short_frames();
#endif
}

void yields(void) { virt_yield(); }

void yields_in_critical_section(void)
{
    virt_int_mask(VIRT_BASEPRI);
    virt_yield();
    virt_int_unmask(VIRT_BASEPRI);
}

/* Where a task's call returns to, and where tasks are preempted. */
__asm(".thumb\n.global returned, work, work_in_it\n.thumb_func\nreturned: svc 1\n"
      ".thumb_func\nwork: nop\nsvc 2\n"
      ".thumb_func\nit eq\n.thumb_func\nwork_in_it: addeq r0, r0, #1\nsvc 2\n");
