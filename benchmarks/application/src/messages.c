/* ntf, sem, msg: from the call that gives to the line after the call that waits, in a task of
 * higher priority. */
#include "operations.h"
#include "queue.h"
#include "semphr.h"

ROUNDS(ntf);
ROUNDS(sem);
ROUNDS(msg);

enum { QUEUE_LENGTH = 4 };

static TaskHandle_t waiting;
static SemaphoreHandle_t semaphore;
static QueueHandle_t queue;

static MARKED void take_notification(void *unused)
{
    (void)unused;
    uint32_t value;
    waiting = xTaskGetCurrentTaskHandle();
    for (unsigned left = rounds_ntf; left != 0; left--) {
        (void)xTaskNotifyWait(0, 0xFFFFFFFFu, &value, portMAX_DELAY);
        MARK(ntf_stop);
    }
    finish();
}

static MARKED void give_notification(void *unused)
{
    (void)unused;
    for (unsigned left = rounds_ntf; left != 0; left--) {
        FORGET();
        MARK(ntf_start);
        (void)xTaskNotify(waiting, 1, eSetBits);
    }
    finish();
}

static MARKED void take_semaphore(void *unused)
{
    (void)unused;
    for (unsigned left = rounds_sem; left != 0; left--) {
        (void)xSemaphoreTake(semaphore, portMAX_DELAY);
        MARK(sem_stop);
    }
    finish();
}

static MARKED void give_semaphore(void *unused)
{
    (void)unused;
    for (unsigned left = rounds_sem; left != 0; left--) {
        FORGET();
        MARK(sem_start);
        (void)xSemaphoreGive(semaphore);
    }
    finish();
}

static MARKED void receive(void *unused)
{
    (void)unused;
    uint32_t word;
    for (unsigned left = rounds_msg; left != 0; left--) {
        (void)xQueueReceive(queue, &word, portMAX_DELAY);
        MARK(msg_stop);
    }
    finish();
}

static MARKED void send(void *unused)
{
    (void)unused;
    for (uint32_t left = rounds_msg; left != 0; left--) {
        FORGET();
        MARK(msg_start);
        (void)xQueueSend(queue, &left, portMAX_DELAY);
    }
    finish();
}

void run_messages(void)
{
    semaphore = xSemaphoreCreateBinary();
    queue = xQueueCreate(QUEUE_LENGTH, sizeof(uint32_t));
    run_tasks(take_notification, HIGH, give_notification, LOW);
    run_tasks(take_semaphore, HIGH, give_semaphore, LOW);
    run_tasks(receive, HIGH, send, LOW);
    vQueueDelete(semaphore);
    vQueueDelete(queue);
}
