/* RT-Thread's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <rtthread.h>

typedef struct rt_semaphore rtos_semaphore;

#endif
