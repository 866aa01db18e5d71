/* Another virtual machine: it sleeps, and has a tick if the program that runs the image says so. */
#include <fvm/guest.h>

extern const unsigned other_hz;

static volatile unsigned ticks;

void on_tick(void) { ticks++; }

int main(void)
{
    (void)hyp_tick_set(other_hz);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
