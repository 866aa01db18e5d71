/* Tasks, queues, queue sets. */
#include "check.h"
#include "queue.h"

static volatile unsigned count;

static void counting(void *rounds)
{
    for (unsigned left = (unsigned)(uintptr_t)rounds; left != 0; left--) {
        count++;
        taskYIELD();
    }
    vTaskDelete(NULL);
}

static void busy(void *unused)
{
    (void)unused;
    for (;;) {
        count++;
    }
}

void check_tasks(void)
{
    count = 0;
    spawn(counting, (void *)5, 4); /* more urgent: runs before spawn returns */
    CHECK(count == 5);
    spawn(counting, (void *)4, 3); /* as urgent: in turn */
    CHECK(count < 9);
    for (unsigned i = 0; i < 5; i++) {
        taskYIELD();
    }
    CHECK(count == 9);

    TaskHandle_t peer = spawn(busy, NULL, 2);
    TickType_t start = xTaskGetTickCount();
    vTaskDelay(3); /* the tick preempts it */
    CHECK(xTaskGetTickCount() - start >= 3);
    CHECK(count > 9);
    vTaskSuspend(peer);
    unsigned stopped = count;
    vTaskDelay(2);
    CHECK(count == stopped);
    vTaskResume(peer);
    vTaskDelay(2);
    CHECK(count > stopped);
    vTaskPrioritySet(peer, 3); /* time slices */
    stopped = count;
    start = xTaskGetTickCount();
    while (xTaskGetTickCount() - start < 5) {
    }
    CHECK(count > stopped);
    CHECK(uxTaskPriorityGet(peer) == 3);
    vTaskDelete(peer);

    TickType_t wake = xTaskGetTickCount();
    start = wake;
    for (unsigned i = 0; i < 3; i++) {
        xTaskDelayUntil(&wake, 2);
    }
    CHECK(xTaskGetTickCount() - start >= 6);
    vTaskSuspendAll();
    stopped = xTaskGetTickCount();
    for (volatile unsigned i = 0; i < 20000; i++) {
    }
    CHECK(xTaskGetTickCount() == stopped);
    CHECK(xTaskResumeAll() == pdFALSE || xTaskGetTickCount() >= stopped);
}

static QueueHandle_t there, back;

static void echo(void *unused)
{
    unsigned word;
    (void)unused;
    do {
        CHECK(xQueueReceive(there, &word, portMAX_DELAY) == pdTRUE);
        word++;
        CHECK(xQueueSend(back, &word, portMAX_DELAY) == pdTRUE);
    } while (word != 101);
    vTaskDelete(NULL);
}

static void queues_at(UBaseType_t priority)
{
    there = xQueueCreate(2, sizeof(unsigned));
    back = xQueueCreate(1, sizeof(unsigned));
    spawn(echo, NULL, priority);
    for (unsigned sent = 0; sent <= 100; sent += 10) {
        unsigned word = sent;
        CHECK(xQueueSend(there, &word, portMAX_DELAY) == pdTRUE);
        CHECK(xQueuePeek(back, &word, portMAX_DELAY) == pdTRUE && word == sent + 1);
        CHECK(xQueueReceive(back, &word, 0) == pdTRUE && word == sent + 1);
    }
    vTaskDelay(1);
    unsigned words[3] = {1, 2, 3};
    CHECK(xQueueSend(there, &words[0], 0) == pdTRUE);
    CHECK(xQueueSendToFront(there, &words[1], 0) == pdTRUE);
    CHECK(xQueueSend(there, &words[2], 2) == errQUEUE_FULL);
    CHECK(xQueueReceive(there, &words[2], 0) == pdTRUE && words[2] == 2);
    CHECK(uxQueueMessagesWaiting(there) == 1);
    vQueueDelete(there);
    vQueueDelete(back);
}

void check_queues(void)
{
    queues_at(4);
    queues_at(2);
    unsigned word = 7;
    QueueHandle_t one = xQueueCreate(1, sizeof word), two = xQueueCreate(1, sizeof word);
    QueueSetHandle_t set = xQueueCreateSet(2);
    CHECK(xQueueAddToSet(one, set) == pdPASS && xQueueAddToSet(two, set) == pdPASS);
    CHECK(xQueueSelectFromSet(set, 1) == NULL);
    CHECK(xQueueSend(two, &word, 0) == pdTRUE);
    CHECK(xQueueSelectFromSet(set, portMAX_DELAY) == two);
    CHECK(xQueueReceive(two, &word, 0) == pdTRUE);
    CHECK(xQueueOverwrite(one, &word) == pdPASS);
    CHECK(xQueueSelectFromSet(set, 0) == one && xQueueReceive(one, &word, 0) == pdTRUE);
    CHECK(xQueueRemoveFromSet(one, set) == pdPASS && xQueueRemoveFromSet(two, set) == pdPASS);
    vQueueDelete(set);
    vQueueDelete(one);
    vQueueDelete(two);
}
