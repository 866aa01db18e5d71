/* The operations, and what they share. Each file of src has some of them. */
#ifndef BENCH_OPERATIONS_H
#define BENCH_OPERATIONS_H

#include "FreeRTOS.h"
#include "task.h"

#include "marks.h"

enum { LOW = 2, HIGH = 3, DRIVER = 6 }; /* task priorities */

/* Runs one or two tasks until each called finish(). */
void run_tasks(TaskFunction_t first, UBaseType_t first_priority, TaskFunction_t second,
               UBaseType_t second_priority);
void finish(void);

/* What the timer's interrupt does. */
enum action { ACT_NONE, ACT_YIELD, ACT_NOTIFY, ACT_SEMAPHORE, ACT_QUEUE };
extern volatile enum action action;

void run_cooperative(void); /* ctx, ctx_fp */
void run_messages(void);    /* ntf, sem, msg */
void run_interrupts(void);  /* ctx_p, ntf_i, sem_i, msg_i */
void run_guest(void);       /* what only a virtual machine has */
void run_tick(void);        /* tick; last, since the tick goes on */

#endif
