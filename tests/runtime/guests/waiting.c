/* A switch handler that waits until its only task is ready, as the porter makes it of a loop. The
 * tick makes the task ready every third time and requests no switch. */
#include <stdint.h>

#include <fvm/guest.h>

#include "report.h"

#define ROUNDS 200u
#define BASIC_FRAME 0x10u

static uint32_t *sleeper;
static volatile uint32_t running, ready, ticks, looks;

void switch_handler(void);
void tick_handler(void);

void switch_handler(void)
{
    looks++;
    if (!virt_idles() && running) {
        uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
        running = 0;
        if ((USR_REG->Reg.LR & BASIC_FRAME) == 0) {
            USR_VSTMDB(sp);
        }
        USR_STMDB(sp, R4, LR);
        sleeper = sp;
    }
    if (!ready) {
        virt_idle();
        return;
    }
    running = 1;
    uint32_t *sp = sleeper;
    USR_LDMIA(sp, R4, LR);
    if ((USR_REG->Reg.LR & BASIC_FRAME) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}

#ifdef TEST_USER
VIRT_YIELD_HANDLER(switch_handler);
#endif

void tick_handler(void) { ready |= ++ticks % 3u == 0; }

static void sleep_until_ready(void)
{
    ready = 0;
    (void)virt_vct_trig(FVM_VIRT_SWITCH);
}

/* Whether a callee-saved register of each kind is as before. */
static uint32_t keeps(uint32_t mark)
{
    uint32_t core = mark, held = mark;
    __asm volatile("mov r8, %0" ::"r"(mark) : "r8");
#ifdef __ARM_FP
    __asm volatile("vmov s20, %0" ::"r"(mark));
#endif
    sleep_until_ready();
    __asm volatile("mov %0, r8" : "=r"(core)::"r8");
#ifdef __ARM_FP
    __asm volatile("vmov %0, s20" : "=r"(held));
#endif
    return core == mark && held == mark;
}

int main(void)
{
    uint32_t kept = 0;
    report_init();
    running = 1;
    (void)hyp_tick_set(1000);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        kept += keeps(round << 8);
    }
    report("kept", (int32_t)kept);
    report("ticks", (int32_t)ticks);
    report("looks", (int32_t)looks);
    report("done", 1);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
