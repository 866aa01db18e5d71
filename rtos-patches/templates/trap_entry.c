/* For a trap entry of RV32 that can't be transcribed: it saves registers of one vendor's cores,
 * asks or sets devices that a guest hasn't, or waits in a loop, with or without WFI, until a task
 * is ready.
 *
 * One function serves all vectors, as mtvec's does. It saves the task's registers on the task's
 * stack, lets C do what the cause asks for, and resumes the task that is then to run; while nobody
 * is ready that is one of this file's own, which waits in USR. FILL IN what is marked so, take out
 * the original handler and what sets the timer; let the RTOS's own offsets, also where it builds a
 * new task's frame, say the same as those here.
 */
#include <stddef.h>

#include <fvm/guest.h>

enum { TICK = 0x80000007u, CALL = 11 }; /* of virt_cause(); 0x8000000B is any other interrupt */

enum { AT_PC = 0, AT_X1 = 1, AT_X2 = 2, AT_STATUS = 32, AT_FLOATS = 33, FRAME_WORDS = 66 };

struct task {
    uint32_t *sp; /* FILL IN: the control block, with the saved stack pointer where it is */
};
void serve(uint32_t cause);   /* FILL IN: the RTOS's tick, its interrupts, what a call asks for */
struct task *next_task(void); /* FILL IN: who should run now; NULL if nobody is ready */

#define IDLE_WORDS 128u
#define STATUS_MPIE 0x80u /* the task runs unmasked */

static uint32_t idle_stack[IDLE_WORDS] __attribute__((aligned(16)));
static struct task idle;
static struct task *loaded; /* whose registers USR_REG holds; NULL before the first task */

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
        idle.sp[AT_PC] = (uint32_t)run_idle;
        idle.sp[AT_X2] = (uint32_t)&idle_stack[IDLE_WORDS];
        idle.sp[AT_STATUS] = USR_REG->Reg.MSTATUS | STATUS_MPIE;
    }
    return &idle;
}

static void save(struct task *task)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.X2 - FRAME_WORDS;
    sp[AT_PC] = USR_REG->Reg.PC;
    USR_STORE(sp + AT_X1, X1, X31);
    sp[AT_STATUS] = USR_REG->Reg.MSTATUS;
#ifdef __riscv_flen
    USR_FSTORE(sp + AT_FLOATS, F0, F31);
    sp[AT_FLOATS + 32] = USR_REG->Fpu.FCSR;
#endif
    task->sp = sp;
}

static void resume(const struct task *task)
{
    uint32_t *sp = task->sp;
    USR_REG->Reg.PC = sp[AT_PC];
    USR_LOAD(sp + AT_X1, X1, X31);
    USR_REG->Reg.MSTATUS = sp[AT_STATUS];
#ifdef __riscv_flen
    USR_FLOAD(sp + AT_FLOATS, F0, F31);
    USR_REG->Fpu.FCSR = sp[AT_FLOATS + 32];
#endif
}

static void trap_entry(void)
{
    if (loaded != NULL) {
        save(loaded);
        serve(virt_cause());
    }
    struct task *next = next_task();
    loaded = next != NULL ? next : idle_task();
    resume(loaded);
}

/* FILL IN: stands for what starts the first task; it doesn't come back. */
void start_first_task(void);
void start_first_task(void)
{
    virt_trap_set((uintptr_t)trap_entry);
    virt_vct_call(trap_entry);
    for (;;) {
        hyp_vct_wait(); /* nobody comes here */
    }
}
