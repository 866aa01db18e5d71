/* Switches of every kind in an order that no clock decides, told by a number: the same program on
 * bare metal must arrive at the same one.
 *
 * A task of low priority lets others run, which outrank it: by a call, or by the tick, which finds
 * it at work. Some tasks use the FPU and some don't, and so does the one that is interrupted. Only
 * one tick is waited for at a time, so what follows what is fixed. */
#include "check.h"

enum { WORKERS = 4, ROUNDS = 64, LOWEST = 1 };

static TaskHandle_t worker[WORKERS];
static volatile TaskHandle_t armed;
static uint32_t mixed = 2166136261u;

static void mix(uint32_t value) { mixed = (mixed ^ value) * 16777619u; }

static uint32_t bits(float value)
{
    union {
        float real;
        uint32_t word;
    } as = {.real = value};
    return as.word;
}

static void work(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument, rounds = 0, state = me + 1u;
    float sum = (float)me + 0.25f;
    for (;;) {
        uint32_t times = ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        state = state * 1664525u + 1013904223u;
        if (me % 2 == 0) {
            sum = sum * 1.25f + (float)(state >> 28);
            sum = sum > 1e6f ? sum - 1e6f : sum;
            mix(bits(sum));
        }
        mix(me << 24 | times << 16 | rounds++);
        mix(state);
        if (state >> 30 == 0) {
            xTaskNotifyGive(worker[(me + 1) % WORKERS]); /* now, or when this one waits */
        }
        if (state >> 30 == 1) {
            taskYIELD();
        }
    }
}

static void from_tick(BaseType_t *woken)
{
    if (armed != NULL) {
        vTaskNotifyGiveFromISR(armed, woken);
        armed = NULL;
    }
}

static void wait_at_work(TaskHandle_t for_whom, int with_fpu)
{
    volatile float half = 0.5f;
    float real[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    uint32_t word[4] = {1, 2, 3, 4};
    armed = for_whom;
    while (armed != NULL) {
        for (int i = 0; i < 4; i++) {
            word[i] = word[i] * 5u - word[i] * 4u;
            if (with_fpu) {
                real[i] = real[i] * half + real[i] * half;
            }
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(word[i] == i + 1 && real[i] == (float)(i + 1));
    }
}

static void drive(void *done)
{
    uint32_t state = 12345u;
    in_tick = from_tick;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        state = state * 1664525u + 1013904223u;
        TaskHandle_t next = worker[state >> 16 & (WORKERS - 1)];
        mix(round);
        if ((state >> 20 & 1) != 0) {
            xTaskNotifyGive(next);
        } else {
            wait_at_work(next, (state >> 21 & 1) != 0);
        }
    }
    in_tick = NULL;
    xTaskNotifyGive(done);
    vTaskSuspend(NULL);
}

uint32_t switches_told(void) { return mixed; }

void check_switches(void)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker[i] = spawn(work, (void *)(uintptr_t)i, LOWEST + 2 + i);
    }
    TaskHandle_t driver = spawn(drive, xTaskGetCurrentTaskHandle(), LOWEST);
    CHECK(ulTaskNotifyTake(pdTRUE, portMAX_DELAY) == 1);
    vTaskDelete(driver);
    for (uint32_t i = 0; i < WORKERS; i++) {
        vTaskDelete(worker[i]);
    }
}
