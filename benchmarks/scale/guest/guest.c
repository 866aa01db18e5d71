/* In place of src/guest.c in the virtual machine. */
#include "fvm_domain.h"
#include <fvm/guest.h>

#include "scale.h"

ROUNDS(call);
ROUNDS(event);
ROUNDS(native);
ROUNDS(rest);

static volatile unsigned done, answered;

void on_done(void) { done = 1; }
void on_unused(void) {}

MARKED void on_last(void)
{
    MARK(event_stop);
    answered++;
}

static MARKED void calls(void)
{
    for (unsigned left = rounds_call; left != 0; left--) {
        MARK(call_start);
        (void)hyp_wdg_clr();
        MARK(call_stop);
    }
}

static void events(void)
{
    for (unsigned left = rounds_event; left != 0; left--) {
        unsigned before = answered;
        (void)hyp_evt_snd(FVM_EVT_ASK);
        while (answered == before) {
        }
    }
}

static void natives(void)
{
    if (rounds_native != 0) {
        done = 0;
        (void)hyp_evt_snd(FVM_EVT_BEGIN);
        while (done == 0) {
        }
    }
}

void run_guest(void)
{
    calls();
    events();
    natives();
}

void rest(void)
{
    if (rounds_rest != 0) {
        (void)hyp_vct_wait();
    }
}
