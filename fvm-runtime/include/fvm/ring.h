/* A byte ring in memory that two domains share: one writes, the other reads.
 *
 * Both may start again at any time, alone and without the other's help. Each side keeps its
 * own index and its picture of the other in private memory; what it reads from shared memory
 * is masked and bounds no loop, so the worst a broken peer can do is to send rubbish.
 *
 * Epochs tell the other side that somebody started again. A new writer goes on where the old
 * one stopped and notes that place: the reader drops what the old one left, so that no half
 * record meets a new one. A new reader drops all there is.
 */
#ifndef FVM_RING_H
#define FVM_RING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start of the shared memory of one ring; the data bytes follow. */
struct fvm_ring_header {
    /* Written by the writer. */
    volatile uint32_t writer_epoch; /* one more at each start */
    volatile uint32_t start;        /* head when this epoch began */
    volatile uint32_t head;         /* next byte to be written */
    /* Written by the reader. */
    volatile uint32_t reader_epoch;
    volatile uint32_t tail; /* next byte to be read */
};

/* One side's private state. */
struct fvm_ring {
    struct fvm_ring_header *shared;
    volatile uint8_t *data;
    uint32_t mask;     /* number of data bytes, a power of two, less one */
    uint32_t position; /* own index: head or tail */
    uint32_t peer_epoch;
    uint32_t peer_starts; /* starts of the other side, seen since this side started */
    uint32_t dropped;     /* bytes: not taken for want of room, or left by an earlier epoch */
};

/* Becomes the writer or the reader of the ring in `memory`, `size` bytes, header included. The
 * largest power of two that fits is used, less one byte. Both sides must give the same size;
 * it must leave room for at least two data bytes. */
void fvm_ring_writer(struct fvm_ring *ring, volatile void *memory, uint32_t size);
void fvm_ring_reader(struct fvm_ring *ring, volatile void *memory, uint32_t size);

/* Writes all of it and returns 1, or nothing and returns 0. The reader sees it at once. */
int fvm_ring_write(struct fvm_ring *ring, const uint8_t *bytes, uint32_t length);

/* Bytes that can be written now. */
uint32_t fvm_ring_room(struct fvm_ring *ring);

/* Reads at most `size` bytes and returns how many. When peer_starts has changed after it,
 * they are the first bytes of the writer's new epoch. */
uint32_t fvm_ring_read(struct fvm_ring *ring, uint8_t *bytes, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif
