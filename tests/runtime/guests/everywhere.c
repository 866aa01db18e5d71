/* An interrupt at every instruction of a switch: a timer that fires after 1, 2, 3, ... of its
 * ticks, shifted by a few instructions, while two tasks switch to each other in each way. Its
 * handler asks for a switch in the second pass, so that tasks are preempted there as well; in the
 * third it starts the timer once more, so that what resumes such a task is interrupted too. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "keeps.h"
#include "report.h"

#define STACK_WORDS 256u
#define EXC_RETURN_BASIC 0xFFFFFFFDu
#define XPSR_T 0x01000000u
#define LINE 8
#define TICKS_OF_A_SEQUENCE 600u
#define SHIFTS 3u       /* a timer's tick is 1.25 instructions */
#define FIRST_TICKS 10u /* of the third pass */
#define LAST_TICKS 20u
#define AGAIN_TICKS 300u
#define PLACES 512u

struct timer {
    volatile uint32_t ctrl, value, reload, interrupt;
};
#define TIMER ((struct timer *)0x40000000u)
#define CTRL_ENABLE 1u
#define CTRL_INTERRUPT 8u

struct task {
    uint32_t *sp;
    uint32_t rounds, bad;
    uint32_t stack[STACK_WORDS] __attribute__((aligned(8)));
};

static struct task task[2];
static struct task *volatile current = &task[0];
static volatile uint32_t fired, switching, again;
static uint32_t lost;
static uint32_t place[PLACES / 32u]; /* halfwords of the library's switch that were interrupted */

static void choose(void) { current = current == &task[0] ? &task[1] : &task[0]; }

void svc_handler(void)
{
    uint32_t *sp = current->sp;
    USR_LDMIA(sp, R4, LR);
    USR_REG->Reg.SP = (uint32_t)sp;
}

static void start(uint32_t after)
{
    TIMER->value = after;
    TIMER->reload = after;
    TIMER->ctrl = CTRL_ENABLE | CTRL_INTERRUPT;
}

void timer_handler(void)
{
    TIMER->ctrl = 0;
    TIMER->interrupt = 1;
    fired++;
    if (again != 0) {
        start(again);
        again = 0;
    }
    uint32_t pc = ((const uint32_t *)USR_REG->Reg.SP)[6];
    uint32_t at = (pc - ((uint32_t)virt_unmask_pending & ~1u)) / 2u;
    if (at < PLACES) {
        place[at / 32u] |= 1u << (at % 32u);
    }
    if (switching != 0) {
        virt_yield();
    }
}

/* A switch that is asked for at once, and one at the end of a critical section. */
static void both_ways(void)
{
    virt_yield();
    virt_int_mask(VIRT_BASEPRI);
    virt_yield();
    virt_int_unmask(VIRT_BASEPRI);
}

static void sequence(uint32_t ticks, uint32_t shift, uint32_t once_more)
{
    struct task *me = &task[0];
    uint32_t due = fired + (once_more == 0 ? 1u : 2u);
    again = once_more;
    start(ticks);
    for (uint32_t i = 0; i < shift; i++) {
        __asm volatile("nop");
    }
    me->bad += keeps_registers(ticks << 8, both_ways);
    me->rounds++;
    for (uint32_t patience = 0; fired != due && patience < 10000u; patience++) {
    }
    lost += fired != due;
}

static _Noreturn void sweeping(void)
{
#ifdef TEST_FPU
    __asm volatile("vmov s0, s0");
#endif
    for (switching = 0; switching < 2; switching++) {
        for (uint32_t shift = 0; shift < SHIFTS; shift++) {
            for (uint32_t ticks = 1; ticks < TICKS_OF_A_SEQUENCE; ticks++) {
                sequence(ticks, shift, 0);
            }
        }
    }
    for (uint32_t ticks = FIRST_TICKS; ticks < LAST_TICKS; ticks++) {
        for (uint32_t more = 1; more < AGAIN_TICKS; more++) {
            sequence(ticks, 0, more);
        }
    }
    report("fired", (int32_t)fired);
    report("lost", (int32_t)lost);
    report("bad.0", (int32_t)task[0].bad);
    report("bad.1", (int32_t)task[1].bad);
    report("rounds.1", (int32_t)task[1].rounds);
    for (uint32_t i = 0; i < PLACES / 32u; i++) {
        report_hex("place", place[i]);
    }
    report("done", 1);
    for (;;) {
    }
}

static void yield(void) { virt_yield(); }

static _Noreturn void partner(void)
{
    struct task *me = &task[1];
    for (uint32_t n = 0;; n++) {
        me->bad += keeps_registers(~(n << 8), yield);
        me->rounds++;
    }
}

static void create(struct task *me, void (*entry)(void))
{
    uint32_t *frame = &me->stack[STACK_WORDS - 8u];
    frame[7] = XPSR_T;
    frame[6] = (uint32_t)entry & ~1u;
    me->sp = frame - 9;
    me->sp[8] = EXC_RETURN_BASIC;
}

int main(void)
{
    report_init();
    create(&task[0], sweeping);
    create(&task[1], partner);
    virt_yield_task((void *volatile *)&current, choose, NULL);
    (void)hyp_irq_ena(LINE);
    (void)virt_vct_trig(FVM_VIRT_SVC);
    report("returned", 1);
}
