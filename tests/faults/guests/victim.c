/* The victim: commits, once, at a given tick, the crime that the test wrote into its image. Before
 * and after it only beats. */
#include <fvm/guest.h>
#include <fvm/trap.h>

#include "code.h"
#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

#define CRIME_TICK 400u /* of the first start; */
#define AGAIN_TICK 20u  /* of later ones */
#define BEAT_TICKS 50u
#define SECRET 0x5EC2E700u
#define SECRET_WORDS 64u
#define WITNESS_SECRET_24 0x57A7A5u
#define EXC_RETURN_BASIC 0x10u
#define EXC_RETURN_THREAD_PSP_BASIC 0xFFFFFFFDu
#define FRAME_PC 6
#define FRAME_XPSR 7

enum crime {
    NONE,
    EDIT_RETURN,       /* EXC_RETURN := a, but for bit 4 */
    CLAIM_FPU,         /* EXC_RETURN: an FPU frame where none is */
    CLAIM_FPU_AT,      /* ... with the basic frame at a */
    CLAIM_BASIC,       /* ... a basic frame where one with FPU state is */
    EDIT_XPSR,         /* xPSR of the frame: bits b := a */
    EDIT_PC,           /* pc of the frame := a */
    EDIT_STACK,        /* SP of the frame := a */
    EDIT_STACK_ASLEEP, /* the same while USR waits */
    STACK_AND_SPIN,    /* sp := a, wait for an interrupt */
    STACK_AND_CALL,    /* sp := a, system call b */
    READ_FPU,          /* read the registers that others used */
    RESUME,            /* resume call at an own frame with EXC_RETURN a */
    RESUME_AT,         /* resume call at a frame at a with EXC_RETURN b */
    SPIN,              /* never wait again */
    FPU_STACK_SPIN,    /* sp := a with own words in all FPU registers, wait for an interrupt */
    RUN,               /* the code, from USR, with a and b */
    RUN_IN_VCT,        /* the same from VCT */
    RUN_AT_START,      /* the same before anything else, but at the first start */
    SCRIBBLE,          /* the code; at each tick VCT stores a into what USR's r0-r3, r12 will be */
    FLIP,              /* b times: VCT flips one bit of USR's context or frame, chosen by a + n */
    LINE_STORM,        /* line a of the USART asserted for ever */
    SOAK,              /* for ever: anything of the above by chance, a: the kernel's RAM, b: seed */
};

/* Of SOAK, kept by starts and read from outside: words behind `end`. */
enum kept {
    KEPT_CRIMES = 2, /* committed, so starts to come */
    KEPT_BELLS,      /* signals sent */
    KEPT_FLOODS,     /* events sent */
    KEPT_LINES,      /* interrupts of the USART's line served */
    KEPT_CHANCE,     /* state of the generator */
    KEPT_QUIET,      /* set from outside: no more of it */
};

/* plan: crime, a, b, how many starts commit it. */

/* Of QEMU's model: the flag can be set, and stays until the data is read. */
#define USART_SR (*(volatile uint32_t *)TEST_USART)
#define USART_CR1 (*(volatile uint32_t *)(TEST_USART + 12u))
#define USART1_LINE 37
#define USART_SR_RXNE (1u << 5)
#define USART_CR1_RXNEIE (1u << 5)

extern volatile uint32_t end[]; /* behind .bss: kept by starts, as in report.c */

static uint32_t boots_so_far;
static volatile uint32_t initialised = SECRET, cleared;
static volatile uint32_t ticks, edit, lines, scribbling;
static volatile int32_t result;
static volatile uint32_t secret[SECRET_WORDS];

static void edit_context(enum crime crime)
{
    uint32_t a = plan[1], b = plan[2];
    uint32_t *frame = (uint32_t *)USR_REG->Reg.SP;
    switch (crime) {
    case EDIT_RETURN:
        USR_REG->Reg.LR = (USR_REG->Reg.LR & EXC_RETURN_BASIC) | (a & ~EXC_RETURN_BASIC);
        break;
    case CLAIM_FPU_AT:
        __builtin_memcpy((void *)a, frame, 32);
        USR_REG->Reg.SP = a;
        USR_REG->Reg.LR &= ~EXC_RETURN_BASIC;
        break;
    case CLAIM_FPU:
        USR_REG->Reg.LR &= ~EXC_RETURN_BASIC;
        break;
    case CLAIM_BASIC:
        USR_REG->Reg.LR |= EXC_RETURN_BASIC;
        break;
    case EDIT_XPSR:
        frame[FRAME_XPSR] = (frame[FRAME_XPSR] & ~b) | a;
        break;
    case EDIT_PC:
        frame[FRAME_PC] = a;
        break;
    case RUN_IN_VCT:
        result = run_code(a, b, ticks);
        break;
    case SCRIBBLE:
        for (uint32_t i = 0; i < 5u; i++) {
            frame[i] = a;
        }
        break;
    default:
        USR_REG->Reg.SP = a;
        break;
    }
}

/* Small steps of the state give the next seed, so the bits are mixed well (splitmix32). */
static uint32_t mixed(uint32_t seed)
{
    uint32_t x = seed * 0x9E3779B9u;
    x = (x ^ (x >> 16)) * 0x21F0AAADu;
    x = (x ^ (x >> 15)) * 0x735A2D97u;
    return x ^ (x >> 15);
}

/* The next flip of the campaign: how many there were survives every start. */
static void flip(void)
{
    uint32_t n = end[1], choice = mixed(plan[1] + n);
    if (n >= plan[2]) {
        return;
    }
    end[1] = n + 1;
    uint32_t bit = choice >> 5 & 31u, word = choice >> 10 & 31u;
    uint32_t *context = (uint32_t *)USR_REG, *frame = (uint32_t *)USR_REG->Reg.SP;
    if ((choice & 1u) != 0) {
        context[word % (sizeof *USR_REG / 4u)] ^= 1u << bit;
    } else if ((uint32_t)frame - (uint32_t)&fvm_state < TEST_RAM_SIZE - 32u) {
        frame[word % 8u] ^= 1u << bit;
    }
    if (n + 1 == plan[2]) {
        report("flips", (int32_t)plan[2]);
    }
}

/* VCT: what it does to USR's context happens between two instructions of USR. */
void tick_handler(void)
{
    ticks++;
    if (plan[0] == FLIP && ticks > AGAIN_TICK / 2u) {
        (void)hyp_wdg_clr(); /* a flip may leave it in a loop or asleep */
        flip();
        return;
    }
    if (scribbling) {
        edit_context(SCRIBBLE);
    }
    if (edit != NONE) {
        enum crime crime = (enum crime)edit;
        edit = NONE;
        edit_context(crime);
    }
}

/* Never makes the source silent. */
void line_handler(void)
{
    lines++;
    end[KEPT_LINES]++;
}

/* Spins until *flag is 0, touching no memory but that; returns how far SP moved meanwhile. */
__attribute__((naked, noinline)) static int32_t park(const volatile uint32_t *flag
                                                     __attribute__((unused)))
{
    __asm volatile("push {r4, lr}\n\t"
                   "mov r4, sp\n\t"
                   "1: ldr r1, [r0]\n\t"
                   "cmp r1, #0\n\t"
                   "bne 1b\n\t"
                   "mov r0, sp\n\t"
                   "sub r0, r4\n\t"
                   "mov sp, r4\n\t"
                   "pop {r4, pc}");
}

/* Waits on another stack for the next tick, if it can come back from there. */
__attribute__((naked, noinline)) static void spin_on(uint32_t stack __attribute__((unused)),
                                                     const volatile uint32_t *tick
                                                     __attribute__((unused)))
{
    __asm volatile("push {r4, lr}\n\t"
                   "mov r4, sp\n\t"
                   "ldr r2, [r1]\n\t"
                   "mov sp, r0\n\t"
                   "1: ldr r3, [r1]\n\t"
                   "cmp r2, r3\n\t"
                   "beq 1b\n\t"
                   "mov sp, r4\n\t"
                   "pop {r4, pc}");
}

__attribute__((naked, noinline)) static void call_on(uint32_t stack __attribute__((unused)),
                                                     uint32_t number __attribute__((unused)))
{
    __asm volatile("mov sp, r0\n\t"
                   "mov r12, r1\n\t"
                   "svc 0xF5\n\t"
                   "1: b 1b");
}

/* Goes on by the kernel's resume call at a basic frame of its own, with this EXC_RETURN: no FPU
 * state is live after it. */
__attribute__((naked, noinline)) static void resume_with(uint32_t state __attribute__((unused)))
{
    __asm volatile("push {r4-r11, lr}\n\t"
                   "sub sp, #36\n\t" /* the frame, and SP a multiple of 8 */
                   "mov r1, r0\n\t"
                   "mov r0, sp\n\t"
                   "adr r2, 1f\n\t"
                   "str r2, [r0, #24]\n\t"
                   "mov r2, #0x01000000\n\t"
                   "str r2, [r0, #28]\n\t"
                   "mov r12, #10\n\t"
                   "svc 0xF5\n\t"
                   ".balign 4\n\t"
                   "1: add sp, #4\n\t"
                   "pop {r4-r11, pc}");
}

#ifdef TEST_FPU
#define ALL_FPU                                                                                    \
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

/* Own words into S0-S31. */
__attribute__((naked, noinline)) static void fill_fpu(uint32_t first __attribute__((unused)))
{
    __asm volatile(".irp n," ALL_FPU "\n\t add r1, r0, #\\n\n\t vmov s\\n, r1\n\t .endr\n\t bx lr");
}

static uint32_t fpu[32];
__attribute__((naked, noinline)) static void read_fpu(uint32_t *to __attribute__((unused)))
{
    __asm volatile("vstmia r0, {s0-s31}\n\t"
                   "bx lr");
}

static int32_t foreign_in_fpu(void)
{
    int32_t foreign = 0;
    read_fpu(fpu);
    for (uint32_t i = 0; i < 32u; i++) {
        foreign += fpu[i] >> 8 == WITNESS_SECRET_24;
    }
    return foreign;
}

/* Each time after the witness ran: what is in registers that this VM didn't write? */
static void read_fpu_often(void)
{
    int32_t foreign = 0, not_zero = 0;
    for (uint32_t round = 0; round < 200u; round++) {
        resume_with(EXC_RETURN_THREAD_PSP_BASIC);
        for (uint32_t start = ticks; ticks - start < 2u;) {
        }
        foreign += foreign_in_fpu();
        for (uint32_t i = 0; i < 32u; i++) {
            not_zero += fpu[i] != 0;
        }
        fill_fpu(SECRET);
    }
    report("fpu.foreign", foreign);
    report("fpu.not_zero", not_zero);
}
#endif

/* For as long as two budgets, so that what follows happens in the VM's own turn. */
static void compute_past_the_budget(void)
{
    for (uint32_t n = 0; n < 10u * (FVM_CLOCK_HZ / 1000u) / 4u; n++) {
        __asm volatile("");
    }
}

/* What flips hit: calls and returns, results in registers and on the stack, sleep. */
static uint32_t tree(uint32_t depth)
{
    volatile uint32_t left = depth == 0 ? 1 : tree(depth - 1);
    return left + (depth == 0 ? 1 : tree(depth - 1));
}

static void compute_and_sleep(void)
{
    for (;;) {
        for (uint32_t i = 0; i < 20u; i++) {
            (void)tree(8);
        }
        (void)hyp_vct_wait();
    }
}

#ifdef FVM_EVT_BELL
/* xorshift32 */
static uint32_t chance(uint32_t below)
{
    uint32_t x = end[KEPT_CHANCE] == 0 ? plan[2] : end[KEPT_CHANCE];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    end[KEPT_CHANCE] = x;
    return x % below;
}

static void sleep_until(uint32_t tick)
{
    while ((int32_t)(ticks - tick) < 0) {
        (void)hyp_vct_wait();
    }
}

/* None of them comes back. */
static void commit_by_chance(void)
{
    end[KEPT_CRIMES]++;
    switch (chance(6)) {
    case 0:
        (void)*(volatile uint32_t *)(plan[1] & 0xFu);
        break;
    case 1:
        *(volatile uint32_t *)(plan[1] + 4u * chance(1024)) = 0;
        break;
    case 2:
        __asm volatile("udf #0");
        break;
    case 3:
        spin_on(plan[1] + 256u, &ticks);
        break;
    case 4:
        hyp_reboot();
    default:
        (void)hyp_wdg_clr();
        for (;;) {
        }
    }
}

static void soak(void)
{
    (void)hyp_irq_ena(USART1_LINE);
    for (;;) {
        sleep_until(ticks + 5u + chance(40));
        if (end[KEPT_QUIET] != 0) {
            continue;
        }
        switch (chance(6)) {
        case 0:
            commit_by_chance();
            break;
        case 1:
            for (uint32_t n = 1u + chance(50); n != 0; n--) {
                end[KEPT_BELLS] += hyp_evt_snd(FVM_EVT_BELL) == FVM_OK;
            }
            break;
        case 2:
            end[KEPT_FLOODS] += hyp_evt_snd(FVM_EVT_FLOOD) == FVM_OK;
            break;
        case 3:
            for (uint32_t n = chance(2000); n != 0; n--) {
                (void)virt_cycles();
            }
            break;
        case 4: {
            uint32_t until = ticks + chance(4);
            while ((int32_t)(ticks - until) < 0) {
            }
            break;
        }
        default:
            virt_int_mask(VIRT_PRIMASK);
            compute_past_the_budget();
            virt_int_unmask(VIRT_PRIMASK);
            break;
        }
    }
}
#endif

static void edit_while_parked(uint32_t crime)
{
    edit = crime;
    report("moved", park(&edit));
}

static void commit(enum crime crime)
{
    switch (crime) {
    case NONE:
        break;
    case EDIT_STACK_ASLEEP:
        edit = crime;
        while (edit != NONE) {
            (void)hyp_vct_wait();
        }
        break;
    case STACK_AND_SPIN:
        spin_on(plan[1], &ticks);
        report("back", 1);
        break;
    case RESUME:
        resume_with(plan[1]);
        report("back", 1);
        break;
    case RESUME_AT:
        (void)fvm_trap2(FVM_CALL_RESUME, plan[1], plan[2]);
        break;
    case SPIN:
        for (;;) {
        }
    case RUN:
        report("result", run_code(plan[1], plan[2], boots_so_far));
        break;
    case SCRIBBLE:
        scribbling = 1;
        (void)run_code(plan[1], plan[2], boots_so_far);
        scribbling = 0;
        report("back", 1);
        break;
    case FLIP:
        compute_and_sleep();
        break;
#ifdef FVM_EVT_BELL
    case SOAK:
        soak();
        break;
#endif
    case LINE_STORM:
        (void)hyp_irq_ena((int32_t)plan[1]);
        USART_SR = USART_SR_RXNE;
        USART_CR1 |= USART_CR1_RXNEIE;
        break;
    case RUN_IN_VCT:
        edit = crime;
        while (edit != NONE) {
            (void)hyp_vct_wait();
        }
        report("result", result);
        break;
    case STACK_AND_CALL:
        compute_past_the_budget();
        call_on(plan[1], plan[2]);
        break;
#ifdef TEST_FPU
    case READ_FPU:
        read_fpu_often();
        break;
    case FPU_STACK_SPIN:
        fill_fpu(SECRET);
        spin_on(plan[1], &ticks);
        report("back", 1);
        break;
    case CLAIM_BASIC:
        fill_fpu(SECRET);
        edit_while_parked(crime);
        break;
    case CLAIM_FPU:
    case CLAIM_FPU_AT:
        edit_while_parked(crime);
        report("foreign", foreign_in_fpu());
        break;
#endif
    default:
        edit_while_parked(crime);
        break;
    }
}

int main(void)
{
    /* Between the top of the RAM and what the crimes still need: some put frames of others there.
     */
    volatile uint32_t room[64];
    room[0] = 0;
    report_init();
    uint32_t boot = boots();
    boots_so_far = boot;
    report("boot", (int32_t)boot);
    report("fresh", initialised == SECRET && cleared == 0 && ticks == 0);
    initialised = 0;
    cleared = 1;
    for (uint32_t i = 0; i < SECRET_WORDS; i++) {
        secret[i] = SECRET | i;
    }
    int due = boot <= plan[3];
    if (plan[0] == RUN_AT_START && boot > 1 && due) {
        (void)run_code(plan[1], plan[2], 0);
    }
    (void)hyp_tick_set(1000);
    for (uint32_t next = BEAT_TICKS;;) {
        (void)hyp_vct_wait();
        if (due && ticks >= (boot == 1 ? CRIME_TICK : AGAIN_TICK)) {
            due = 0;
            commit((enum crime)plan[0]);
        }
        if (ticks >= next) {
            report("beat", (int32_t)ticks);
            next = ticks - ticks % BEAT_TICKS + BEAT_TICKS;
        }
    }
}
