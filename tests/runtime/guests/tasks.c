/* Rule 5 and the cooperative switch: three tasks of a very small RTOS, switched both ways, by a
 * yield in user mode and by the tick through VCT, so that either side resumes either kind of frame.
 * Each task checks that no register of it changed. With -DTEST_FPU the FPU's registers too. The
 * library switches over the running task, with -DTEST_USER the handler of vector 0 does it in user
 * mode, and with -DTEST_HANDLER in VCT. With -DTEST_SHORT the RTOS's frames are {r4-r11} without
 * EXC_RETURN. */
#include <fvm/guest.h>

#include "keeps.h"
#include "report.h"

#define TASKS 3u
#define STACK_WORDS 192u
#define EXC_RETURN_BASIC 0xFFFFFFFDu
#define BASIC_FRAME 0x10u
#define XPSR_T 0x01000000u
#define XPSR_IT 0x0600FC00u
#define RUN_TICKS 1500u

struct task {
    uint32_t *sp;
    uint32_t rounds, bad;
    uint32_t stack[STACK_WORDS] __attribute__((aligned(8)));
};

static struct task task[TASKS];
static struct task *volatile current = &task[0];
static volatile uint32_t ticks;
static uint32_t preempted, in_it_block, with_fpu;
static uint32_t it_resumed;                               /* by a yield */
static uint32_t yield_to_yielded, yield_to_preempted;     /* from a yield */
static uint32_t preempt_to_yielded, preempt_to_preempted; /* from the tick */

#ifdef TEST_SHORT
#define LAST R11
#define FRAME_WORDS 8u

static uint32_t xpsr_of(const uint32_t *sp) { return sp[FRAME_WORDS + 7]; }

static int is_preempted(const uint32_t *sp) { return xpsr_of(sp) != 0; }

static int has_fpu(const uint32_t *sp) { return sp == NULL; }
#else
#define LAST LR
#define FRAME_WORDS 9u

static int has_fpu(const uint32_t *sp) { return (sp[8] & BASIC_FRAME) == 0; }

static const uint32_t *frame_of(const uint32_t *sp)
{
    return sp + ((sp[8] & BASIC_FRAME) != 0 ? FRAME_WORDS : FRAME_WORDS + 16);
}

static uint32_t xpsr_of(const uint32_t *sp) { return frame_of(sp)[7]; }

#ifdef TEST_USER
extern const char guest_go_on[]; /* where the frame of a yield goes on */

static int is_preempted(const uint32_t *sp) { return frame_of(sp)[6] != (uint32_t)guest_go_on; }
#else
static int is_preempted(const uint32_t *sp) { return (int32_t)sp[8] < 0; }
#endif
#endif

static void count_preempted(const uint32_t *sp)
{
    preempted++;
    in_it_block += (xpsr_of(sp) & XPSR_IT) != 0;
    with_fpu += has_fpu(sp);
}

/* The stack pointer of the task that ran is stored. */
static void choose(void)
{
    int in_vct = virt_in_vct() && USR_REG == &fvm_state.usr_reg;
    if (in_vct) {
        count_preempted(current->sp);
    }
    current = current == &task[TASKS - 1] ? &task[0] : current + 1;
    if (!is_preempted(current->sp)) {
        *(in_vct ? &preempt_to_yielded : &yield_to_yielded) += 1;
        return;
    }
    *(in_vct ? &preempt_to_preempted : &yield_to_preempted) += 1;
    it_resumed += !in_vct && (xpsr_of(current->sp) & XPSR_IT) != 0;
}

/* What the porter makes of a PendSV handler. */
void switch_handler(void)
{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    if ((USR_REG->Reg.LR & BASIC_FRAME) == 0) {
        USR_VSTMDB(sp);
    }
    USR_STMDB(sp, R4, LAST);
    current->sp = sp;
    choose();
    sp = current->sp;
    USR_LDMIA(sp, R4, LAST);
    if ((USR_REG->Reg.LR & BASIC_FRAME) == 0) {
        USR_VLDMIA(sp);
    }
    USR_REG->Reg.SP = (uint32_t)sp;
}

#ifdef TEST_USER
VIRT_YIELD_HANDLER(switch_handler);
#endif

#ifdef TEST_OVER /* as where more happens than a choice */
static void *volatile kept;
static void choose_over(void)
{
    current->sp = kept;
    choose();
    kept = current->sp;
}
#ifdef TEST_SHORT
VIRT_YIELD_OVER(switch_handler, kept, choose_over, virt_yield_short_frames);
#else
VIRT_YIELD_OVER(switch_handler, kept, choose_over, NULL);
#endif
#endif

/* ... and of an SVC handler that starts the first task. */
void svc_handler(void)
{
    uint32_t *sp = current->sp;
    USR_LDMIA(sp, R4, LAST);
    USR_REG->Reg.SP = (uint32_t)sp;
}

void tick_handler(void)
{
    if (++ticks != RUN_TICKS) {
        virt_yield();
        return;
    }
    report("yield.to_yielded", (int32_t)yield_to_yielded);
    report("yield.to_preempted", (int32_t)yield_to_preempted);
    report("yield.resumed_in_it_block", (int32_t)it_resumed);
    report("preempt.all", (int32_t)preempted);
    report("preempt.to_yielded", (int32_t)preempt_to_yielded);
    report("preempt.to_preempted", (int32_t)preempt_to_preempted);
    report("preempt.in_it_block", (int32_t)in_it_block);
    report("preempt.with_fpu", (int32_t)with_fpu);
    for (uint32_t i = 0; i < TASKS; i++) {
        static const char *const rounds[] = {"rounds.0", "rounds.1", "rounds.2"};
        static const char *const bad[] = {"bad.0", "bad.1", "bad.2"};
        report(rounds[i], (int32_t)task[i].rounds);
        report(bad[i], (int32_t)task[i].bad);
    }
    report("done", 1);
}

static void yield_masked(void)
{
    struct task *me = current;
    virt_int_mask(VIRT_BASEPRI);
    virt_yield();
    me->bad += current != me; /* not before the unmask */
    virt_int_unmask(VIRT_BASEPRI);
}

/* Long enough to be preempted in, mostly inside an IT block: what it adds up is wrong if the
 * block's state is lost. The flags and r0-r3 are part of the frame that must survive, too. */
__attribute__((naked)) static uint32_t it_blocks(void)
{
    __asm volatile("push {r4, lr}\n\t"
                   "mov r4, #200\n\t"
                   "movs r0, #0\n\t"
                   "movs r1, #0\n\t"
                   "movs r2, #77\n\t"
                   "mov r12, #55\n\t"
                   "1:\n\t"
                   "cmp r1, #0\n\t"
                   ".rept 8\n\t"
                   "itete eq\n\t"
                   "addeq r0, #1\n\t"
                   "addne r0, #100\n\t"
                   "addeq r0, #1\n\t"
                   "addne r0, #100\n\t"
                   ".endr\n\t"
                   "subs r4, #1\n\t"
                   "bne 1b\n\t"
                   "cmp r2, #77\n\t"
                   "it eq\n\t"
                   "cmpeq r12, #55\n\t"
                   "it ne\n\t"
                   "movne r0, #0\n\t"
                   "pop {r4, pc}");
}
#define IT_BLOCKS_SUM (200u * 16u)

static volatile uint32_t it_sum;
static void crunch(void) { it_sum = it_blocks(); }

#ifdef TEST_FPU
/* S0-S15 live over a preemption are in the frame that the processor stacked. */
static uint32_t keeps_low_fpu(float a)
{
    float sum = 0.0f, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
    for (uint32_t i = 0; i < 500u; i++) {
        __asm volatile("" : "+t"(a), "+t"(b), "+t"(c), "+t"(d), "+t"(sum));
        sum += (d - c) + (b - a);
    }
    return sum != 1000.0f;
}
#endif

/* Each task has a rounding mode of its own, as a task with its own FPSCR may. */
#ifdef TEST_FPU
#define ROUNDING_SHIFT 22u
static void set_rounding(uint32_t mode)
{
    __asm volatile("vmsr fpscr, %0" ::"r"(mode << ROUNDING_SHIFT));
}

static uint32_t lost_rounding(uint32_t mode)
{
    uint32_t fpscr;
    __asm volatile("vmrs %0, fpscr" : "=r"(fpscr));
    return ((fpscr >> ROUNDING_SHIFT) & 3u) != mode;
}
#else
static void set_rounding(uint32_t mode) { (void)mode; }
static uint32_t lost_rounding(uint32_t mode) { return mode & 0u; }
#endif

static _Noreturn void yielding(void)
{
    struct task *me = &task[0];
    set_rounding(1);
    for (uint32_t n = 0;; n++) {
        me->bad += lost_rounding(1);
        me->bad += keeps_registers(n << 8, virt_yield);
        me->rounds++;
    }
}

static _Noreturn void crunching(void)
{
    struct task *me = &task[1];
    for (uint32_t n = 0;; n++) {
        me->bad += lost_rounding(0); /* nobody set it here: that of reset */
        me->bad += keeps_registers(n << 8, crunch);
        me->bad += it_sum != IT_BLOCKS_SUM;
#ifdef TEST_FPU
        me->bad += keeps_low_fpu((float)(n & 255u));
#endif
        me->rounds++;
    }
}

static _Noreturn void masking(void)
{
    struct task *me = &task[2];
    set_rounding(2);
    for (uint32_t n = 0;; n++) {
        me->bad += lost_rounding(2);
        me->bad += keeps_registers(n << 8, yield_masked);
        me->bad += keeps_registers(~(n << 8), crunch);
        me->rounds++;
    }
}

/* As an RTOS's pxPortInitialiseStack does. */
static void create(struct task *me, void (*entry)(void))
{
    uint32_t *frame = &me->stack[STACK_WORDS - 8u];
    frame[7] = XPSR_T;
    frame[6] = (uint32_t)entry & ~1u;
    me->sp = frame - FRAME_WORDS;
#ifndef TEST_SHORT
    me->sp[8] = EXC_RETURN_BASIC;
#endif
}

int main(void)
{
    report_init();
    create(&task[0], yielding);
    create(&task[1], crunching);
    create(&task[2], masking);
#if !defined TEST_USER && !defined TEST_HANDLER && !defined TEST_OVER
    virt_yield_task((void *volatile *)&current, choose, NULL);
#ifdef TEST_SHORT
    virt_yield_short_frames();
#endif
#endif
    (void)hyp_tick_set(1000);
    (void)virt_vct_trig(FVM_VIRT_SVC);
    report("returned", 1); /* it must not: the call became the first task */
}
