/* Guest API: what ported code calls. Two kinds of function:
 *   hyp_*   enters the kernel (FVM paper, Table I, and ours for legacy idioms);
 *   virt_*  works on fvm_state in user mode, and enters the kernel only when an unmask finds
 *           work or a yield meets a preempted task.
 * hyp_* return FVM_OK or a negative FVM_E_* of <fvm/hypercall.h>.
 */
#ifndef FVM_GUEST_H
#define FVM_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include <fvm/hypercall.h>
#include <fvm/near.h>
#include <fvm/state.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*virt_handler)(void);

/* virt_vct_set attr: maskable vectors are held by VIRT_BASEPRI, transparent ones are not. */
#define VIRT_MASKABLE 0u
#define VIRT_TRANSPARENT 1u

/* The two masks of the machine, as constants for the w parameter below. */
#define VIRT_BASEPRI 1u
#define VIRT_PRIMASK 2u

/* --- hypercalls ------------------------------------------------------------------------ */
int hyp_int_ena(void);
int hyp_int_dis(void);
int hyp_vct_phys(uint32_t phys_id, uint32_t virt_id);
int hyp_vct_evt(uint32_t evt_id, uint32_t virt_id);
int hyp_evt_add(uint32_t evt_id);
int hyp_vct_lck(void);
int hyp_vct_wait(void); /* from USR: WFI; returns when a vector was pended since the last wait */
int hyp_evt_snd(uint32_t evt_id);
int hyp_wdg_clr(void);
__attribute__((noreturn)) void hyp_reboot(void); /* NVIC_SystemReset: this VM only */
int hyp_tick_set(uint32_t hz);      /* SysTick_Config: a divisor of the kernel's tick rate */
int hyp_irq_ena(int32_t phys_id);   /* NVIC_EnableIRQ of a granted line */
int hyp_irq_dis(int32_t phys_id);   /* NVIC_DisableIRQ */
int hyp_irq_done(uint32_t virt_id); /* reopen the line of a vector served earlier in this round */
int hyp_pin_set(uint32_t port, uint32_t mask, uint32_t value); /* port 0 = A; masked output write */
/* Levels of this VM's own pins of a port, 0 for the others: at the pins, and as they were set. */
int hyp_pin_get(uint32_t port);
int hyp_pin_latch(uint32_t port);
/* A write to BSRR (RM0090, 8.4.7): the upper half names pins to reset, the lower those to set,
 * which wins. */
static inline int hyp_pin_write(uint32_t port, uint32_t reset_set)
{
    return hyp_pin_set(port, (reset_set | reset_set >> 16) & 0xFFFFu, reset_set & 0xFFFFu);
}
static inline int hyp_pin_toggle(uint32_t port, uint32_t mask) /* a write of ODR ^ mask to ODR */
{
    return hyp_pin_set(port, mask, ~(uint32_t)hyp_pin_latch(port));
}
/* ITM_SendChar: a character for the system's log, where the VM's lines stand as `fvm: text`. Needs
 * log="write" in the description: else FVM_E_OWNER, or FVM_E_CALL where no VM has it. Never waits:
 * FVM_E_BUSY when 256 characters wait for the log, which takes 16 a kernel tick at most and says
 * how many it missed. */
int hyp_putc(int character);
uint32_t virt_cycles(void); /* DWT->CYCCNT: processor cycles, wraps at 2^32 */
/* SCB->CPACR: full access to CP10 and CP11 where the domain was granted the FPU, else none. */
uint32_t virt_cpacr(void);

/* --- vectors --------------------------------------------------------------------------- */
/* Smaller prio is more urgent, as in the NVIC. FVM_E_ARGUMENT for a bad virt_id or NULL. */
int virt_vct_set(uint32_t virt_id, virt_handler handler, uint32_t prio, uint32_t attr);
int virt_vct_prio(uint32_t virt_id, uint32_t prio);
int virt_vct_trig(uint32_t virt_id);    /* pend in software; 0 requests a context switch */
int virt_vct_clear(uint32_t virt_id);   /* NVIC_ClearPendingIRQ of a virtual vector */
int virt_vct_pending(uint32_t virt_id); /* NVIC_GetPendingIRQ: 1 or 0 */
static inline int virt_in_vct(void) { return fvm_state.vct_act; } /* the `IPSR != 0` idiom */
int virt_in_svc(void); /* `IPSR == 11`: 1 while the handler of FVM_VIRT_SVC runs, else 0 */

/* CONTROL.nPRIV: what code writes there it reads again, and a machine's code has the rights that
 * it has. Bit 0 of `control` counts; outside of handlers a write is lost while the bit is set. */
void virt_npriv_set(uint32_t control);
uint32_t virt_npriv(void);

/* `svc #number`: FVM_VIRT_SVC is served before it returns, unless VIRT_PRIMASK holds it. */
void virt_svc(uint32_t number);

/* `svc 0` in C that hands over r0-r3 and r12, for asm statements alone: `bl virt_svc_call` keeps
 * all registers but lr, and r0-r3 are what FVM_VIRT_SVC's handler leaves in the caller's frame. In
 * a handler or under VIRT_PRIMASK it is a fault, as on the machine. */
void virt_svc_call(void);

/* For that handler: calls the function at an address with four words. */
static inline uint32_t virt_service(uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3,
                                    uint32_t function)
{
    return ((uint32_t(*)(uint32_t, uint32_t, uint32_t, uint32_t))function)(r0, r1, r2, r3);
}

#ifdef __arm__
/* The same, and what the function leaves in r1 to r3: half of a long result, or anything. NULL for
 * what nobody wants. The procedure call standard has four words of a vector in r0 to r3. */
typedef uint32_t virt_words __attribute__((vector_size(16)));
typedef virt_words virt_leaves(uint32_t, uint32_t, uint32_t, uint32_t)
    __attribute__((pcs("aapcs")));
static inline uint32_t virt_service_left(uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3,
                                         uint32_t function, uint32_t *left1, uint32_t *left2,
                                         uint32_t *left3)
{
    virt_words left = ((virt_leaves *)function)(r0, r1, r2, r3);
    uint32_t *const wanted[] = {left1, left2, left3};
    for (uint32_t i = 0; i < 3; i++) {
        if (wanted[i] != NULL) {
            *wanted[i] = left[i + 1];
        }
    }
    return left[0];
}
#endif

/* Has VCT run resume() once, as a supervisor call's handler: at once, or when VIRT_PRIMASK is
 * opened, before the tick and a requested switch. For what sets USR_REG to start the first task:
 * USR goes on with what it leaves there. The handler of FVM_VIRT_SVC serves the calls behind it. */
void virt_vct_once(virt_handler resume);

/* For virt_svc()'s handler: a copy of the exception frame of the code that called, as a handler on
 * the machine finds it at PSP or MSP. Two bytes in front of its PC is the number; what is written
 * to the copy is lost. */
uint32_t *virt_svc_frame(void);

/* --- SysTick, polled (ARMv7-M ARM, B3.3) ----------------------------------------------- */
/* Its registers for code that runs without its interrupt, kept by virt_cycles(). LOAD comes with
 * the old core's clock, for which the code was written, and this one's, FVM_CLOCK_HZ; both the same
 * where LOAD is calculated from what SystemCoreClock is now. With CLKSOURCE clear it counts an
 * eighth of that, as on STM32. Between two looks at it less than 2^32 cycles may pass. */
void virt_systick_set_load(uint32_t load, uint32_t old_hz, uint32_t hz);
void virt_systick_set_val(uint32_t ignored); /* clears it, and COUNTFLAG */
void virt_systick_set_ctrl(uint32_t ctrl);
uint32_t virt_systick_ctrl(void); /* clears COUNTFLAG */
uint32_t virt_systick_load(void);
uint32_t virt_systick_val(void);
/* CTRL where SysTick makes the tick, tick_hz a second: COUNTFLAG is set once a period, which isn't
 * the one that the tick's handler sees. */
uint32_t virt_tick_ctrl(uint32_t tick_hz, uint32_t hz);

/* --- SCB->AIRCR's PRIGROUP, which groups nothing here ----------------------------------- */
void virt_aircr_set(uint32_t value); /* ignored without the key, 0x05FA */
uint32_t virt_aircr(void);           /* as it was set; 0 before, as after reset */

/* --- masks; w is VIRT_PRIMASK or VIRT_BASEPRI, a constant ------------------------------- */
/* Address of fvm_state.task_switch, hidden from the compiler, so that a function that masks or
 * unmasks has it in a register once: all that is needed is near it, and its lowest byte is never 0,
 * which makes it the mark of a mask or a yield. */
static inline struct fvm_switch *virt_here(void)
{
    struct fvm_switch *here = &fvm_state.task_switch;
    __asm("" : "+r"(here));
    return here;
}

static inline struct fvm_state *virt_state(struct fvm_switch *here)
{
    return (struct fvm_state *)(void *)((char *)here - offsetof(struct fvm_state, task_switch));
}

static inline volatile uint8_t *virt_mask_byte(struct fvm_switch *here, uint32_t w)
{
    struct fvm_state *state = virt_state(here);
    return w == VIRT_PRIMASK ? &state->int_mask.byte.pri : &state->int_mask.byte.base;
}

void virt_unmask_pending(struct fvm_switch *here); /* slow half of unmask: int_pend was not 0 */

static inline void virt_int_mask(uint32_t w)
{
    struct fvm_switch *here = virt_here();
    fvm_store_low_byte(virt_mask_byte(here, w), here);
}

static inline void virt_int_unmask(uint32_t w)
{
    struct fvm_switch *here = virt_here();
    __asm volatile("" ::: "memory");
    *virt_mask_byte(here, w) = 0;
    __asm volatile("" ::: "memory");
    /* after the store: the kernel set it if it saw the mask */
    if (__builtin_expect(virt_state(here)->int_pend.any != 0, 0)) {
        virt_unmask_pending(here);
    }
}

/* 1 if masked by w, else 0. */
static inline uint32_t virt_int_query(uint32_t w)
{
    uint32_t mark = fvm_load_byte(virt_mask_byte(virt_here(), w));
    return w == VIRT_PRIMASK ? mark / FVM_MASK_MARK & 1u : mark != 0;
}

/* Not 0 if masked by w, for who asks for no more and gives it back to virt_int_restore. */
static inline uint32_t virt_int_level(uint32_t w)
{
    return w == VIRT_PRIMASK ? virt_int_query(w) : fvm_load_byte(virt_mask_byte(virt_here(), w));
}

/* Old state for virt_int_restore, 1 or 0 as virt_int_query's: legacy code asks for bit 0 of
 * PRIMASK, or compares it with 1. Masks. */
static inline uint32_t virt_int_save(uint32_t w)
{
    uint32_t old = virt_int_query(w);
    virt_int_mask(w);
    return old;
}

/* BASEPRI := x while VIRT_PRIMASK is set: the unmask of that looks for what may come now. */
static inline void virt_int_set_base(uint32_t x)
{
    fvm_store_low_byte(virt_mask_byte(virt_here(), VIRT_BASEPRI), (const void *)x);
}

/* x: what virt_int_save or virt_int_query returned. As in the registers, bit 0 counts of PRIMASK
 * (legacy code keeps marks of its own beside it), the lowest eight of BASEPRI. */
static inline void virt_int_restore(uint32_t w, uint32_t x)
{
    if (w == VIRT_BASEPRI) {
        struct fvm_switch *here = virt_here();
        fvm_store_low_byte(virt_mask_byte(here, w), (const void *)x); /* less than a condition */
        if (__builtin_expect(virt_state(here)->int_pend.any != 0, 0) && x << 24 == 0) {
            virt_unmask_pending(here);
        }
    } else if ((x & 1) != 0) {
        virt_int_mask(w);
    } else {
        virt_int_unmask(w);
    }
}

/* --- context switch -------------------------------------------------------------------- */
void guest_switch(struct fvm_switch *here); /* the switch itself: USR, unmasked */

/* Request a context switch, as PENDSVSET does. Outside VCT and unmasked it switches at once: in
 * user mode if one of the following was called or stands in the project, else by the handler of
 * vector 0. Otherwise the unmask switches, or VCT when its handlers are done. */
static inline void virt_yield(void)
{
    struct fvm_switch *here = &fvm_state.task_switch;
    __asm volatile("" : "+r"(here)); /* loaded where it is needed: no register is worth it */
    if (virt_state(here)->busy == 0) {
        guest_switch(here);
    } else {
        fvm_store_low_byte(&virt_state(here)->int_pend.byte.yield, here);
    }
}

/* A task that doesn't run has {r4-r11, EXC_RETURN} at its saved stack pointer, above it S16-S31
 * when bit 4 of EXC_RETURN is 0, above that the exception frame. The first word of a task's control
 * block is its saved stack pointer. `task` is where the RTOS keeps the pointer to the running
 * task's block; choose() lets it change that, or the word that it points to. `name` is the name of
 * the task that runs, if names lie in the control blocks, or NULL; faults show it. */
void virt_yield_task(void *volatile *task, void (*choose)(void), const char *name);

/* The same where the RTOS keeps the running task's saved stack pointer itself, in `sp`. */
void virt_yield_stack(void *volatile *sp, void (*choose)(void));

/* After one of them: what a task that doesn't run has is {r4-r11} and above it the exception frame,
 * without EXC_RETURN, as RTOSes for cores without FPU have it. In a VM with FPU such an RTOS goes
 * on to switch by vector 0. */
void virt_yield_short_frames(void);

/* For a handler of vector 0 that waits until a task is ready, on ARMv7-M. virt_idle(): nobody is,
 * so USR goes on in a context of the library's, which requests the switch again whenever a handler
 * has run. virt_idles(): 1 in the handler if it was that context which requested the switch, or was
 * interrupted: none of its registers is worth keeping. */
void virt_idle(void);
int virt_idles(void);

/* VIRT_YIELD_HANDLER(handler); at file scope, for any other RTOS, on ARMv7-M: a yield is `handler`,
 * that of vector 0, in user mode. It runs as it does in VCT: on VCT's stack, with virt_in_vct() and
 * under VIRT_PRIMASK, which it must leave set. Its USR_REG is the task that yields, with an
 * exception frame on its stack, and then the one that runs next. Of several the linker takes one;
 * if that isn't vector 0's, VCT switches. */
#define VIRT_YIELD_HANDLER(handler)                                                                \
    const struct virt_yield_handler virt_yield_handler = {(handler), guest_choose_by_handler,      \
                                                          guest_enter_handler, NULL, NULL}
/* VIRT_YIELD_OVER(handler, sp, choose, frames); at file scope: virt_yield_stack(&sp, choose), and
 * frames() if it isn't NULL but virt_yield_short_frames, while `handler` is that of vector 0. */
#define VIRT_YIELD_OVER(handler, sp, choose, frames)                                               \
    const struct virt_yield_handler virt_yield_handler = {(handler), (choose), NULL, &(sp),        \
                                                          (frames)}
struct virt_yield_handler {
    virt_handler handler;
    void (*choose)(void), (*enter)(void); /* the library's, linked where a project says this */
    void *volatile *sp;                   /* NULL: by the handler */
    void (*frames)(void);
};
extern const struct virt_yield_handler virt_yield_handler __attribute__((weak));
void guest_choose_by_handler(void);
void guest_enter_handler(void);

#ifdef __cplusplus
}
#endif

#endif
