/* uC/OS-III's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <os.h>

typedef OS_SEM rtos_semaphore;

#endif
