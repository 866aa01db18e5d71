/* An interrupt in three sections: the kernel's stub, a mid-section in a native process, the handler
 * in the VM.
 *
 * The mid-section does what is lost when it comes late: it reads the registers that the next
 * interrupt overwrites, and acknowledges. What it read is a record, an array of 32-bit words. The
 * VM's handler runs once a record, in order, with the record in place of the registers. Both ends
 * may start again alone; the shared memory is trusted by neither.
 */
#ifndef FVM_SPLIT_H
#define FVM_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include <fvm/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FVM_SPLIT_WORDS 8u  /* fields of a record at most */
#define FVM_SPLIT_COUNTS 4u /* things that a mid-section counts at most */

/* What happens to a record. One whose interrupt only the VM can serve is always posted. For a VM
 * that pended its vector in software FVM_POSTPONE is FVM_POST, and FVM_DROP posts a record of
 * zeros: the handler has to run, and learns nothing of what was dropped. */
enum fvm_verdict {
    FVM_POST,     /* kept, and the VM is woken */
    FVM_POSTPONE, /* kept: the VM finds it when it is woken for another one */
    FVM_DROP,     /* forgotten */
};

/* Start of the shared memory; the ring with the records follows. The process writes all but the
 * last word; the VM clears the first one and sends an event when it has served all records. */
struct fvm_split_block {
    volatile uint32_t waiting;   /* 1: the line is closed until the VM says that it is done */
    volatile uint32_t records;   /* captured, since the process started */
    volatile uint32_t posted;    /* events sent to the VM */
    volatile uint32_t postponed; /* records kept without an event */
    volatile uint32_t dropped;   /* by the policy */
    volatile uint32_t lost;      /* because the VM changed what only the process may */
    volatile uint32_t count[FVM_SPLIT_COUNTS]; /* as the description names them */
    volatile uint32_t asked; /* 1: the VM pended its vector in software and must be woken */
};

/* --- the process ------------------------------------------------------------------------ */
struct fvm_split_section {
    uint32_t signal, done, post; /* capabilities of the line, <IRQ>_DONE and <IRQ>_POST */
    volatile void *memory;       /* shared with the VM */
    uint32_t size;               /* of it, bytes */
    uint32_t words;              /* fields of a record, at most FVM_SPLIT_WORDS */
    /* Reads and acknowledges; true if the cause of the interrupt is gone by that. */
    bool (*capture)(uint32_t *record);
    /* What to do with the record; NULL posts every one. */
    enum fvm_verdict (*judge)(const uint32_t *record, bool consumed);
    /* Records are counted whose word `field` has one of `bits`; no bits: unused. */
    struct fvm_split_count {
        uint32_t field, bits;
    } count[FVM_SPLIT_COUNTS];
};

/* The thread of a mid-section. */
__attribute__((noreturn)) void fvm_split_run(const struct fvm_split_section *section);

/* --- the VM ------------------------------------------------------------------------------- */
struct fvm_split {
    struct fvm_ring ring;
    struct fvm_split_block *block;
    uint32_t done, pend; /* events */
};

/* From the generated start-up, when the VM may send both events: the records of `virt_id` come
 * through `memory`. Like any line, it is disabled until hyp_irq_ena. */
void fvm_split_attach(struct fvm_split *split, uint32_t virt_id, volatile void *memory,
                      uint32_t size, uint32_t done_event, uint32_t pend_event);

/* 1 and the next record, `words` as many as the section's; 0 when all are served. */
int fvm_split_take(struct fvm_split *split, uint32_t *record, uint32_t words);

#ifdef __cplusplus
}
#endif

#endif
