/* uC/OS-II's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <ucos_ii.h>

typedef OS_EVENT *rtos_semaphore;

#endif
