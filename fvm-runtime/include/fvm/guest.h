/* Guest API: what ported code calls. Two kinds of function:
 *   hyp_*   enters the kernel (FVM paper, Table I, and ours for legacy idioms);
 *   virt_*  works on fvm_state in user mode, and enters the kernel only when an unmask finds
 *           work or a yield meets a preempted task.
 * hyp_* return FVM_OK or a negative FVM_E_* of <fvm/hypercall.h>.
 */
#ifndef FVM_GUEST_H
#define FVM_GUEST_H

#include <stdint.h>

#include <fvm/hypercall.h>
#include <fvm/state.h>

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
_Noreturn void hyp_reboot(void);    /* NVIC_SystemReset: this VM only */
int hyp_tick_set(uint32_t hz);      /* SysTick_Config: a divisor of the kernel's tick rate */
int hyp_irq_ena(int32_t phys_id);   /* NVIC_EnableIRQ of a granted line */
int hyp_irq_dis(int32_t phys_id);   /* NVIC_DisableIRQ */
int hyp_irq_done(uint32_t virt_id); /* reopen the line of a vector served earlier in this round */
int hyp_pin_set(uint32_t port, uint32_t mask, uint32_t value); /* port 0 = A; masked output write */
/* Levels of this VM's own pins of a port, 0 for the others: at the pins, and as they were set. */
int hyp_pin_get(uint32_t port);
int hyp_pin_latch(uint32_t port);
uint32_t virt_cycles(void); /* DWT->CYCCNT: processor cycles, wraps at 2^32 */

/* --- vectors --------------------------------------------------------------------------- */
/* Smaller prio is more urgent, as in the NVIC. FVM_E_ARGUMENT for a bad virt_id or NULL. */
int virt_vct_set(uint32_t virt_id, virt_handler handler, uint32_t prio, uint32_t attr);
int virt_vct_prio(uint32_t virt_id, uint32_t prio);
int virt_vct_trig(uint32_t virt_id);    /* pend in software; 0 requests a context switch */
int virt_vct_clear(uint32_t virt_id);   /* NVIC_ClearPendingIRQ of a virtual vector */
int virt_vct_pending(uint32_t virt_id); /* NVIC_GetPendingIRQ: 1 or 0 */
static inline int virt_in_vct(void) { return fvm_state.vct_act; } /* the `IPSR != 0` idiom */

/* --- masks; w is VIRT_PRIMASK or VIRT_BASEPRI, a constant ------------------------------- */
void virt_unmask_pending(void); /* slow half of unmask: int_pend was not 0 */

static inline void virt_int_mask(uint32_t w)
{
    if (w == VIRT_PRIMASK) {
        fvm_state.int_mask.byte.pri = 1;
    } else {
        fvm_state.int_mask.byte.base = 1;
    }
    __asm volatile("" ::: "memory");
}

static inline void virt_int_unmask(uint32_t w)
{
    __asm volatile("" ::: "memory");
    if (w == VIRT_PRIMASK) {
        fvm_state.int_mask.byte.pri = 0;
    } else {
        fvm_state.int_mask.byte.base = 0;
    }
    __asm volatile("" ::: "memory");
    if (fvm_state.int_pend.any != 0) { /* after the store: the kernel set it if it saw the mask */
        virt_unmask_pending();
    }
}

/* 1 if masked by w, else 0. */
static inline uint32_t virt_int_query(uint32_t w)
{
    return w == VIRT_PRIMASK ? fvm_state.int_mask.byte.pri : fvm_state.int_mask.byte.base;
}

/* Old state for virt_int_restore; masks. */
static inline uint32_t virt_int_save(uint32_t w)
{
    uint32_t old = virt_int_query(w);
    virt_int_mask(w);
    return old;
}

/* x: what virt_int_save or virt_int_query returned; any non-zero value masks. */
static inline void virt_int_restore(uint32_t w, uint32_t x)
{
    if (x != 0) {
        virt_int_mask(w);
    } else {
        virt_int_unmask(w);
    }
}

/* --- context switch -------------------------------------------------------------------- */
/* Request a context switch, as PENDSVSET does. Outside VCT and unmasked it switches at once, by
 * the cooperative path if a pick function is set, else through vector 0. */
void virt_yield(void);

/* pick: stores the stack pointer it gets where the RTOS keeps that of the running task, lets the
 * RTOS choose, and returns the stack pointer of the chosen task. It comes from the transcribed
 * switch handler, whose frame must be {r4-r11, EXC_RETURN}, above it S16-S31 when bit 4 of
 * EXC_RETURN is 0, above that the exception frame. */
void virt_yield_set(uint32_t *(*pick)(uint32_t *sp));

#endif
