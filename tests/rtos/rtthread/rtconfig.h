/* RT-Thread's configuration: threads and semaphores of static memory. */
#ifndef RT_CONFIG_H
#define RT_CONFIG_H

#define RT_THREAD_PRIORITY_MAX 32
#define RT_TICK_PER_SECOND 1000
#define RT_ALIGN_SIZE 4
#define RT_NAME_MAX 8
#define RT_USING_SEMAPHORE
#define RT_USING_OVERFLOW_CHECK
#define IDLE_THREAD_STACK_SIZE 512

#endif
