/* What interrupt handlers may call, and that registers of tasks survive being preempted. */
#include "check.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "timers.h"

static QueueHandle_t queue;
static SemaphoreHandle_t semaphore;
static EventGroupHandle_t group;
static StreamBufferHandle_t stream;
static TaskHandle_t waiting;
static volatile unsigned fired;

static void on_timer(TimerHandle_t timer)
{
    (void)timer;
    fired++;
}

static TimerHandle_t timer;

static void post(BaseType_t *woken)
{
    static unsigned turn;
    unsigned word = turn;
    switch (turn++ % 7) {
    case 0:
        CHECK(xQueueSendFromISR(queue, &word, woken) == pdTRUE);
        break;
    case 1:
        xSemaphoreGiveFromISR(semaphore, woken);
        break;
    case 2:
        vTaskNotifyGiveFromISR(waiting, woken);
        break;
    case 3:
        CHECK(xEventGroupSetBitsFromISR(group, 1, woken) == pdPASS);
        break;
    case 4:
        CHECK(xStreamBufferSendFromISR(stream, "!", 1, woken) == 1);
        break;
    case 5:
        CHECK(xTimerStartFromISR(timer, woken) == pdPASS);
        break;
    default:
        CHECK(xTaskGetTickCountFromISR() != 0);
        *woken |= xTaskResumeFromISR(waiting);
        in_tick = NULL;
        turn = 0;
        break;
    }
}

void check_interrupts(void)
{
    unsigned word = 0;
    char text;
    queue = xQueueCreate(1, sizeof word);
    semaphore = xSemaphoreCreateBinary();
    group = xEventGroupCreate();
    stream = xStreamBufferCreate(4, 1);
    timer = xTimerCreate("isr", 1, pdFALSE, NULL, on_timer);
    waiting = xTaskGetCurrentTaskHandle();
    fired = 0;
    in_tick = post;
    CHECK(xQueueReceive(queue, &word, portMAX_DELAY) == pdTRUE);
    CHECK(xSemaphoreTake(semaphore, portMAX_DELAY) == pdTRUE);
    CHECK(ulTaskNotifyTake(pdTRUE, portMAX_DELAY) == 1);
    CHECK((xEventGroupWaitBits(group, 1, pdTRUE, pdFALSE, portMAX_DELAY) & 1) == 1);
    CHECK(xStreamBufferReceive(stream, &text, 1, portMAX_DELAY) == 1 && text == '!');
    vTaskSuspend(NULL);
    vTaskDelay(3);
    CHECK(fired == 1 && in_tick == NULL);
    CHECK(xTimerDelete(timer, 0) == pdPASS);
    vStreamBufferDelete(stream);
    vEventGroupDelete(group);
    vSemaphoreDelete(semaphore);
    vQueueDelete(queue);
}

/* Sixteen values that a compiler keeps in registers, S16-S31 among them where there is an FPU, and
 * that a function call may not destroy. */
static volatile unsigned rounds[2];

static void turning(void *which)
{
    unsigned seed = (unsigned)(uintptr_t)which;
    float one = (float)seed + 0.5f, two = one * 2.0f, three = one * 3.0f, four = one * 4.0f;
    unsigned a = seed, b = seed * 3u, c = seed * 5u, d = seed * 7u;
    for (;;) {
        for (unsigned i = 0; i < 50; i++) {
            a += 1u, b += 3u, c += 5u, d += 7u;
            one += 1.0f, two += 2.0f, three += 3.0f, four += 4.0f;
            CHECK(b == 3u * a && c == 5u * a && d == 7u * a);
            CHECK(two == 2.0f * one && three == 3.0f * one && four == 4.0f * one);
        }
        a = seed, b = seed * 3u, c = seed * 5u, d = seed * 7u;
        one = (float)seed + 0.5f, two = one * 2.0f, three = one * 3.0f, four = one * 4.0f;
        if (rounds[seed - 1u]++ % 2u == 0) {
            taskYIELD(); /* by itself now and then, else by the tick */
        }
    }
}

void check_registers(void)
{
    rounds[0] = rounds[1] = 0;
    TaskHandle_t peers[2] = {spawn(turning, (void *)1, 2), spawn(turning, (void *)2, 2)};
    vTaskDelay(10);
    CHECK(rounds[0] != 0 && rounds[1] != 0);
    vTaskDelete(peers[0]);
    vTaskDelete(peers[1]);
}
