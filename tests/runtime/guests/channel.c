/* A VM that passes a token on, from the handler of the event that brings it. The one that begins
 * waits until everybody is up, and stops the token after ROUNDS. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

#define ROUNDS 100u
#define READY 20u /* ticks */

static volatile uint32_t ticks, tokens, refused;

static void pass(void) { refused += hyp_evt_snd(NEXT) != FVM_OK; }

void tick_handler(void)
{
    if (++ticks == READY && BEGINS) {
        pass();
    }
}

void event_handler(void)
{
    if (++tokens < ROUNDS || !BEGINS) {
        pass();
    }
}

int main(void)
{
    report_init();
    (void)hyp_tick_set(1000);
    while (tokens < ROUNDS) {
        (void)hyp_vct_wait();
    }
    while (ticks < 5u * READY) { /* more than ROUNDS would show by then */
        (void)hyp_vct_wait();
    }
    report("tokens", (int32_t)tokens);
    report("refused", (int32_t)refused);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
