/* Sends an event every tick and counts how it was answered. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

static volatile uint32_t ticks, events, wilds, sent, busy, other;

void line_handler(void) {}
void event_handler(void) { events++; }

void wild_handler(void) { wilds++; }

void tick_handler(void)
{
    switch (hyp_evt_snd(FVM_EVT_TO_OWNER)) {
    case FVM_OK:
        sent++;
        break;
    case FVM_E_BUSY:
        busy++;
        break;
    default:
        other++;
        break;
    }
    ticks++;
}

int main(void)
{
    report_init();
    (void)hyp_tick_set(1000);
    while (ticks < 400) {
        (void)hyp_vct_wait();
    }
    report("sent", (int32_t)sent);
    report("busy", (int32_t)busy);
    report("other", (int32_t)other);
    report("events", (int32_t)events);
    report("wilds", (int32_t)wilds);
    report("done", 1);
}
