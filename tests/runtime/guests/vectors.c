/* Rules 1-4 from inside a VM: what runs when, under which mask, in which order, and what ends a
 * wait. Alone in its VM, so that every number below is a matter of the rules. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

#define MS (FVM_CLOCK_HZ / 1000u)
#define MASKABLE FVM_VIRT_USART1
#define MASKABLE_LINE 37
#define TRANSPARENT_LINE 38
#define TRANSPARENT FVM_VIRT_USART2

static volatile uint32_t ticks, maskable, transparent, svc, switches;
static volatile uint32_t depth, deepest; /* of handlers in handlers */
static volatile uint32_t number;         /* of the last supervisor call */
static volatile uint32_t repeat;         /* how often the maskable handler pends itself */
static volatile uint32_t by_register;    /* the supervisor call says what to do */
static volatile uint32_t order;          /* decimal digits: handlers in the order they ran */
static volatile uint32_t mistaken;       /* how often virt_in_svc() was wrong in a handler */
static volatile uint32_t rights;         /* not 0: what a supervisor call writes to CONTROL */

enum { CALLS_DIGIT = 2 };

static void enter(uint32_t digit)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
    order = order * 10u + digit;
    mistaken += (uint32_t)virt_in_svc() != (digit == CALLS_DIGIT);
}

void tick_handler(void)
{
    enter(1);
    ticks++;
    depth--;
}

void svc_handler(void)
{
    enter(CALLS_DIGIT);
    svc++;
    if (rights != 0) {
        virt_npriv_set(rights);
    }
    uint32_t *frame = (uint32_t *)USR_REG->Reg.SP;
    if (by_register != 0) {
        number = ((const uint8_t *)frame[6])[-2];
        frame[0] = virt_service(frame[0], frame[1], frame[2], frame[3], frame[4]);
    } else {
        number = ((const uint8_t *)virt_svc_frame()[6])[-2];
    }
    depth--;
}

void maskable_handler(void)
{
    enter(3);
    maskable++;
    if (repeat != 0) {
        repeat--;
        (void)virt_vct_trig(MASKABLE);
    }
    depth--;
}

void transparent_handler(void)
{
    enter(4);
    transparent++;
    depth--;
}

void switch_handler(void)
{
    enter(5);
    switches++;
    depth--;
}

static void spin(uint32_t cycles)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < cycles) {
    }
}

/* One mask held over five ticks. */
static void holds(uint32_t mask, const char *during, const char *after)
{
    uint32_t before = ticks;
    virt_int_mask(mask);
    spin(5 * MS);
    report(during, (int32_t)(ticks - before));
    virt_int_unmask(mask);
    report(after, (int32_t)(ticks - before));
}

static void both_masks(void)
{
    uint32_t before = maskable;
    virt_int_mask(VIRT_BASEPRI);
    virt_int_mask(VIRT_PRIMASK);
    (void)virt_vct_trig(MASKABLE);
    virt_int_unmask(VIRT_PRIMASK);
    report("both.base_left", (int32_t)(maskable - before));
    virt_int_mask(VIRT_PRIMASK);
    virt_int_unmask(VIRT_BASEPRI);
    report("both.pri_left", (int32_t)(maskable - before));
    virt_int_unmask(VIRT_PRIMASK);
    report("both.none_left", (int32_t)(maskable - before));
}

static void save_restore(uint32_t mask, const char *inner, const char *outer)
{
    uint32_t before = maskable;
    uint32_t first = virt_int_save(mask);
    (void)virt_vct_trig(MASKABLE);
    uint32_t second = virt_int_save(mask);
    virt_int_restore(mask, second);
    report(inner, (int32_t)(maskable - before));
    virt_int_restore(mask, first);
    report(outer, (int32_t)(maskable - before));
}

/* A key with a mark of its own beside the mask, as legacy code makes it. */
static void marked(void)
{
    uint32_t before = maskable;
    virt_int_restore(VIRT_PRIMASK, ~0u);
    (void)virt_vct_trig(MASKABLE);
    report("marked.closed", (int32_t)(maskable - before));
    virt_int_restore(VIRT_PRIMASK, 0x80000000u);
    report("marked.open", (int32_t)(maskable - before));
    virt_int_restore(VIRT_BASEPRI, 0x40);
    (void)virt_vct_trig(MASKABLE);
    report("marked.level", (int32_t)(maskable - before));
    virt_int_restore(VIRT_BASEPRI, 0);
}

static void levels(void)
{
    virt_int_mask(VIRT_BASEPRI);
    (void)virt_vct_trig(TRANSPARENT);
    (void)virt_vct_trig(MASKABLE);
    (void)virt_vct_trig(FVM_VIRT_SVC);
    report("level1.transparent", (int32_t)transparent);
    report("level1.svc", (int32_t)svc);
    report("level1.maskable", (int32_t)maskable);
    virt_int_unmask(VIRT_BASEPRI);
    report("level0.maskable", (int32_t)maskable);
    virt_int_mask(VIRT_PRIMASK);
    (void)virt_vct_trig(TRANSPARENT);
    report("level2.transparent", (int32_t)transparent);
    virt_int_unmask(VIRT_PRIMASK);
    report("level2.after", (int32_t)transparent);
}

/* A handler finds the number where the instruction stands. */
static void numbers(void)
{
    uint32_t before = svc;
    virt_svc(103);
    report("svc.number", (int32_t)number);
    virt_int_mask(VIRT_BASEPRI);
    virt_svc(0xFF);
    report("svc.under_basepri", (int32_t)number);
    virt_int_mask(VIRT_PRIMASK);
    virt_svc(7);
    report("svc.held", (int32_t)number);
    virt_int_unmask(VIRT_PRIMASK);
    report("svc.served_at_unmask", (int32_t)number);
    virt_int_unmask(VIRT_BASEPRI);
    report("svc.calls", (int32_t)(svc - before));
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return virt_in_vct() != 0 ? a + 3u * b + 5u * c + 7u * d : 0;
}

static uint32_t call_mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t *same)
{
    register uint32_t r0 __asm("r0") = a;
    register uint32_t r1 __asm("r1") = b;
    register uint32_t r2 __asm("r2") = c;
    register uint32_t r3 __asm("r3") = d;
    register uint32_t r12 __asm("r12") = (uint32_t)mix;
    uint32_t carry;
    __asm volatile("cmp %1, %1\n\tpush {r4, lr}\n\tbl virt_svc_call\n\tpop {r4, lr}\n\t"
                   "ite eq\n\tmoveq %0, #1\n\tmovne %0, #0"
                   : "=&r"(carry), "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12)
                   :
                   : "cc", "memory");
    *same += carry == 1 && r1 == b && r2 == c && r3 == d && r12 == (uint32_t)mix;
    return r0;
}

/* While ticks and their own calls come in between, at whatever instruction. */
static void registers(void)
{
    uint32_t before = svc, first = ticks, right = 0, same = 0, calls = 0;
    by_register = 1;
    while (ticks - first < 200) {
        uint32_t a = calls * 0x9E3779B1u;
        right += call_mix(a, ~a, a >> 7, a ^ 0x55u, &same) ==
                 a + 3u * ~a + 5u * (a >> 7) + 7u * (a ^ 0x55u);
        calls++;
    }
    by_register = 0;
    report("registers.wrong", (int32_t)(calls - right));
    report("registers.changed", (int32_t)(calls - same));
    report("registers.lost", (int32_t)(calls - (svc - before)));
    report("registers.number", (int32_t)number);
    report("registers.enough", calls > 500);
}

/* As on the machine: code that gave privilege up gets it back by a handler alone. */
static void privilege(void)
{
    report("privilege.at_first", (int32_t)virt_npriv());
    virt_npriv_set(2);
    report("privilege.with", (int32_t)virt_npriv());
    virt_npriv_set(3);
    report("privilege.without", (int32_t)virt_npriv());
    virt_npriv_set(2);
    report("privilege.written_without", (int32_t)virt_npriv());
    rights = 2;
    virt_svc(0);
    rights = 0;
    report("privilege.given_back", (int32_t)virt_npriv());
}

static volatile uint32_t starts;

static void start(void)
{
    enter(6);
    starts++;
    depth--;
}

/* What starts the first task runs once, before the tick, and leaves supervisor calls their handler.
 */
static void runs_once(void)
{
    uint32_t before = svc;
    virt_int_mask(VIRT_PRIMASK);
    order = 0;
    (void)virt_vct_trig(FVM_VIRT_TICK);
    virt_vct_once(start);
    report("once.held", (int32_t)starts);
    virt_int_unmask(VIRT_PRIMASK);
    report("once.order", (int32_t)order);
    virt_svc(9);
    report("once.calls", (int32_t)(svc - before));
    virt_vct_once(start);
    report("once.starts", (int32_t)starts);
}

/* Legacy code asks for bit 0 of PRIMASK, or compares it with 1. */
static void saved_values(void)
{
    uint32_t outer = virt_int_save(VIRT_PRIMASK), inner = virt_int_save(VIRT_PRIMASK);
    virt_int_restore(VIRT_PRIMASK, outer);
    report("saved.open", (int32_t)outer);
    report("saved.masked", (int32_t)inner);
}

/* Lines and system exceptions by CMSIS's numbers; the latter keep their order. */
static void run_order(const char *key)
{
    virt_int_mask(VIRT_PRIMASK);
    order = 0;
    for (int32_t irq = -5; irq < 0; irq++) {
        (void)virt_vct_prio(fvm_virt_of_irq(irq), 0);
    }
    (void)virt_vct_trig(fvm_virt_of_irq(-2));
    (void)virt_vct_trig(fvm_virt_of_irq(-1));
    (void)virt_vct_trig(fvm_virt_of_irq(-5));
    (void)virt_vct_trig(fvm_virt_of_irq(TRANSPARENT_LINE));
    (void)virt_vct_trig(fvm_virt_of_irq(MASKABLE_LINE));
    virt_int_unmask(VIRT_PRIMASK);
    report(key, (int32_t)order);
}

/* The legacy idle: sleeps only when there is no work, and can't miss what comes in between. */
static void masked_sleep(void)
{
    uint32_t start = ticks, rounds = 0, longest = 0;
    for (uint32_t last = ticks; ticks - start < 20u; rounds++) {
        uint32_t slept = virt_cycles();
        virt_int_mask(VIRT_PRIMASK);
        if (ticks == last) {
            (void)hyp_vct_wait();
        }
        virt_int_unmask(VIRT_PRIMASK);
        slept = virt_cycles() - slept;
        longest = slept > longest ? slept : longest;
        last = ticks;
    }
    report("sleep.rounds_of_20_ticks", (int32_t)rounds);
    report("sleep.longest_us", (int32_t)(longest / (MS / 1000u)));
}

static uint32_t wait_us(void)
{
    uint32_t start = virt_cycles();
    (void)hyp_vct_wait();
    return (virt_cycles() - start) / (MS / 1000u);
}

static void what_ends_a_wait(void)
{
    (void)hyp_vct_wait();
    (void)hyp_vct_wait(); /* just after a tick now, and the latch is clear */
    report("wait.nothing_us", (int32_t)wait_us());
    virt_int_mask(VIRT_PRIMASK);
    (void)virt_vct_trig(MASKABLE);
    report("wait.masked_pending_us", (int32_t)wait_us());
    virt_int_unmask(VIRT_PRIMASK);
    (void)hyp_vct_wait();
    (void)hyp_vct_wait();
    spin(3 * MS / 2); /* a tick comes and is served: the next wait knows of it */
    report("wait.latched_us", (int32_t)wait_us());
    report("wait.latch_used_up_us", (int32_t)wait_us());
}

static void closed(void)
{
    uint32_t before = ticks, triggered = maskable;
    (void)hyp_int_dis();
    (void)virt_vct_trig(MASKABLE);
    spin(5 * MS);
    report("closed.ticks", (int32_t)(ticks - before));
    report("closed.maskable", (int32_t)(maskable - triggered));
    (void)hyp_int_ena();
    report("opened.ticks", (int32_t)(ticks - before));
    report("opened.maskable", (int32_t)(maskable - triggered));
}

/* The order that rule 1 forbids: a tick between the test and the store is forgotten. */
static void wrong_unmask(void)
{
    if (fvm_state.int_pend.any != 0) {
        virt_unmask_pending(virt_here());
    }
    fvm_state.int_mask.byte.pri = 0;
}

/* While USR runs unmasked, no vector is pending: VCT outranks it. */
static void race(const char *key, void (*unmask)(void))
{
    int32_t forgotten = 0;
    for (uint32_t start = ticks; ticks - start < 300u;) {
        virt_int_mask(VIRT_PRIMASK);
        unmask();
        if (fvm_state.pending[FVM_VIRT_TICK] != 0) {
            forgotten++;
            virt_int_mask(VIRT_PRIMASK);
            virt_int_unmask(VIRT_PRIMASK);
        }
    }
    report(key, forgotten);
}

static void right_unmask(void) { virt_int_unmask(VIRT_PRIMASK); }

/* VCT ends a round all the time while ticks come: the wake must not fall between two rounds. */
static void sticky(void)
{
    int32_t forgotten = 0;
    for (uint32_t start = ticks; ticks - start < 300u;) {
        (void)virt_vct_trig(MASKABLE);
        forgotten += fvm_state.pending[FVM_VIRT_TICK] != 0;
    }
    report("sticky.forgotten", forgotten);
}

static void cleared(void)
{
    virt_int_mask(VIRT_PRIMASK);
    spin(3 * MS / 2);
    report("clear.was_pending", virt_vct_pending(FVM_VIRT_TICK));
    (void)virt_vct_clear(FVM_VIRT_TICK);
    report("clear.is_pending", virt_vct_pending(FVM_VIRT_TICK));
    virt_int_unmask(VIRT_PRIMASK);
    uint32_t before = ticks;
    spin(5 * MS);
    report("clear.ticks_after", (int32_t)(ticks - before));
}

/* A line that isn't enabled keeps its vector pending and runs nothing, as in the NVIC. */
static void disabled(void)
{
    (void)virt_vct_trig(MASKABLE);
    report("disabled.at_start", (int32_t)maskable);
    report("disabled.pending", virt_vct_pending(MASKABLE));
    (void)hyp_irq_ena(MASKABLE_LINE);
    report("disabled.enabled", (int32_t)maskable);
    virt_int_mask(VIRT_PRIMASK);
    (void)virt_vct_trig(MASKABLE);
    (void)hyp_irq_dis(MASKABLE_LINE);
    virt_int_unmask(VIRT_PRIMASK);
    report("disabled.while_masked", (int32_t)maskable);
    (void)virt_vct_clear(MASKABLE);
    (void)hyp_irq_ena(MASKABLE_LINE);
    report("disabled.cleared", (int32_t)maskable);
    (void)hyp_irq_ena(TRANSPARENT_LINE);
}

/* Vectors of all groups of eight, each with a handler of its own. */
#define EACH_FAR(X) X(8) X(15) X(16) X(31) X(32) X(47) X(62) X(63)
#define FAR_COUNT 8u

static volatile uint32_t far_ran[FAR_COUNT], far_runs;

static void far(uint32_t id)
{
    if (far_runs < FAR_COUNT) {
        far_ran[far_runs] = id;
    }
    far_runs++;
}

#define FAR_HANDLER(id)                                                                            \
    static void far_##id(void) { far(id); }
EACH_FAR(FAR_HANDLER)

#define FAR_ID(id) id,
static const uint8_t far_id[FAR_COUNT] = {EACH_FAR(FAR_ID)};

#define FAR_FUNCTION(id) far_##id,
static const virt_handler far_handler[FAR_COUNT] = {EACH_FAR(FAR_FUNCTION)};

/* All pended under a mask, the third first; how many ran in the order of their virt_ids, or in the
 * opposite one. */
static int32_t far_order(uint32_t opposite)
{
    int32_t right = 0;
    far_runs = 0;
    virt_int_mask(VIRT_PRIMASK);
    for (uint32_t i = 0; i < FAR_COUNT; i++) {
        (void)virt_vct_prio(far_id[i], opposite ? FAR_COUNT - i : 5u);
        (void)virt_vct_trig(far_id[(i + 3u) % FAR_COUNT]);
    }
    virt_int_unmask(VIRT_PRIMASK);
    for (uint32_t i = 0; i < FAR_COUNT && far_runs == FAR_COUNT; i++) {
        right += far_ran[i] == far_id[opposite ? FAR_COUNT - 1u - i : i];
    }
    return right;
}

static void far_vectors(void)
{
    int32_t alone = 0;
    for (uint32_t i = 0; i < FAR_COUNT; i++) {
        (void)virt_vct_set(far_id[i], far_handler[i], 5, VIRT_MASKABLE);
        far_runs = 0;
        (void)virt_vct_trig(far_id[i]);
        alone += far_runs == 1u && far_ran[0] == far_id[i];
    }
    report("far.alone", alone);
    report("far.by_id", far_order(0));
    report("far.by_priority", far_order(1));
}

int main(void)
{
    report_init();
    far_vectors();
    disabled();
    report("bad.trig", virt_vct_trig(FVM_VECTORS_MAX));
    report("bad.set", virt_vct_set(FVM_VECTORS_MAX, tick_handler, 0, VIRT_MASKABLE));
    report("bad.null", virt_vct_set(MASKABLE, 0, 0, VIRT_MASKABLE));
    report("bad.prio", virt_vct_prio(FVM_VECTORS, 0));
    both_masks();
    save_restore(VIRT_PRIMASK, "save_pri.inner", "save_pri.outer");
    save_restore(VIRT_BASEPRI, "save_base.inner", "save_base.outer");
    marked();
    transparent = svc = maskable = 0;
    levels();
    numbers();
    privilege();
    runs_once();
    saved_values();
    (void)virt_vct_prio(MASKABLE, 2);
    (void)virt_vct_prio(TRANSPARENT, 1);
    run_order("order.transparent_first");
    (void)virt_vct_prio(MASKABLE, 1);
    (void)virt_vct_prio(TRANSPARENT, 2);
    run_order("order.maskable_first");
    maskable = 0;
    repeat = 9;
    (void)virt_vct_trig(MASKABLE);
    report("again.runs", (int32_t)maskable);
    switches = 0;
    virt_yield();
    report("yield.switches", (int32_t)switches);

    (void)hyp_tick_set(1000);
    holds(VIRT_PRIMASK, "primask.during", "primask.after");
    holds(VIRT_BASEPRI, "basepri.during", "basepri.after");
    registers();
    masked_sleep();
    what_ends_a_wait();
    closed();
    race("race.right", right_unmask);
    race("race.wrong", wrong_unmask);
    sticky();
    cleared();
    report("asked.mistaken", (int32_t)mistaken);
    report("asked.in_usr", virt_in_svc());
    report("nesting.deepest", (int32_t)deepest);
    report("done", 1);
}
