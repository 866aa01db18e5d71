/* Tasks that are switched by calls and by the tick, in an order that doesn't depend on time. Into
 * one number goes who ran after whom, what they told each other, and, of two tasks that the tick
 * preempts, whether their registers outlived that. */
#include "FreeRTOS.h"
#include "queue.h"
#include "task.h"

#define ROUNDS 200u
#define SPINS 20u

struct result {
    unsigned rounds, kept;
};

void said(const char *text);
_Noreturn void ends(unsigned failed);
void freertos_risc_v_trap_handler(void);
unsigned registers_kept(unsigned seed, volatile TickType_t *ticks, unsigned until);

static QueueHandle_t there, back;
static volatile TickType_t ticks_seen;
static unsigned hash = 2166136261u;

static void note(unsigned word) { hash = (hash ^ word) * 16777619u; }

static void asks(void *unused)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned answer;
        note(1);
        xQueueSend(there, &round, portMAX_DELAY);
        xQueueReceive(back, &answer, portMAX_DELAY);
        note(answer);
    }
    vTaskDelete(unused);
}

static void answers(void *unused)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned word;
        xQueueReceive(there, &word, portMAX_DELAY);
        note(word ^ 0x200u);
        taskYIELD();
        word = word * 3u + 1u;
        xQueueSend(back, &word, portMAX_DELAY);
    }
    vTaskDelete(unused);
}

/* Two of these share the processor by the tick: every register holds a pattern of its own. */
static void spins(void *result)
{
    struct result *mine = result;
    for (mine->rounds = 0; mine->rounds < SPINS; mine->rounds++) {
        mine->kept += registers_kept((unsigned)mine + mine->rounds, &ticks_seen, ticks_seen + 3u);
    }
    vTaskDelete(NULL);
}

static void counts(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskDelay(1);
        ticks_seen = xTaskGetTickCount();
    }
}

static void hexadecimal(unsigned word)
{
    char text[9];
    for (int digit = 0; digit < 8; digit++) {
        text[digit] = "0123456789abcdef"[word >> (28 - 4 * digit) & 15u];
    }
    text[8] = 0;
    said(text);
}

static void watches(void *results)
{
    volatile struct result *both = results;
    while (both[0].rounds < SPINS || both[1].rounds < SPINS) {
        vTaskDelay(2);
    }
    note(both[0].kept << 8 | both[1].kept);
    said("hash ");
    hexadecimal(hash);
    said("\n");
    ends(0);
}

int main(void)
{
    static struct result results[2];
    __asm volatile("csrw mtvec, %0" ::"r"(freertos_risc_v_trap_handler));
    there = xQueueCreate(1, sizeof(unsigned));
    back = xQueueCreate(1, sizeof(unsigned));
    xTaskCreate(answers, "answers", 256, NULL, 2, NULL);
    xTaskCreate(asks, "asks", 256, NULL, 2, NULL);
    xTaskCreate(spins, "spins", 256, &results[0], 1, NULL);
    xTaskCreate(spins, "spins too", 256, &results[1], 1, NULL);
    xTaskCreate(counts, "counts", 256, NULL, 3, NULL);
    xTaskCreate(watches, "watches", 256, results, 3, NULL);
    vTaskStartScheduler();
    ends(1);
}

void freertos_risc_v_application_exception_handler(uint32_t cause)
{
    (void)cause;
    ends(2);
}
