/* What the files of the application share. */
#ifndef SCALE_H
#define SCALE_H

#include "marks.h"

extern const unsigned scale_tasks;

/* In the virtual machine alone: calls, events, and its part in what the process measures. */
void run_guest(void);
/* Waits for ever if asked to; the machine is idle then. */
void rest(void);

#endif
