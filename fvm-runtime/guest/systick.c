/* The old chip's SysTick for code that asks it how late it is (ARMv7-M ARM, B3.3): its registers
 * as they would be, worked out from the cycle counter whenever they are read or written. Its
 * interrupt is the machine's tick, not this. */
#include <fvm/guest.h>

#define ENABLE 1u
#define CLKSOURCE 4u
#define KEPT 7u /* ENABLE, TICKINT, CLKSOURCE */
#define COUNTFLAG (1u << 16)
#define COUNTER 0x00FFFFFFu
#define REFERENCE 8u /* with CLKSOURCE clear: an eighth of the core's clock on STM32 */

/* A cycle of this core is old_hz parts, a cycle of the old one hz parts: no division rounds. */
static struct {
    uint32_t hz, old_hz;
    uint32_t load, ctrl;
    uint32_t period; /* counts from 0 to 0, as LOAD was at the last 0 */
    uint32_t seen;   /* the cycle counter, up to where `left` is right */
    uint32_t flag;   /* COUNTFLAG, or 0 */
    uint64_t left;   /* parts until VAL is 0; 0: it is, and nothing was loaded since */
} timer;

/* Bit by bit: a division of the compiler's brings its library's unwinder into every guest. */
static uint64_t divided(uint64_t number, uint64_t by, uint64_t *rest)
{
    uint64_t result = 0;
    uint32_t places = 0;
    for (; by <= number >> 1; by <<= 1) {
        places++;
    }
    for (;; by >>= 1) {
        result <<= 1;
        if (number >= by) {
            number -= by;
            result |= 1u;
        }
        if (places-- == 0) {
            break;
        }
    }
    *rest = number;
    return result;
}

static uint64_t count_length(void)
{
    return (uint64_t)timer.hz * ((timer.ctrl & CLKSOURCE) != 0 ? 1u : REFERENCE);
}

static void reload(void)
{
    timer.period = timer.load != 0 ? timer.load + 1 : 0;
    timer.left = timer.period * count_length();
}

static void go_on(void)
{
    uint32_t now = virt_cycles();
    uint64_t passed = (uint64_t)(now - timer.seen) * timer.old_hz;
    timer.seen = now;
    if ((timer.ctrl & ENABLE) == 0) {
        return;
    }
    if (timer.left == 0) {
        reload();
    }
    if (timer.left == 0 || passed < timer.left) { /* LOAD is 0: it stays there */
        timer.left -= timer.left == 0 ? 0 : passed;
        return;
    }
    passed -= timer.left;
    timer.flag = COUNTFLAG;
    reload();
    if (timer.left != 0) {
        uint64_t rest;
        (void)divided(passed, timer.left, &rest);
        timer.left -= rest;
    }
}

static uint32_t counts_left(void)
{
    uint64_t length = count_length(), rest;
    return length != 0 ? (uint32_t)divided(timer.left + length - 1, length, &rest) : 0;
}

/* LOAD is read a count after VAL has become 0. */
static uint32_t value(void)
{
    uint32_t counts = counts_left();
    return counts != timer.period ? counts : 0;
}

/* Handlers read the timer, too. */
#define ALONE(statement)                                                                           \
    do {                                                                                           \
        uint32_t masked = virt_int_save(VIRT_PRIMASK);                                             \
        statement;                                                                                 \
        virt_int_restore(VIRT_PRIMASK, masked);                                                    \
    } while (0)

static void set_load(uint32_t load, uint32_t old_hz, uint32_t hz)
{
    ALONE({
        go_on();
        int is_zero = timer.left != 0 && value() == 0;
        uint64_t behind_zero = timer.period * count_length() - timer.left;
        timer.load = load;
        timer.old_hz = old_hz;
        timer.hz = hz;
        if (is_zero) {
            reload();
            timer.left -= timer.left != 0 ? behind_zero : 0;
        }
    });
}

void virt_systick_set_load(uint32_t load, uint32_t old_hz, uint32_t hz)
{
    set_load(load & COUNTER, old_hz, hz);
}

void virt_systick_set_val(uint32_t ignored)
{
    (void)ignored;
    ALONE({
        go_on();
        timer.left = 0;
        timer.flag = 0;
    });
}

void virt_systick_set_ctrl(uint32_t ctrl)
{
    ALONE({
        go_on();
        uint32_t counts = counts_left();
        uint32_t changes = (timer.ctrl ^ ctrl) & (ENABLE | CLKSOURCE);
        timer.ctrl = ctrl & KEPT;
        if (changes != 0) {
            timer.left = counts * count_length();
        }
    });
}

uint32_t virt_systick_ctrl(void)
{
    uint32_t ctrl;
    ALONE({
        go_on();
        ctrl = timer.ctrl | timer.flag;
        timer.flag = 0;
    });
    return ctrl;
}

uint32_t virt_systick_load(void) { return timer.load; }

uint32_t virt_systick_val(void)
{
    uint32_t now;
    ALONE({
        go_on();
        now = value();
    });
    return now;
}

uint32_t virt_tick_ctrl(uint32_t tick_hz, uint32_t hz)
{
    if (timer.ctrl == 0) {
        set_load(hz / tick_hz - 1, hz, hz);
        virt_systick_set_ctrl(KEPT);
    }
    return virt_systick_ctrl();
}
