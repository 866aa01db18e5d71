/* The virtual vectors of this VM: who registers them and who runs them share this. */
#ifndef FVM_GUEST_VECTORS_H
#define FVM_GUEST_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include <fvm/guest.h>
#include <fvm/split.h>

struct vector {
    virt_handler handler;
    uint32_t order; /* smaller runs first; no two are equal */
    uint8_t transparent;
    uint8_t acknowledge;     /* the kernel waits to hear that it was served */
    uint8_t disabled;        /* of a line: until hyp_irq_ena */
    struct fvm_split *split; /* of a line that a process serves first, or NULL */
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
