/* Samples in cycles, and the table of them. */
#include <stdint.h>

#include "board.h"
#undef board_init /* whatever marks.h makes of it */
#include "marks.h"

#define DWT_CYCCNT (*(volatile uint32_t *)0xE0001004u)
#define USART_TXE (1u << 7)
#define CALIBRATIONS 1000u
#define WARM_UP 8u /* samples that don't count */

struct statistics {
    uint64_t sum;
    uint32_t count, skipped, least, most;
};

static struct statistics table[HW_OPERATIONS];
static uint32_t started, triggered;
static uint32_t overhead; /* of reading the counter */
static uint32_t marks;    /* of all marks between a trigger and the task that receives */

static const char *const name[HW_OPERATIONS] = {
    "ctx",   "ctx_fp", "ctx_p", "ntf",   "sem",     "msg",  "ntf_i",       "sem_i",
    "msg_i", "ntf_t",  "sem_t", "msg_t", "handler", "mask", "call_kernel", "call_hypervisor",
};

static void add(enum hw_operation which, uint32_t cycles, uint32_t ours)
{
    struct statistics *of = &table[which];
    if (of->skipped < WARM_UP) {
        of->skipped++;
        return;
    }
    cycles = cycles > ours ? cycles - ours : 0;
    of->sum += cycles;
    of->least = of->count == 0 || cycles < of->least ? cycles : of->least;
    of->most = cycles > of->most ? cycles : of->most;
    of->count++;
}

void hw_start(void) { started = DWT_CYCCNT; }

void hw_stop(enum hw_operation which)
{
    uint32_t now = DWT_CYCCNT;
    add(which, now - started, overhead);
}

void hw_trigger(void) { triggered = DWT_CYCCNT; }

void hw_arrived(enum hw_operation which)
{
    uint32_t now = DWT_CYCCNT;
    add(which, now - triggered, overhead);
}

void hw_received(enum hw_operation since_start, enum hw_operation since_trigger)
{
    uint32_t now = DWT_CYCCNT;
    add(since_start, now - started, overhead);
    add(since_trigger, now - triggered, marks);
}

static uint32_t least(uint32_t one, uint32_t other) { return one < other ? one : other; }

/* The least that marks ever take when nothing is between them. */
void hw_calibrate(void)
{
    overhead = marks = UINT32_MAX;
    for (uint32_t i = 0; i < CALIBRATIONS; i++) {
        uint32_t before = DWT_CYCCNT;
        uint32_t after = DWT_CYCCNT;
        overhead = least(overhead, after - before);
        hw_trigger();
        hw_arrived(HW_HANDLER);
        hw_start();
        after = DWT_CYCCNT;
        marks = least(marks, after - triggered);
    }
    table[HW_HANDLER] = (struct statistics){0};
}

static void say(const char *text)
{
    for (; *text != '\0'; text++) {
        while ((USART1->SR & USART_TXE) == 0) {
        }
        USART1->DR = (uint8_t)*text;
    }
}

static void say_number(const char *key, uint32_t value)
{
    char digit[11];
    uint32_t i = sizeof digit - 1;
    digit[i] = '\0';
    do {
        digit[--i] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    say(key);
    say(&digit[i]);
}

void hw_report(void)
{
    for (;;) { /* for whoever opens the line later */
        say("hw-bench begin side=");
        say(hw_side);
        say_number(" overhead=", overhead);
        say("\r\n");
        for (uint32_t i = 0; i < HW_OPERATIONS; i++) {
            const struct statistics *of = &table[i];
            if (of->count != 0) {
                say("hw-bench ");
                say(name[i]);
                say_number(" tenths=", (uint32_t)(of->sum * 10u / of->count));
                say_number(" min=", of->least);
                say_number(" max=", of->most);
                say_number(" samples=", of->count);
                say("\r\n");
            }
        }
        say("hw-bench end\r\n");
        for (volatile uint32_t wait = 0; wait < 20000000u; wait++) {
        }
    }
}
