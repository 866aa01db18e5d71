/* For an SVC handler that reads the call's number, or calls the function that a register holds.
 *
 * virt_vct_trig(FVM_VIRT_SVC) carries no number and no registers: what should be done stands in
 * `request`. supervisor_call() stands for the SVC instruction and its wrappers, SVC_Handler() for
 * the handler; a switch that the service asks for (PENDSVSET in the original) is vector 0's. FILL
 * IN what is marked so, and take out the original handler.
 */
#include <fvm/guest.h>

typedef uint32_t (*service)(uint32_t, uint32_t, uint32_t, uint32_t);

int switch_is_due(void); /* FILL IN: whether the service made another task the one to run */

static volatile struct {
    service function;
    uint32_t argument[4];
    uint32_t result;
} request;

/* FILL IN: the wrappers call this. From a handler, or before the first task, the service runs at
 * once: in VCT nothing interrupts it, and a USR that masks could not wait for VCT. */
uint32_t supervisor_call(service function, const uint32_t argument[4]);
uint32_t supervisor_call(service function, const uint32_t argument[4])
{
    if (virt_in_vct() || virt_int_query(VIRT_PRIMASK)) {
        return function(argument[0], argument[1], argument[2], argument[3]);
    }
    uint32_t masked = virt_int_save(VIRT_BASEPRI); /* no other task's request meanwhile */
    request.function = function;
    for (uint32_t number = 0; number < 4; number++) {
        request.argument[number] = argument[number];
    }
    virt_vct_trig(FVM_VIRT_SVC); /* served before it returns: BASEPRI doesn't hold it */
    uint32_t result = request.result;
    virt_int_restore(VIRT_BASEPRI, masked); /* here the switch happens, if one is due */
    return result;
}

void SVC_Handler(void);
void SVC_Handler(void)
{
    request.result = request.function(request.argument[0], request.argument[1], request.argument[2],
                                      request.argument[3]);
    if (switch_is_due()) {
        virt_vct_trig(FVM_VIRT_SWITCH);
    }
}
