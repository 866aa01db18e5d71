/* One application for every RTOS: what tasks do by semaphores, delays and time-outs and what an
 * interrupt does to them, with values in registers all the while. What it says doesn't depend on
 * time, but for lines that begin with "cost". */
#include <stdint.h>

#include "board.h"
#include "marks.h"
#include "rtos.h"

enum { ROUNDS = 500, DELAYS = 20, BEATS = 200 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failed(__LINE__);                                                                      \
        }                                                                                          \
    } while (0)

static rtos_semaphore serve, there, back, played, beat, never, late, help, work;
static volatile uint32_t told[2], turned[2], beats;
static volatile float swing;

static void put(const char *text)
{
    while (*text != '\0') {
        board_put(*text++);
    }
}

static void say(const char *text, uint32_t number)
{
    char digits[] = " 00000000\n";
    for (uint32_t place = 1; place <= 8; place++, number <<= 4) {
        digits[place] = "0123456789abcdef"[number >> 28];
    }
    put(text);
    put(digits);
}

static void failed(uint32_t line)
{
    say("FAILED in line", line);
    for (;;) {
    }
}

/* Values that are alive at calls: in registers that calls keep, s16-s31 among them where there is
 * an FPU, if this is in a function of its own and its address stays there. */
struct held {
    uint32_t a, b, c, d;
    float p, q, r, s, t, u, v, w;
};

static inline void fill(struct held *held, uint32_t seed)
{
    float real = (float)seed;
    *held =
        (struct held){seed,        seed * 3u,   seed * 5u,   seed * 7u,   real,        real * 2.0f,
                      real * 3.0f, real * 4.0f, real * 5.0f, real * 6.0f, real * 7.0f, real * 8.0f};
}

static inline void step(struct held *held)
{
    held->a += 1u, held->b += 3u, held->c += 5u, held->d += 7u;
    held->p += 1.0f, held->q += 2.0f, held->r += 3.0f, held->s += 4.0f;
    held->t += 5.0f, held->u += 6.0f, held->v += 7.0f, held->w += 8.0f;
}

static inline void check_held(const struct held *held)
{
    uint32_t whole = held->a;
    float real = held->p;
    CHECK(real == (float)whole);
    CHECK(held->b == 3u * whole && held->c == 5u * whole && held->d == 7u * whole);
    CHECK(held->q == 2.0f * real && held->r == 3.0f * real && held->s == 4.0f * real);
    CHECK(held->t == 5.0f * real && held->u == 6.0f * real && held->v == 7.0f * real);
    CHECK(held->w == 8.0f * real);
}

static uint32_t mixed(const struct held *held, uint32_t into)
{
    into = (into ^ (held->a + held->b + held->c + held->d)) * 16777619u;
    return (into ^ (uint32_t)(held->p + held->q + held->r + held->s + held->w)) * 16777619u;
}

static void server(void)
{
    for (;;) {
        struct held held;
        uint32_t mix = 2166136261u;
        (void)rtos_take(&serve, RTOS_FOREVER);
        fill(&held, 11);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            rtos_give(&there);
            step(&held);
            MARK(take_start);
            CHECK(rtos_take(&back, RTOS_FOREVER));
            MARK(give_stop);
            mix = mixed(&held, mix);
        }
        check_held(&held);
        told[0] = mix;
        rtos_give(&played);
    }
}

static void returner(void)
{
    for (;;) {
        struct held held;
        uint32_t mix = 2166136261u;
        fill(&held, 7);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            CHECK(rtos_take(&there, RTOS_FOREVER));
            MARK(take_stop);
            step(&held);
            mix = mixed(&held, mix);
            told[1] = mix;
            MARK(give_start);
            rtos_give(&back);
        }
        check_held(&held);
    }
}

static void helper(void)
{
    for (;;) {
        (void)rtos_take(&help, RTOS_FOREVER);
        rtos_delay(3);
        rtos_give(&late);
    }
}

/* Both are interrupted at work; one lets the other have the processor now and then. */
static void turn(uint32_t me)
{
    struct held held;
    fill(&held, me + 1u);
    for (uint32_t i = 0; i < 40; i++) {
        step(&held);
        check_held(&held);
    }
    turned[me]++;
}

static void worker(void)
{
    (void)rtos_take(&work, RTOS_FOREVER);
    for (;;) {
        turn(0);
        turn(0);
        rtos_delay(1);
    }
}

static void least_urgent(void)
{
    for (;;) {
        turn(1);
    }
}

void board_timer_handler(void)
{
    board_timer_acknowledge();
    beats++;
    swing = swing * 0.5f + 1.0f;
    rtos_give_from_interrupt(&beat);
}

static void ping_pong(const char *name)
{
    uint32_t start = board_microseconds();
    rtos_give(&serve);
    CHECK(rtos_take(&played, RTOS_FOREVER));
    uint32_t took = board_microseconds() - start;
    say(name, told[0] ^ told[1]);
    say("cost in microseconds", took);
}

static void delays(void)
{
    rtos_delay(1);
    for (unsigned i = 0; i < DELAYS; i++) {
        unsigned before = rtos_ticks();
        rtos_delay(3);
        unsigned passed = rtos_ticks() - before;
        CHECK(passed == 3); /* it begins at a tick */
    }
    say("delays", DELAYS);
}

static void time_outs(void)
{
    unsigned before = rtos_ticks();
    CHECK(!rtos_take(&never, 5));
    CHECK(rtos_ticks() - before >= 4);
    CHECK(!rtos_take(&never, 1));
    rtos_give(&help);
    before = rtos_ticks();
    CHECK(!rtos_take(&late, 1));
    CHECK(rtos_take(&late, 50));
    CHECK(rtos_ticks() - before < 10);
    say("time-outs", 3);
}

static void interrupts(void)
{
    unsigned before = rtos_ticks();
    uint32_t begun = beats;
    for (uint32_t taken = 0; taken < BEATS; taken++) {
        CHECK(rtos_take(&beat, 50)); /* some may have come before */
    }
    unsigned passed = rtos_ticks() - before;
    CHECK(2u * passed >= 3u * (beats - begun) && passed < 1000); /* one takes 2.5 ticks */
    CHECK(swing > 1.9f && swing <= 2.0f);
    say("interrupts", BEATS);
}

static void director(void)
{
    ping_pong("undisturbed");
    delays();
    time_outs();
    rtos_give(&work);
    board_timer_start();
    interrupts();
    ping_pong("interrupted");
    interrupts();
    CHECK(turned[0] >= 10 && turned[1] >= 10);
    put("all passed\n");
    for (;;) {
        rtos_delay(100);
    }
}

void demo_set_up(void)
{
    rtos_semaphore *const all[] = {&serve, &there, &back, &played, &beat,
                                   &never, &late,  &help, &work};
    board_init();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        rtos_semaphore_init(all[i]);
    }
    rtos_task(least_urgent, 1);
    rtos_task(worker, 2);
    rtos_task(returner, 3);
    rtos_task(server, 4);
    rtos_task(helper, 5);
    rtos_task(director, RTOS_URGENT);
}
