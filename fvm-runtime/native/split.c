/* The mid-section's thread: waits for the line, captures, hands over. See fvm/split.h.
 *
 * The line is closed by the stub and opens when this thread waits for its signal again. If the
 * capture consumed the cause, that is at once. If not, the cause is one that only the VM can
 * remove, and the line would fire for ever: then the thread first waits for the VM.
 */
#include <stddef.h>
#include <string.h>

#include <fvm/native.h>
#include <fvm/split.h>

static void count(const struct fvm_split_section *section, const uint32_t *record,
                  struct fvm_split_block *block)
{
    block->records++;
    for (uint32_t i = 0; i < FVM_SPLIT_COUNTS; i++) {
        const struct fvm_split_count *what = &section->count[i];
        if ((record[what->field] & what->bits) != 0) {
            block->count[i]++;
        }
    }
}

/* A record of a VM that asked, or that alone can serve the cause, may not be postponed. */
static enum fvm_verdict judge(const struct fvm_split_section *section, const uint32_t *record,
                              bool consumed, bool asked)
{
    enum fvm_verdict verdict = FVM_POST;
    if (section->judge != NULL) {
        verdict = section->judge(record, consumed);
    }
    if (!consumed || (asked && verdict == FVM_POSTPONE)) {
        verdict = FVM_POST;
    }
    return verdict;
}

/* Wakes the VM, and waits until it has served all there is. An event that it sent before, as it
 * does when it starts, ends no wait. */
static void hand_over(const struct fvm_split_section *section, struct fvm_split_block *block)
{
    block->waiting = 1;
    block->posted++;
    (void)fvm_event_send(section->post); /* a VM that starts looks when it attaches */
    do {
        (void)fvm_signal_wait(section->done);
    } while (block->waiting != 0);
}

_Noreturn void fvm_split_run(const struct fvm_split_section *section)
{
    struct fvm_split_block *block = (struct fvm_split_block *)(uintptr_t)section->memory;
    uint32_t size = section->words * sizeof(uint32_t);
    struct fvm_ring ring;
    memset(block, 0, sizeof *block);
    fvm_ring_writer(&ring, block + 1, section->size - sizeof *block);
    for (;;) {
        /* no VM runs before this wait: so whatever it writes, an interrupt is one capture */
        (void)fvm_signal_wait(section->signal);
        if (fvm_ring_room(&ring) < size) {
            hand_over(section, block); /* what isn't read can still be held back by the sender */
        }
        bool asked = block->asked != 0;
        block->asked = 0;
        uint32_t record[FVM_SPLIT_WORDS] = {0};
        bool consumed = section->capture(record);
        count(section, record, block);
        enum fvm_verdict verdict = judge(section, record, consumed, asked);
        if (verdict == FVM_DROP) {
            block->dropped++;
            if (!asked) {
                continue;
            }
            memset(record, 0, sizeof record); /* woken, but not told what was dropped */
        }
        if (!fvm_ring_write(&ring, (const uint8_t *)record, size)) {
            block->lost++; /* only where the VM made a mess of the ring */
        }
        if (!consumed) {
            hand_over(section, block);
        } else if (verdict == FVM_POSTPONE) {
            block->postponed++;
        } else {
            block->posted++;
            (void)fvm_event_send(section->post);
        }
    }
}
