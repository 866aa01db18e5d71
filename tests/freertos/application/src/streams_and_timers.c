/* Stream and message buffers, software timers. */
#include <string.h>

#include "check.h"
#include "message_buffer.h"
#include "stream_buffer.h"
#include "timers.h"

static StreamBufferHandle_t stream;
static MessageBufferHandle_t messages;

static void reader(void *unused)
{
    char text[16];
    size_t length = 0;
    (void)unused;
    while (length < 10) {
        length += xStreamBufferReceive(stream, text + length, sizeof text - length, portMAX_DELAY);
    }
    CHECK(length == 10 && memcmp(text, "0123456789", 10) == 0);
    CHECK(xMessageBufferSend(messages, text, 4, portMAX_DELAY) == 4);
    CHECK(xMessageBufferSend(messages, text + 4, 6, portMAX_DELAY) == 6);
    vTaskDelete(NULL);
}

static void streams_at(UBaseType_t priority)
{
    char text[16];
    stream = xStreamBufferCreate(4, 2); /* smaller than what goes through it */
    messages = xMessageBufferCreate(12);
    CHECK(xStreamBufferReceive(stream, text, 1, 1) == 0);
    spawn(reader, NULL, priority);
    for (size_t sent = 0; sent < 10;) {
        sent += xStreamBufferSend(stream, "0123456789" + sent, 10 - sent, portMAX_DELAY);
    }
    CHECK(xMessageBufferReceive(messages, text, sizeof text, portMAX_DELAY) == 4);
    CHECK(xMessageBufferReceive(messages, text, sizeof text, portMAX_DELAY) == 6);
    CHECK(memcmp(text, "456789", 6) == 0);
    vTaskDelay(1);
    vStreamBufferDelete(stream);
    vMessageBufferDelete(messages);
}

void check_streams(void)
{
    streams_at(5);
    streams_at(2);
}

static volatile unsigned fired, called;

static void on_timer(TimerHandle_t timer)
{
    CHECK(pvTimerGetTimerID(timer) == (void *)&fired);
    fired++;
}

static void on_call(void *pointer, uint32_t value)
{
    CHECK(pointer == (void *)&called);
    called += value;
}

void check_timers(void)
{
    fired = called = 0;
    TimerHandle_t once = xTimerCreate("once", 2, pdFALSE, (void *)&fired, on_timer);
    TimerHandle_t often = xTimerCreate("often", 1, pdTRUE, (void *)&fired, on_timer);
    CHECK(xTimerStart(once, 0) == pdPASS);
    vTaskDelay(5);
    CHECK(fired == 1 && xTimerIsTimerActive(once) == pdFALSE);
    CHECK(xTimerStart(often, 0) == pdPASS);
    vTaskDelay(5);
    CHECK(xTimerStop(often, 0) == pdPASS);
    CHECK(fired >= 5);
    unsigned stopped = fired;
    CHECK(xTimerChangePeriod(once, 50, 0) == pdPASS && xTimerReset(once, 0) == pdPASS);
    vTaskDelay(3);
    CHECK(fired == stopped);
    CHECK(xTimerPendFunctionCall(on_call, (void *)&called, 7, 0) == pdPASS && called == 7);
    CHECK(xTimerDelete(once, 0) == pdPASS && xTimerDelete(often, 0) == pdPASS);
}
