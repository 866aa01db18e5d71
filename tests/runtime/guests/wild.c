/* A process that calls everything with everything. Its only capabilities are to wait for a timer
 * and to send an event. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

static const uint32_t far[] = {0x100u,      0xFFFFu,     0x10000u,    0x1000000u,
                               0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu};
#define FAR (sizeof far / sizeof far[0])
#define NUMBERS 64u

static int32_t result(uint32_t number, uint32_t cap)
{
    return fvm_call(number, cap, 0xFFFFFFFFu, 0xFFFFFFFFu, 0).r0;
}

static int takes_capability(uint32_t number)
{
    return (number >= FVM_CALL_FAULT_NEXT && number <= FVM_CALL_DOMAIN_STOP) ||
           (number >= FVM_CALL_VCPU_BUDGET && number <= FVM_CALL_REQUEST_NEXT) ||
           number == FVM_CALL_FAULT_DECIDED || number == FVM_CALL_TIMER_SET;
}

/* How many of the numbers and capabilities gave something else than the refusal expected. */
static int32_t unexpected_numbers(void)
{
    int32_t other = 0;
    for (uint32_t number = 0; number < 256u; number++) {
        int is_call = number == FVM_CALL_EVT_SND || takes_capability(number);
        other += result(number, 100) != (is_call ? FVM_E_CAPABILITY : FVM_E_CALL);
    }
    for (uint32_t i = 0; i < FAR; i++) {
        other += result(far[i], FVM_CAP_BEAT) != FVM_E_CALL;
    }
    return other;
}

static int32_t unexpected_capabilities(void)
{
    int32_t other = 0;
    for (uint32_t number = FVM_CALL_FAULT_NEXT; number < NUMBERS; number++) {
        if (!takes_capability(number)) {
            continue;
        }
        for (uint32_t cap = 2; cap < 256u; cap++) {
            other += result(number, cap) != FVM_E_CAPABILITY;
        }
        for (uint32_t i = 0; i < FAR; i++) {
            other += result(number, far[i]) != FVM_E_CAPABILITY;
        }
    }
    return other;
}

static int32_t wrong_type_or_right(void)
{
    int32_t other = result(FVM_CALL_EVT_SND, FVM_CAP_BEAT) != FVM_E_CAPABILITY;
    other += result(FVM_CALL_SIGNAL_WAIT, FVM_CAP_FROM_WILD) != FVM_E_CAPABILITY;
    for (uint32_t number = FVM_CALL_FAULT_NEXT; number < NUMBERS; number++) {
        if (!takes_capability(number) || number == FVM_CALL_SIGNAL_WAIT) {
            continue;
        }
        other += result(number, FVM_CAP_BEAT) != FVM_E_CAPABILITY;
        other += result(number, FVM_CAP_FROM_WILD) != FVM_E_CAPABILITY;
    }
    return other;
}

int main(void)
{
    report_init();
    report("wild.numbers", unexpected_numbers());
    report("wild.capabilities", unexpected_capabilities());
    report("wild.own_capability", wrong_type_or_right());
    report("event.while_it_starts", fvm_event_send(FVM_CAP_FROM_WILD));
    report("beat", fvm_signal_wait(FVM_CAP_BEAT));
    for (uint32_t i = 0; i < 5u; i++) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
    report("event.sent", fvm_event_send(FVM_CAP_FROM_WILD));
    report("done", 1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}
