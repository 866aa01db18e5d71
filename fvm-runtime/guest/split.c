/* The VM's end of a three-section interrupt. See fvm/split.h. */
#include <fvm/guest.h>
#include <fvm/split.h>

#include "call.h"

static void served(const struct fvm_split *split)
{
    split->block->waiting = 0;
    (void)hyp_evt_snd(split->done);
}

void fvm_split_attach(struct fvm_split *split, uint32_t virt_id, volatile void *memory,
                      uint32_t size, uint32_t done_event, uint32_t pend_event)
{
    struct fvm_split_block *block = (struct fvm_split_block *)(uintptr_t)memory;
    split->block = block;
    split->done = done_event;
    split->pend = pend_event;
    fvm_ring_reader(&split->ring, block + 1, size - sizeof *block);
    guest_vector_split(virt_id, split);
    served(split); /* for the VM as it was before it started, whatever that left in the memory */
}

int fvm_split_take(struct fvm_split *split, uint32_t *record, uint32_t words)
{
    uint32_t waiting = split->block->waiting; /* before the look: the last record may come now */
    uint32_t size = words * sizeof *record;
    if (fvm_ring_read(&split->ring, (uint8_t *)record, size) == size) {
        return 1;
    }
    if (waiting != 0) {
        served(split);
    }
    return 0;
}
