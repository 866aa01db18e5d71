/* The manager thread: serves the hypercalls that change rights, and refills budgets at the end of a
 * slice. A system without VMs has none. */
#include <fvm/native.h>

#include "hyp_config.h"
#include "hypervisor/policy.h"

/* May this vCPU have the line as this vector? Only what the description says. */
static int32_t vct_phys(uint32_t vcpu, uint32_t phys, uint32_t virt_id)
{
    for (uint32_t i = 0; i != HYP_ROUTES; i++) {
        const struct hyp_route *route = &hyp_route[i];
        if (route->vcpu == vcpu && route->phys == phys && route->virt_id == virt_id) {
            return FVM_OK;
        }
    }
    return FVM_E_OWNER;
}

static int32_t vct_evt(uint32_t vcpu, uint32_t evt, uint32_t virt_id)
{
    for (uint32_t i = 0; i != HYP_EVENTS; i++) {
        const struct hyp_event *event = &hyp_event[i];
        if (event->evt == evt && event->receiver_vcpu == vcpu && event->virt_id == virt_id) {
            return FVM_OK;
        }
    }
    return FVM_E_OWNER;
}

static int32_t evt_add(uint32_t vcpu, uint32_t evt)
{
    for (uint32_t i = 0; i != HYP_EVENTS; i++) {
        if (hyp_event[i].evt == evt && hyp_event[i].sender_vcpu == vcpu) {
            return FVM_OK;
        }
    }
    return FVM_E_OWNER;
}

/* The verdict; a budget asks for none. */
static int32_t decide(uint32_t vcpu, const struct fvm_result *request)
{
    if (request->r1 == FVM_CALL_VCT_PHYS) {
        return vct_phys(vcpu, request->r2, request->r3);
    }
    if (request->r1 == FVM_CALL_VCT_EVT) {
        return vct_evt(vcpu, request->r2, request->r3);
    }
    if (request->r1 == FVM_CALL_EVT_ADD) {
        return evt_add(vcpu, request->r2);
    }
    if (request->r1 == FVM_REQUEST_BUDGET) {
        (void)fvm_trap2(FVM_CALL_VCPU_BUDGET, hyp_vcpu[vcpu].cap, hyp_vcpu[vcpu].budget);
    }
    return FVM_OK; /* FVM_CALL_VCT_LCK */
}

_Noreturn void hyp_manager_thread(void)
{
    int32_t verdict = FVM_OK; /* on the last call */
    for (;;) {
        struct fvm_result request =
            fvm_call(FVM_CALL_REQUEST_NEXT, HYP_CAP_MANAGER, (uint32_t)verdict, 0, 0);
        verdict = decide((uint32_t)request.r0, &request);
    }
}
