/* Two tasks with floating point: `control` runs the speed loop over a model of the drive,
 * `monitor` averages the sensor's samples, checks the arithmetic and feeds the watchdog. */
#include "motor.h"

#include "FreeRTOS.h"
#include "task.h"
#include "queue.h"
#include "semphr.h"
#include "timers.h"

#include "cycles.h"
#include "gpio.h"
#include "iwdg.h"

#define CONTROL_PRIORITY 3
#define MONITOR_PRIORITY 1
#define STACK_WORDS 256
#define BLINK_PERIOD 250U /* ticks */

/* Shared by the tasks, under state_mutex. */
static struct {
    uint32_t wanted; /* rpm */
    float speed;     /* rpm, of the model */
    float average;   /* of the samples: the load */
} state;

/* Written by one task each, read together in a critical section. */
static volatile uint32_t control_beats, monitor_beats, blinks, longest;
static volatile uint32_t control_fpu_errors, monitor_fpu_errors;

static SemaphoreHandle_t state_mutex;
static QueueHandle_t speed_queue;
static QueueHandle_t sample_queue;

/* The same series with the same start gives the same bits, however often the task is switched
 * away in between. The sums stay in registers that the calls of `pause` must keep. */
static float series(float start, void (*pause)(void))
{
    float a = start, b = start * 0.5f, c = 1.0f - start, d = start * start;

    for (uint32_t i = 1; i <= 200; i++) {
        a = a * 0.96875f + b;
        b = b * 0.5f + 1.0f / (float)i;
        c = c * 0.75f - a * 0.125f;
        d = d * 0.875f + c * b;
        if (pause != NULL && (i % 50U) == 0) {
            pause();
        }
    }
    return a + b + c + d;
}

static void give_way(void) { taskYIELD(); }

/* What series must return: taken where nobody can get in between. */
static float series_reference(float start)
{
    float reference;

    taskENTER_CRITICAL();
    reference = series(start, NULL);
    taskEXIT_CRITICAL();
    return reference;
}

static void control_task(void *argument)
{
    const float reference = series_reference(1.25f);
    float speed = 0.0f, integral = 0.0f, wanted = 0.0f, load;
    TickType_t wake = xTaskGetTickCount();

    (void)argument;
    for (;;) {
        uint32_t begin, took, rpm;

        vTaskDelayUntil(&wake, MOTOR_CONTROL_PERIOD);
        begin = cycles_now();
        if (xQueueReceive(speed_queue, &rpm, 0) == pdTRUE) {
            wanted = (float)rpm;
        }
        (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
        load = state.average * 0.001f;
        (void)xSemaphoreGive(state_mutex);
        /* Proportional-integral law; the drive follows with a lag of 20 steps. */
        integral += (wanted - speed) * 0.01f;
        speed += ((wanted - speed) * 0.5f + integral - load - speed * 0.1f) * 0.05f;
        if (series(1.25f, NULL) != reference) {
            control_fpu_errors++;
        }
        (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
        state.speed = speed;
        (void)xSemaphoreGive(state_mutex);
        took = cycles_now() - begin;
        if (took > longest) {
            longest = took;
        }
        control_beats++;
    }
}

static void monitor_task(void *argument)
{
    const float reference = series_reference(-0.75f);
    float average = 0.0f;
    TickType_t wake = xTaskGetTickCount();

    (void)argument;
    iwdg_init();
    for (;;) {
        uint32_t sample;

        vTaskDelayUntil(&wake, MOTOR_MONITOR_PERIOD);
        while (xQueueReceive(sample_queue, &sample, 0) == pdTRUE) {
            average += ((float)sample - average) * 0.125f;
        }
        if (series(-0.75f, give_way) != reference) {
            monitor_fpu_errors++;
        }
        (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
        state.average = average;
        (void)xSemaphoreGive(state_mutex);
        iwdg_feed();
        monitor_beats++;
    }
}

static void blink(TimerHandle_t timer)
{
    (void)timer;
    blinks++;
    led_set((blinks & 1U) != 0);
}

void motor_init(void)
{
    TimerHandle_t timer;
    BaseType_t ok;

    led_init();
    cycles_init();
    state_mutex = xSemaphoreCreateMutex();
    speed_queue = xQueueCreate(4, sizeof(uint32_t));
    sample_queue = xQueueCreate(16, sizeof(uint32_t));
    configASSERT(state_mutex != NULL && speed_queue != NULL && sample_queue != NULL);

    timer = xTimerCreate("blink", BLINK_PERIOD, pdTRUE, NULL, blink);
    configASSERT(timer != NULL);
    ok = xTimerStart(timer, 0);
    configASSERT(ok == pdPASS);

    ok = xTaskCreate(control_task, "control", STACK_WORDS, NULL, CONTROL_PRIORITY, NULL);
    configASSERT(ok == pdPASS);
    ok = xTaskCreate(monitor_task, "monitor", STACK_WORDS, NULL, MONITOR_PRIORITY, NULL);
    configASSERT(ok == pdPASS);
}

void motor_set_speed(uint32_t rpm)
{
    (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
    state.wanted = rpm;
    (void)xSemaphoreGive(state_mutex);
    (void)xQueueSend(speed_queue, &rpm, portMAX_DELAY);
}

uint32_t motor_get_speed(void)
{
    uint32_t wanted;

    (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
    wanted = state.wanted;
    (void)xSemaphoreGive(state_mutex);
    return wanted;
}

uint32_t motor_get_actual_speed(void)
{
    float speed;

    (void)xSemaphoreTake(state_mutex, portMAX_DELAY);
    speed = state.speed;
    (void)xSemaphoreGive(state_mutex);
    return speed > 0.0f ? (uint32_t)speed : 0U;
}

void motor_sample(uint32_t value)
{
    /* A full queue means that the monitor is late: the newest sample is of no use then. */
    (void)xQueueSend(sample_queue, &value, 0);
}

void motor_get_status(struct motor_status *status)
{
    taskENTER_CRITICAL();
    status->ticks = xTaskGetTickCount();
    status->control_beats = control_beats;
    status->monitor_beats = monitor_beats;
    status->blinks = blinks;
    status->fpu_errors = control_fpu_errors + monitor_fpu_errors;
    status->longest = longest;
    taskEXIT_CRITICAL();
}
