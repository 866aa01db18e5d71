/* fvm_state: the block that a VM and the kernel share, at the start of the VM's RAM.
 *
 * The guest may write every byte of it at any time, so the kernel reads only `int_mask`, `USR_REG`
 * (sanitised on use) and, for a fault record, the name of the running task, writes
 * `int_pend.vector`, `int_mask.pri` (resume call), `pending[]` and `pending_group[]`, and bases no
 * right on any of them. The offsets are ABI: kernel/tables and the generated linker scripts rely on
 * them.
 */
#ifndef FVM_STATE_H
#define FVM_STATE_H

#include <stdint.h>

#include <fvm/usr_reg.h>

#define FVM_VECTORS_MAX 64u
#define FVM_VECTOR_GROUP 8u /* vectors that share a byte of pending_group */

/* Virtual vectors that every VM has; interrupts follow in description order, then events. */
#define FVM_VIRT_SWITCH 0u /* context switch (PendSV): served last; pending is int_pend.yield */
#define FVM_VIRT_TICK 1u   /* system tick (SysTick): served last but one */
#define FVM_VIRT_SVC 2u    /* legacy supervisor call: served before the tick */
#define FVM_VIRT_FIRST 3u

/* Both bytes are read by the kernel as one halfword; each is set and cleared alone, no nesting.
 * What sets `pri` is the lowest byte of task_switch's address, in which the bit of FVM_MASK_MARK is
 * set: that bit is what is asked for. `base` may have any value. */
#define FVM_MASK_MARK 16u
union fvm_int_mask {
    volatile uint16_t both;
    struct {
        volatile uint8_t pri;  /* not 0: every vector is held (PRIMASK) */
        volatile uint8_t base; /* not 0: maskable vectors are held (BASEPRI) */
    } byte;
};

/* What an unmask looks at, as one word. */
union fvm_int_pend {
    volatile uint32_t any;
    struct {
        volatile uint8_t vector; /* 1: VCT has to look: a vector that a mask held back is pending */
        volatile uint8_t yield;  /* not 0: a switch was asked for and waits for a mask or for VCT */
        uint8_t zero[2];
    } byte;
};

#define FVM_FRAMES_LIBRARY 0u
#define FVM_FRAMES_SHORT 1u   /* virt_yield_short_frames */
#define FVM_FRAMES_HANDLER 2u /* VIRT_YIELD_HANDLER */

/* How the guest switches tasks. Its library sets it; see virt_yield_task in <fvm/guest.h>. */
struct fvm_switch {
    void *volatile *task; /* where the RTOS keeps the pointer to the running task's control block */
    void (*choose)(void); /* lets the RTOS change it */
    struct fvm_switch *self;
    uint32_t name; /* offset of the task's name in its control block, or 0 */
};

struct fvm_state {
    union {
        volatile uint32_t busy; /* 0: USR runs, unmasked */
        struct {
            volatile uint8_t vct_act; /* 1 while VCT runs handlers */
            uint8_t zero;
            union fvm_int_mask int_mask;
        };
    };
    union fvm_int_pend int_pend;
    const char *volatile task_name; /* name of the running guest task; NULL: see task_switch */
    volatile uint8_t int_ena;       /* 1 after hyp_int_ena; the kernel has its own copy */
    uint8_t frames;                 /* of a yield: FVM_FRAMES_... */
    uint8_t reserved[2];
    struct fvm_switch task_switch;
    struct fvm_usr_reg usr_reg;
    /* Bytes, stores only. Byte g of the first is 1 if some of pending[8g] to pending[8g + 7] may be
     * set: who pends a vector stores its own byte first, VCT clears the group's before it looks. */
    volatile uint8_t pending_group[FVM_VECTORS_MAX / FVM_VECTOR_GROUP];
    volatile uint8_t pending[FVM_VECTORS_MAX];
} __attribute__((aligned(32)));

/* A word and half of one in the guest's memory, whatever type its own C has for them. What `port`
 * writes stands in one file with that C, and to a compiler objects of two types are two objects. */
typedef uint32_t __attribute__((may_alias)) fvm_word;
typedef uint16_t __attribute__((may_alias)) fvm_half;

extern struct fvm_state fvm_state; /* placed by the generated linker script */

#endif
