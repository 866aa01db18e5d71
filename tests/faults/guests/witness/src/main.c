/* The witness: a FreeRTOS firmware that counts, calculates and watches its memory, and tells on
 * USART2 what it found. Written for bare metal; the tests port it. */
#include <stdint.h>

#include "FreeRTOS.h"
#include "task.h"

#define USART2_DR (*(volatile uint32_t *)0x40004404u)
#define USART2_CR1 (*(volatile uint32_t *)0x4000440Cu)
#define CR1_UE_TE ((1u << 13) | (1u << 3))

/* QEMU counts TIM2 in nanoseconds. */
#define TIM2_REGISTER(offset) (*(volatile uint32_t *)(0x40000000u + (offset)))
#define TIM2_CR1 TIM2_REGISTER(0x00)
#define TIM2_DIER TIM2_REGISTER(0x0C)
#define TIM2_SR TIM2_REGISTER(0x10)
#define TIM2_ARR TIM2_REGISTER(0x2C)
#define TIM2_LINE 28u
#define TIM2_PERIOD 2000000u
#define NVIC_ISER0 (*(volatile uint32_t *)0xE000E100u)

#define PATTERN_WORDS 512u
#define OWN_SECRET 0x57A7A500u     /* upper 24 bits of the words of the pattern */
#define OTHERS_SECRET_24 0x5EC2E7u /* of the victim's */

extern const uint32_t ram[2]; /* told.c */

static uint32_t pattern[PATTERN_WORDS];
/* What a thief could return to: an exception frame in RAM of the witness. */
volatile uint32_t decoy[8];
static volatile uint32_t ticks, calculated, compared;
volatile uint32_t timed, flooded; /* interrupts of TIM2, events of a victim */
static volatile uint32_t wrong_fpu, wrong_pattern, foreign_words;

static uint32_t word(uint32_t i) { return OWN_SECRET | (i & 0xFFu); }

/* Fills S0-S31 with words of the witness, calls f, and counts those of S16-S31 that changed. */
__attribute__((naked, noinline)) static uint32_t keeps_fpu(void (*f)(void) __attribute__((unused)))
{
    __asm volatile(
        "push {r4, r5, r6, lr}\n\t"
        "vpush {s16-s31}\n\t"
        "movw r4, #0xA500\n\t"
        "movt r4, #0x57A7\n\t"
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
        "27,28,29,30,31\n\t"
        "add r1, r4, #\\n\n\t vmov s\\n, r1\n\t"
        ".endr\n\t"
        "blx r0\n\t"
        "movs r0, #0\n\t"
        ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "add r1, r4, #\\n\n\t vmov r2, s\\n\n\t cmp r1, r2\n\t it ne\n\t addne r0, #1\n\t"
        ".endr\n\t"
        "vpop {s16-s31}\n\t"
        "pop {r4, r5, r6, pc}");
}

static TickType_t calculate_next;
static void wait_a_tick(void) { vTaskDelayUntil(&calculate_next, 1); }

static void calculate(void *unused)
{
    (void)unused;
    calculate_next = xTaskGetTickCount();
    for (;;) {
        wrong_fpu += keeps_fpu(wait_a_tick);
        calculated++;
    }
}

static uint32_t changed_words(void)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < PATTERN_WORDS; i++) {
        changed += pattern[i] != word(i);
    }
    return changed;
}

static uint32_t words_of_others(void)
{
    const volatile uint32_t *at = (const volatile uint32_t *)ram[0];
    uint32_t found = 0;
    for (uint32_t i = 0; i < ram[1] / 4u; i++) {
        found += at[i] >> 8 == OTHERS_SECRET_24;
    }
    return found;
}

static void print(const char *text)
{
    while (*text != '\0') {
        USART2_DR = (uint8_t)*text++;
    }
}

static void print_value(const char *name, uint32_t value)
{
    char digit[11];
    uint32_t i = sizeof digit - 1;
    digit[i] = '\0';
    do {
        digit[--i] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    print(name);
    print(&digit[i]);
}

/* One line; the counters are read at one moment. */
static void tell(void)
{
    taskENTER_CRITICAL();
    uint32_t now = xTaskGetTickCount(), interrupts = ticks, a = calculated, b = compared, c = timed;
    taskEXIT_CRITICAL();
    print_value("witness ticks=", now);
    print_value(" interrupts=", interrupts);
    print_value(" calculated=", a);
    print_value(" compared=", b);
    print_value(" timed=", c);
    print_value(" fpu=", wrong_fpu);
    print_value(" pattern=", wrong_pattern);
    print_value(" foreign=", foreign_words);
    print("\r\n");
}

static void compare(void *unused)
{
    (void)unused;
    TickType_t next = xTaskGetTickCount();
    for (;;) {
        vTaskDelayUntil(&next, 10);
        compared++;
        if (compared % 10u == 0) {
            wrong_pattern = changed_words();
            foreign_words = words_of_others();
            tell();
        }
    }
}

void vApplicationTickHook(void) { ticks++; }

void TIM2_IRQHandler(void)
{
    TIM2_SR = 0;
    timed++;
}

void flood_handler(void) { flooded++; }

static void start_timer(void)
{
    TIM2_DIER = 1;
    TIM2_CR1 = 1;
    TIM2_ARR = TIM2_PERIOD;
    NVIC_ISER0 = 1u << TIM2_LINE;
}

void vApplicationIdleHook(void) { __asm volatile("wfi"); }

/* For the control experiments: others jump here. */
__attribute__((noinline)) void spoil(void)
{
    pattern[0] = 0;
    for (;;) {
    }
}

int main(void)
{
    USART2_CR1 = CR1_UE_TE;
    decoy[6] = (uint32_t)spoil & ~1u; /* pc */
    decoy[7] = 0x01000000u;           /* xPSR: T */
    for (uint32_t i = 0; i < PATTERN_WORDS; i++) {
        pattern[i] = word(i);
    }
    print("witness starts\r\n");
    start_timer();
    (void)xTaskCreate(calculate, "calculate", 300, NULL, 3, NULL);
    (void)xTaskCreate(compare, "compare", 300, NULL, 2, NULL);
    vTaskStartScheduler();
    for (;;) {
    }
}
