/* What all parts of the test share. A check that fails says where and ends the run. */
#ifndef CHECK_H
#define CHECK_H

#include "FreeRTOS.h"
#include "task.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failed(__FILE__, __LINE__);                                                            \
        }                                                                                          \
    } while (0)

void failed(const char *file, int line);

/* Runs once in each tick, in the handler, if it isn't NULL. */
extern void (*volatile in_tick)(BaseType_t *woken);

TaskHandle_t spawn(TaskFunction_t function, void *argument, UBaseType_t priority);

void check_tasks(void);
void check_queues(void);
void check_semaphores(void);
void check_notifications(void);
void check_timers(void);
void check_events(void);
void check_streams(void);
void check_interrupts(void);
void check_registers(void);
void check_switches(void);

/* A number that tells the order of the switches of all rounds of check_switches. */
uint32_t switches_told(void);

#endif
