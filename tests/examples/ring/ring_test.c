/* Exercises fvm/ring.h on a simulated Cortex-M4. Exit code 0, or the line of the check that
 * failed. */
#include <fvm/ring.h>

#define SIZE 64u /* header and 32 data bytes, of which 31 can be used */
#define CAPACITY 31u

static uint32_t memory[SIZE / 4u + 1u]; /* the last word must stay as it is */
#define CANARY 0x5AFE5AFEu

static struct fvm_ring writer, reader;
static uint32_t random_state;

extern char _estack[];
void start(void);

__attribute__((used, section(".vectors"))) static const void *const vectors[] = {_estack,
                                                                                 (void *)start};

static _Noreturn void finish(uint32_t code)
{
    uint32_t block[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, code};
    register uint32_t operation __asm("r0") = 0x20u; /* SYS_EXIT_EXTENDED */
    register uint32_t *argument __asm("r1") = block;

    __asm volatile("bkpt 0xAB" : : "r"(operation), "r"(argument) : "memory");
    for (;;) {
    }
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            finish(__LINE__);                                                                      \
        }                                                                                          \
    } while (0)

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* Fills the memory as power-on may leave it and starts both sides. */
static void begin(uint32_t fill)
{
    for (uint32_t i = 0; i < SIZE / 4u; i++) {
        memory[i] = fill;
    }
    memory[SIZE / 4u] = CANARY;
    fvm_ring_writer(&writer, memory, SIZE);
    fvm_ring_reader(&reader, memory, SIZE);
}

static int put(uint8_t first, uint32_t count)
{
    uint8_t bytes[CAPACITY + 1u];

    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(first + i);
    }
    return fvm_ring_write(&writer, bytes, count);
}

/* Reads `count` bytes and checks that they go on from `first`. */
static void take(uint8_t first, uint32_t count)
{
    uint8_t bytes[CAPACITY + 1u];

    CHECK(fvm_ring_read(&reader, bytes, count) == count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(bytes[i] == (uint8_t)(first + i));
    }
}

static void all_or_nothing(void)
{
    uint8_t byte;

    begin(0xFFFFFFFFu);
    CHECK(put(0, CAPACITY + 1u) == 0);
    CHECK(writer.dropped == CAPACITY + 1u);
    CHECK(fvm_ring_read(&reader, &byte, 1) == 0);
    CHECK(put(1, CAPACITY) == 1);
    CHECK(put(0, 1) == 0);
    take(1, 30);
    CHECK(put(32, 30) == 1);
    take(31, 31);
    CHECK(fvm_ring_read(&reader, &byte, 1) == 0);
    CHECK(reader.dropped == 0);
}

/* What the old writer left goes, what the new one writes stays, even if the reader looks late. */
static void writer_restarts(void)
{
    begin(0);
    CHECK(put(10, 5));
    take(10, 2);
    fvm_ring_writer(&writer, memory, SIZE);
    CHECK(put(100, 7));
    take(100, 7);
    CHECK(reader.peer_starts == 1);
    CHECK(reader.dropped == 3);

    /* Twice before the reader looks: still only the last epoch. */
    CHECK(put(1, 4));
    fvm_ring_writer(&writer, memory, SIZE);
    CHECK(put(50, 4));
    fvm_ring_writer(&writer, memory, SIZE);
    CHECK(put(200, 4));
    take(200, 4);
    CHECK(reader.dropped == 3 + 8);
}

/* A new reader leaves what it finds and gets all that comes; the writer just goes on. */
static void reader_restarts(void)
{
    begin(0);
    CHECK(put(10, CAPACITY));
    CHECK(put(0, 1) == 0);
    fvm_ring_reader(&reader, memory, SIZE);
    CHECK(reader.dropped == CAPACITY);
    CHECK(put(60, CAPACITY));
    CHECK(writer.peer_starts == 2);
    take(60, CAPACITY);
    CHECK(reader.peer_starts == 0);
}

/* Any word of the header may hold anything: the calls end, write inside the memory only and
 * give at most what was asked for. */
static void broken_peer(void)
{
    uint8_t bytes[CAPACITY + 1u];

    begin(0);
    for (uint32_t i = 0; i < 20000; i++) {
        volatile uint32_t *word = (volatile uint32_t *)memory + random_below(5);
        uint32_t size = random_below(sizeof bytes + 1u);

        *word = random_below(2) ? random_state : random_below(64);
        (void)fvm_ring_write(&writer, bytes, random_below(sizeof bytes + 1u));
        CHECK(fvm_ring_read(&reader, bytes, size) <= size);
        CHECK(writer.position <= writer.mask && reader.position <= reader.mask);
        CHECK(memory[SIZE / 4u] == CANARY);
    }
    /* Once the peer is sound again, so is the ring. */
    fvm_ring_writer(&writer, memory, SIZE);
    fvm_ring_reader(&reader, memory, SIZE);
    CHECK(put(7, 9));
    take(7, 9);
}

/* Random lengths and restarts against a model: bytes come in order, none twice; without a
 * restart none is missing. */
static void random_traffic(void)
{
    uint8_t next_put = 0, next_take = 0;

    begin(0x12345678u);
    for (uint32_t i = 0; i < 50000; i++) {
        uint32_t choice = random_below(100);

        if (choice == 0) {
            fvm_ring_writer(&writer, memory, SIZE);
            next_take = next_put;
        } else if (choice == 1) {
            fvm_ring_reader(&reader, memory, SIZE);
            next_take = next_put;
        } else if (choice < 50) {
            uint32_t count = random_below(12);

            if (put(next_put, count)) {
                next_put = (uint8_t)(next_put + count);
            }
        } else {
            uint8_t bytes[CAPACITY + 1u];
            uint32_t left = (uint8_t)(next_put - next_take);
            uint32_t size = random_below(sizeof bytes + 1u);
            uint32_t count = fvm_ring_read(&reader, bytes, size);

            CHECK(count == (left < size ? left : size));
            for (uint32_t k = 0; k < count; k++) {
                CHECK(bytes[k] == (uint8_t)(next_take + k));
            }
            next_take = (uint8_t)(next_take + count);
        }
    }
    CHECK(memory[SIZE / 4u] == CANARY);
}

void start(void)
{
    all_or_nothing();
    writer_restarts();
    reader_restarts();
    broken_peer();
    random_traffic();
    finish(0);
}
