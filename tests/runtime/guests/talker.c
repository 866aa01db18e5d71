/* Writes a line into the log ten times a second. */
#include <fvm/guest.h>

static volatile uint32_t ticks;

void tick_handler(void) { ticks++; }

int main(void)
{
    (void)hyp_tick_set(10);
    for (;;) {
        uint32_t before = ticks;
        while (ticks == before) {
            (void)hyp_vct_wait();
        }
        for (const char *text = "well\n"; *text != '\0'; text++) {
            (void)hyp_putc(*text);
        }
    }
}
