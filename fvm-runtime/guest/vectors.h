/* The virtual vectors of this VM: who registers them and who runs them share this. Vector 0, the
 * context switch, is pending while fvm_state.int_pend.byte.yield isn't 0. */
#ifndef FVM_GUEST_VECTORS_H
#define FVM_GUEST_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include <fvm/guest.h>
#include <fvm/split.h>

/* What VCT calls, or NULL: not registered, or disabled. That of the switch is never NULL. */
extern virt_handler vector_run[FVM_VECTORS_MAX];

/* Its virt_id if the kernel waits to hear that the vector was served, else NOT_ACKNOWLEDGED, or 0
 * while it isn't registered. */
extern int8_t vector_served[FVM_VECTORS_MAX];
#define NOT_ACKNOWLEDGED (-1)

struct vector {
    virt_handler handler;
    struct fvm_split *split; /* of a line that a process serves first, or NULL */
    uint16_t urgency;        /* smaller runs first; of equal ones that with the smaller virt_id */
    uint8_t transparent;
    uint8_t disabled; /* of a line: until hyp_irq_ena */
};

extern struct vector vector[FVM_VECTORS_MAX];

static inline void vector_pend(uint32_t virt_id)
{
    fvm_state.pending[virt_id] = 1;
    fvm_state.pending_group[virt_id / FVM_VECTOR_GROUP] = 1;
}

static inline bool vector_held(uint32_t virt_id)
{
    return (vector[virt_id].transparent ? fvm_state.int_mask.byte.pri : fvm_state.int_mask.both) !=
           0;
}

#endif
