/* What begins with an interrupt: ntf_i, sem_i, msg_i wake a task of higher priority than the one
 * interrupted; ctx_p yields to a task that was interrupted. */
#include "board.h"
#include "operations.h"
#include "queue.h"
#include "semphr.h"

ROUNDS(ntf_i);
ROUNDS(sem_i);
ROUNDS(msg_i);
ROUNDS(ctx_p);

enum { QUEUE_LENGTH = 4 };

volatile enum action action;

static TaskHandle_t waiting;
static SemaphoreHandle_t semaphore;
static QueueHandle_t queue;
static volatile unsigned received, wanted;

static MARKED void on_notify(void)
{
    BaseType_t woken = pdFALSE;
    MARK(ntf_i_start);
    (void)xTaskNotifyFromISR(waiting, 1, eSetBits, &woken);
    portYIELD_FROM_ISR(woken);
}

static MARKED void on_semaphore(void)
{
    BaseType_t woken = pdFALSE;
    MARK(sem_i_start);
    (void)xSemaphoreGiveFromISR(semaphore, &woken);
    portYIELD_FROM_ISR(woken);
}

static MARKED void on_queue(void)
{
    BaseType_t woken = pdFALSE;
    uint32_t word = 1;
    MARK(msg_i_start);
    (void)xQueueSendFromISR(queue, &word, &woken);
    portYIELD_FROM_ISR(woken);
}

void BOARD_HANDLER(void)
{
    MARK(handler);
    board_acknowledge();
    switch (action) {
    case ACT_NOTIFY:
        on_notify();
        break;
    case ACT_SEMAPHORE:
        on_semaphore();
        break;
    case ACT_QUEUE:
        on_queue();
        break;
    case ACT_YIELD:
        portYIELD_FROM_ISR(pdTRUE);
        break;
    default:
        break;
    }
}

static MARKED void interrupted(void *unused)
{
    (void)unused;
    while (received != wanted) {
        board_trigger();
    }
    finish();
}

static MARKED void take_notification(void *unused)
{
    (void)unused;
    uint32_t value;
    waiting = xTaskGetCurrentTaskHandle();
    while (received != wanted) {
        (void)xTaskNotifyWait(0, 0xFFFFFFFFu, &value, portMAX_DELAY);
        MARK(ntf_i_stop);
        received++;
    }
    finish();
}

static MARKED void take_semaphore(void *unused)
{
    (void)unused;
    while (received != wanted) {
        (void)xSemaphoreTake(semaphore, portMAX_DELAY);
        MARK(sem_i_stop);
        received++;
    }
    finish();
}

static MARKED void receive(void *unused)
{
    (void)unused;
    uint32_t word;
    while (received != wanted) {
        (void)xQueueReceive(queue, &word, portMAX_DELAY);
        MARK(msg_i_stop);
        received++;
    }
    finish();
}

/* Yields to where the other task was interrupted; the next interrupt's yield comes back. */
static MARKED void yields(void *unused)
{
    (void)unused;
    for (unsigned left = wanted; left != 0; left--) {
        FORGET();
        MARK(ctx_p_start);
        taskYIELD();
    }
    vTaskSuspend(waiting);
    finish();
}

static MARKED void never_yields(void *unused)
{
    (void)unused;
    waiting = xTaskGetCurrentTaskHandle();
    for (;;) {
        board_trigger();
        MARK(ctx_p_stop); /* it is interrupted here, and goes on here */
    }
}

static void prepare(enum action what, unsigned rounds)
{
    action = what;
    received = 0;
    wanted = rounds;
}

void run_interrupts(void)
{
    semaphore = xSemaphoreCreateBinary();
    queue = xQueueCreate(QUEUE_LENGTH, sizeof(uint32_t));
    prepare(ACT_NOTIFY, rounds_ntf_i);
    run_tasks(take_notification, HIGH, interrupted, LOW);
    prepare(ACT_SEMAPHORE, rounds_sem_i);
    run_tasks(take_semaphore, HIGH, interrupted, LOW);
    prepare(ACT_QUEUE, rounds_msg_i);
    run_tasks(receive, HIGH, interrupted, LOW);
    prepare(ACT_YIELD, rounds_ctx_p);
    if (wanted != 0) {
        run_tasks(yields, LOW, never_yields, LOW);
    }
    action = ACT_NONE;
    vQueueDelete(semaphore);
    vQueueDelete(queue);
}
