/* Calls every part of FreeRTOS that a task or an interrupt can switch by, one after the other, and
 * says so on the UART. */
#include "check.h"

enum { STACK = 256, CHECKER = 3 };

void (*volatile in_tick)(BaseType_t *woken);

static void put(const char *text)
{
    while (*text != '\0') {
        board_put(*text++);
    }
}

static void say(const char *text)
{
    put(text);
    board_put('\n');
}

void failed(const char *file, int line)
{
    char digits[5] = "0000";
    for (int place = 3; place >= 0; place--, line /= 10) {
        digits[place] = (char)('0' + line % 10);
    }
    taskDISABLE_INTERRUPTS();
    put("FAILED ");
    put(file);
    put(":");
    say(digits);
    for (;;) {
    }
}

TaskHandle_t spawn(TaskFunction_t function, void *argument, UBaseType_t priority)
{
    TaskHandle_t task = NULL;
    CHECK(xTaskCreate(function, "peer", STACK, argument, priority, &task) == pdPASS);
    return task;
}

void vApplicationTickHook(void)
{
    BaseType_t woken = pdFALSE;
    if (in_tick != NULL) {
        in_tick(&woken);
    }
    portYIELD_FROM_ISR(woken);
}

static void checker(void *unused)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } parts[] = {
        {"tasks", check_tasks},
        {"queues", check_queues},
        {"semaphores", check_semaphores},
        {"notifications", check_notifications},
        {"timers", check_timers},
        {"event groups", check_events},
        {"stream buffers", check_streams},
        {"interrupts", check_interrupts},
        {"registers", check_registers},
        {"switches", check_switches},
    };
    (void)unused;
    size_t before = xPortGetFreeHeapSize();
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            parts[i].check();
            if (round == 0) {
                say(parts[i].name);
            }
        }
        vTaskDelay(2); /* the idle task frees what was deleted */
        CHECK(xPortGetFreeHeapSize() == before);
    }
    char told[9] = "00000000";
    for (uint32_t place = 0, left = switches_told(); place < 8; place++, left <<= 4) {
        told[place] = "0123456789abcdef"[left >> 28];
    }
    say(told);
    say("all passed");
    vTaskDelete(NULL);
}

int main(void)
{
    board_init();
    xTaskCreate(checker, "checker", STACK, NULL, CHECKER, NULL);
    vTaskStartScheduler();
    for (;;) {
    }
}
