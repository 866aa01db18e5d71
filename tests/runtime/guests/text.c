/* Writes a line into the log, one that a terminal would obey, and more than there is room for. */
#include <fvm/guest.h>

#include "report.h"

#define FLOOD 1000

static volatile uint32_t ticks;

void tick_handler(void) { ticks++; }

static void say(const char *text)
{
    while (*text != '\0') {
        (void)hyp_putc(*text++);
    }
}

int main(void)
{
    report_init();
    say("first line\r\n\x1b[2J\" tick=5 said=\"\\\n");
    (void)hyp_putc('\0');
    int32_t refused = 0, other = 0;
    for (int32_t i = 0; i < FLOOD; i++) {
        int result = hyp_putc('x');
        refused += result == FVM_E_BUSY;
        other += result != FVM_E_BUSY && result != FVM_OK ? result : 0;
    }
    (void)hyp_tick_set(1000);
    while (ticks < 100) {
        (void)hyp_vct_wait();
    }
    say("\nlast line\n");
    report("refused", refused);
    report("other", other);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
