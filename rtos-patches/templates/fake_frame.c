/* For an RTOS whose interrupts push an exception frame of their own making, so that the return from
 * the interrupt goes to the code that switches, as if the task had called it; PendSV or SVC only
 * drops that frame.
 *
 * A guest's interrupt asks for the switch, and vector 0 makes it when the interrupts are done: no
 * frame has to be faked. FILL IN what is marked so; take out the original handler, and the epilogue
 * that pushes the frame.
 */
#include <stddef.h>

#include <fvm/guest.h>

struct task {
    uint32_t *sp; /* FILL IN: the control block, with the saved stack pointer where it is */
};
extern struct task *volatile running; /* FILL IN: the RTOS's own */
int is_switch_required(void);         /* FILL IN: asked at the end of each interrupt */
void choose_next_task(void);          /* FILL IN: puts the other task into `running` */

/* FILL IN: stands for the interrupts' epilogue. */
void after_interrupt(void);
void after_interrupt(void)
{
    if (is_switch_required()) {
        virt_vct_trig(FVM_VIRT_SWITCH);
    }
}

/* FILL IN: stands for the switch that a task itself calls for: its frame is then like all others.
 */
void switch_to(struct task *next);
void switch_to(struct task *next)
{
    (void)next; /* choose_next_task() finds it again */
    virt_yield();
}

void PendSV_Handler(void);
void PendSV_Handler(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    if (running != NULL) {
        if ((USR_REG->Reg.LR & 0x10) == 0) {
            USR_VSTMDB(sp);
        }
        USR_STMDB(sp, R4, LR);
        running->sp = sp;
    }
    choose_next_task();
    sp = running->sp;
    USR_LDMIA(sp, R4, LR);
    if ((USR_REG->Reg.LR & 0x10) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}
