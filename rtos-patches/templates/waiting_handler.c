/* For a switch handler that waits in a loop, with or without WFI, until a task is ready.
 *
 * In VCT such a loop would keep out the tasks and, as virtual handlers don't nest, the interrupts
 * that it waits for. Here a task of this file's own runs while nobody else is ready: it waits in
 * USR and asks for the switch again. FILL IN what is marked so, and take out the original handler.
 */
#include <stddef.h>

#include <fvm/guest.h>

struct task {
    uint32_t *sp; /* FILL IN: the control block, with the saved stack pointer where it is */
};
extern struct task *volatile running; /* FILL IN: the RTOS's own, NULL while nobody is ready */
struct task *next_task(void);         /* FILL IN: who should run now; NULL if nobody is ready */

#define IDLE_WORDS 64u
#define FRAME_WORDS 17u /* r4-r11, EXC_RETURN; r0-r3, r12, lr, pc, xPSR */

static uint32_t idle_stack[IDLE_WORDS] __attribute__((aligned(8)));
static struct task idle;
static struct task *loaded; /* whose registers USR_REG holds */

static void run_idle(void)
{
    for (;;) {
        hyp_vct_wait();
        virt_yield();
    }
}

static struct task *idle_task(void)
{
    if (idle.sp == NULL) {
        idle.sp = &idle_stack[IDLE_WORDS - FRAME_WORDS];
        idle.sp[8] = 0xFFFFFFFDu; /* thread mode, PSP, no FPU state */
        idle.sp[15] = (uint32_t)run_idle & ~1u;
        idle.sp[16] = 1u << 24; /* Thumb state */
    }
    return &idle;
}

void PendSV_Handler(void);
void PendSV_Handler(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    if (loaded != NULL) {
        if ((USR_REG->Reg.LR & 0x10) == 0) {
            USR_VSTMDB(sp);
        }
        USR_STMDB(sp, R4, LR);
        loaded->sp = sp;
    }
    running = next_task();
    loaded = running != NULL ? running : idle_task();
    sp = loaded->sp;
    USR_LDMIA(sp, R4, LR);
    if ((USR_REG->Reg.LR & 0x10) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}
