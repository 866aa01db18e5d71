/* The byte ring between two domains. See fvm/ring.h for the protocol. */
#include <fvm/ring.h>

/* Keeps data and index in order for the other domain, which runs on the same processor or, one
 * day, beside a bus master. */
static void publish(volatile uint32_t *field, uint32_t value)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *field = value;
}

static uint32_t observe(const volatile uint32_t *field)
{
    uint32_t value = *field;

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return value;
}

static void attach(struct fvm_ring *ring, volatile void *memory, uint32_t size)
{
    uint32_t capacity = 2;

    while (capacity <= (size - sizeof(struct fvm_ring_header)) / 2) {
        capacity *= 2;
    }
    ring->shared = (struct fvm_ring_header *)(uintptr_t)memory;
    ring->data = (volatile uint8_t *)memory + sizeof(struct fvm_ring_header);
    ring->mask = capacity - 1;
    ring->peer_starts = 0;
    ring->dropped = 0;
}

static int peer_started(struct fvm_ring *ring, const volatile uint32_t *epoch)
{
    uint32_t now = observe(epoch);

    if (now == ring->peer_epoch) {
        return 0;
    }
    ring->peer_epoch = now;
    ring->peer_starts++;
    return 1;
}

void fvm_ring_writer(struct fvm_ring *ring, volatile void *memory, uint32_t size)
{
    attach(ring, memory, size);
    ring->position = ring->shared->head & ring->mask;
    ring->peer_epoch = ring->shared->reader_epoch;
    ring->shared->head = ring->position;
    ring->shared->start = ring->position;
    publish(&ring->shared->writer_epoch, ring->shared->writer_epoch + 1);
}

void fvm_ring_reader(struct fvm_ring *ring, volatile void *memory, uint32_t size)
{
    attach(ring, memory, size);
    ring->peer_epoch = observe(&ring->shared->writer_epoch);
    ring->position = observe(&ring->shared->head) & ring->mask;
    if (peer_started(ring, &ring->shared->writer_epoch)) {
        /* Both start at once: the head may be behind bytes that the new epoch wrote. */
        ring->position = ring->shared->start & ring->mask;
    }
    ring->dropped = (ring->position - ring->shared->tail) & ring->mask;
    ring->shared->tail = ring->position;
    publish(&ring->shared->reader_epoch, ring->shared->reader_epoch + 1);
}

uint32_t fvm_ring_room(struct fvm_ring *ring)
{
    (void)peer_started(ring, &ring->shared->reader_epoch);
    return (observe(&ring->shared->tail) - ring->position - 1) & ring->mask;
}

int fvm_ring_write(struct fvm_ring *ring, const uint8_t *bytes, uint32_t length)
{
    if (length > fvm_ring_room(ring)) {
        ring->dropped += length;
        return 0;
    }
    for (uint32_t i = 0; i < length; i++) {
        ring->data[(ring->position + i) & ring->mask] = bytes[i];
    }
    ring->position = (ring->position + length) & ring->mask;
    publish(&ring->shared->head, ring->position);
    return 1;
}

uint32_t fvm_ring_read(struct fvm_ring *ring, uint8_t *bytes, uint32_t size)
{
    uint32_t count;

    if (peer_started(ring, &ring->shared->writer_epoch)) {
        uint32_t start = ring->shared->start & ring->mask;

        ring->dropped += (start - ring->position) & ring->mask;
        ring->position = start;
    }
    count = (observe(&ring->shared->head) - ring->position) & ring->mask;
    if (observe(&ring->shared->writer_epoch) != ring->peer_epoch) {
        return 0; /* the head may be behind bytes of a new epoch: the next read sees to it */
    }
    if (count > size) {
        count = size;
    }
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = ring->data[(ring->position + i) & ring->mask];
    }
    ring->position = (ring->position + count) & ring->mask;
    publish(&ring->shared->tail, ring->position);
    return count;
}
