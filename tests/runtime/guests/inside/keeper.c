/* May do to the asker what would end the call that asks for it. */
#include <fvm/native.h>

#include "fvm_domain.h"

uint32_t serve_stop(uint32_t thread, uint32_t none, uint32_t nothing, uint32_t broken)
{
    (void)none, (void)nothing, (void)broken;
    return (uint32_t)fvm_thread_stop(thread == 0 ? FVM_CAP_MAIN : FVM_CAP_SECOND);
}

uint32_t serve_restart(uint32_t none, uint32_t nothing, uint32_t nowhere, uint32_t broken)
{
    (void)none, (void)nothing, (void)nowhere, (void)broken;
    return (uint32_t)fvm_domain_restart(FVM_CAP_DOMAIN_ASKER);
}

static enum fvm_decision decide(const struct fvm_fault *fault)
{
    (void)fault;
    return FVM_RESTART;
}

int main(void)
{
    static const struct fvm_watched watched[] = {{FVM_INDEX_ASKER, FVM_CAP_DOMAIN_ASKER}};
    (void)fvm_port_open(FVM_CAP_STOP_ME);
    (void)fvm_port_open(FVM_CAP_RESTART_ME);
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, 1, decide);
}
