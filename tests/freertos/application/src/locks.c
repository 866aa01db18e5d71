/* Semaphores, mutexes, notifications, event groups. */
#include "check.h"
#include "event_groups.h"
#include "semphr.h"

static SemaphoreHandle_t lock, done;
static volatile unsigned steps;

static void taker(void *unused)
{
    (void)unused;
    CHECK(xSemaphoreTake(lock, portMAX_DELAY) == pdTRUE);
    steps++;
    CHECK(xSemaphoreGive(lock) == pdTRUE);
    xSemaphoreGive(done);
    vTaskDelete(NULL);
}

void check_semaphores(void)
{
    steps = 0;
    done = xSemaphoreCreateBinary();
    CHECK(xSemaphoreTake(done, 2) == pdFALSE);
    lock = xSemaphoreCreateMutex();
    CHECK(xSemaphoreTake(lock, 0) == pdTRUE);
    spawn(taker, NULL, 5);
    CHECK(steps == 0 && uxTaskPriorityGet(NULL) == 5); /* inherited */
    CHECK(xSemaphoreGive(lock) == pdTRUE);
    CHECK(steps == 1 && uxTaskPriorityGet(NULL) == 3);
    CHECK(xSemaphoreTake(done, portMAX_DELAY) == pdTRUE);
    vSemaphoreDelete(lock);

    lock = xSemaphoreCreateRecursiveMutex();
    CHECK(xSemaphoreTakeRecursive(lock, 0) == pdTRUE && xSemaphoreTakeRecursive(lock, 0) == pdTRUE);
    CHECK(xSemaphoreGiveRecursive(lock) == pdTRUE && xSemaphoreGiveRecursive(lock) == pdTRUE);
    CHECK(xSemaphoreGiveRecursive(lock) == pdFALSE);
    vSemaphoreDelete(lock);

    lock = xSemaphoreCreateCounting(3, 1);
    spawn(taker, NULL, 2);
    CHECK(xSemaphoreTake(done, portMAX_DELAY) == pdTRUE && steps == 2);
    CHECK(uxSemaphoreGetCount(lock) == 1);
    CHECK(xSemaphoreGive(lock) == pdTRUE && xSemaphoreGive(lock) == pdTRUE);
    CHECK(xSemaphoreGive(lock) == pdFALSE);
    vSemaphoreDelete(lock);
    vSemaphoreDelete(done);
}

static TaskHandle_t notified;

static void notifier(void *unused)
{
    uint32_t value;
    (void)unused;
    xTaskNotifyGive(notified);
    xTaskNotifyGive(notified);
    CHECK(xTaskNotifyWait(0, UINT32_MAX, &value, portMAX_DELAY) == pdTRUE && value == 0x123);
    xTaskNotify(notified, 1u << 4, eSetBits);
    xTaskNotify(notified, 1u << 9, eSetBits);
    vTaskDelete(NULL);
}

static void notifications_at(UBaseType_t priority)
{
    uint32_t value = 0;
    notified = xTaskGetCurrentTaskHandle();
    CHECK(ulTaskNotifyTake(pdTRUE, 1) == 0);
    TaskHandle_t peer = spawn(notifier, NULL, priority);
    for (unsigned taken = 0; taken < 2;) {
        taken += ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    }
    CHECK(xTaskNotify(peer, 0x123, eSetValueWithOverwrite) == pdPASS);
    while (value != (1u << 4 | 1u << 9)) {
        uint32_t bits;
        CHECK(xTaskNotifyWait(0, UINT32_MAX, &bits, portMAX_DELAY) == pdTRUE);
        value |= bits;
    }
    vTaskDelay(1);
}

void check_notifications(void)
{
    notifications_at(5);
    notifications_at(2);
}

static EventGroupHandle_t group;

static void partner(void *unused)
{
    (void)unused;
    CHECK((xEventGroupWaitBits(group, 3, pdTRUE, pdTRUE, portMAX_DELAY) & 3) == 3);
    xEventGroupSetBits(group, 4);
    CHECK((xEventGroupSync(group, 8, 24, portMAX_DELAY) & 24) == 24);
    vTaskDelete(NULL);
}

static void events_at(UBaseType_t priority)
{
    group = xEventGroupCreate();
    spawn(partner, NULL, priority);
    CHECK(xEventGroupWaitBits(group, 4, pdFALSE, pdFALSE, 2) == 0);
    xEventGroupSetBits(group, 1);
    xEventGroupSetBits(group, 2);
    CHECK((xEventGroupWaitBits(group, 4, pdTRUE, pdFALSE, portMAX_DELAY) & 4) == 4);
    CHECK((xEventGroupSync(group, 16, 24, portMAX_DELAY) & 24) == 24);
    vTaskDelay(1);
    vEventGroupDelete(group);
}

void check_events(void)
{
    events_at(5);
    events_at(2);
}
