/* For a switch handler of a Cortex-M that can't be transcribed, and the start of the first task.
 *
 * It does what every such handler does: saves what the hardware didn't on the task's stack, keeps
 * where in the control block, lets the RTOS choose, and restores. FILL IN what is marked so, take
 * out the original handler and the first task's start; let the code that builds a new task's frame
 * have r4-r11 and EXC_RETURN (0xFFFFFFFD) below the exception frame.
 */
#include <stddef.h>

#include <fvm/guest.h>

struct task {
    uint32_t *sp; /* FILL IN: the control block, with the saved stack pointer where it is */
};
extern struct task *volatile running; /* FILL IN: the RTOS's own */
void choose_next_task(void);          /* FILL IN: puts the other task into `running` */

static int started;

void PendSV_Handler(void);
void PendSV_Handler(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    if (started) {
        if ((USR_REG->Reg.LR & 0x10) == 0) {
            USR_VSTMDB(sp);
        }
        USR_STMDB(sp, R4, LR);
        running->sp = sp;
        choose_next_task();
    }
    started = 1;
    sp = running->sp;
    USR_LDMIA(sp, R4, LR);
    if ((USR_REG->Reg.LR & 0x10) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}

/* FILL IN: stands for what starts the first task; it doesn't come back. */
void start_first_task(void);
void start_first_task(void)
{
    virt_int_unmask(VIRT_BASEPRI);
    virt_int_unmask(VIRT_PRIMASK);
    virt_vct_trig(FVM_VIRT_SWITCH);
    for (;;) {
        hyp_vct_wait(); /* nobody comes here */
    }
}
