/* In place of background.c: the load is another machine, and this one sleeps when it is idle. */
#include <fvm/guest.h>

void background_start(void);
void vApplicationIdleHook(void);

void background_start(void) {}
void vApplicationIdleHook(void) { (void)hyp_vct_wait(); }
