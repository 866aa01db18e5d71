/* Ports, kernel functions, threads, capabilities and objects of the run time for processes. */
#include <fvm/native.h>

int32_t fvm_port_open(uint32_t cap) { return fvm_call(FVM_CALL_PORT_OPEN, cap, 1, 0, 0).r0; }

int32_t fvm_port_close(uint32_t cap) { return fvm_call(FVM_CALL_PORT_OPEN, cap, 0, 0, 0).r0; }

int32_t fvm_function(uint32_t cap, uint32_t *result)
{
    struct fvm_result said = fvm_call(FVM_CALL_FUNCTION, cap, 0, 0, 0);
    *result = said.r1;
    return said.r0;
}

int32_t fvm_thread_start(uint32_t cap, uint32_t argument)
{
    return fvm_call(FVM_CALL_THREAD_START, cap, argument, 0, 0).r0;
}

/* The kernel does what takes long by bounded steps. */
static int32_t until_done(uint32_t number, uint32_t cap, uint32_t at, uint32_t what)
{
    int32_t result;
    do {
        result = fvm_call(number, cap, at, what, 0).r0;
    } while (result == FVM_MORE);
    return result;
}

int32_t fvm_thread_stop(uint32_t cap) { return until_done(FVM_CALL_THREAD_STOP, cap, 0, 0); }

int32_t fvm_thread_priority(uint32_t cap, uint32_t priority)
{
    return fvm_call(FVM_CALL_THREAD_PRIORITY, cap, priority, FVM_NONE, 0).r0;
}

int32_t fvm_thread_priorities(uint32_t cap, uint32_t priority, uint32_t other, uint32_t its)
{
    return fvm_call(FVM_CALL_THREAD_PRIORITY, cap, priority, other, its).r0;
}

int32_t fvm_thread_run(uint32_t cap, void (*function)(uint32_t), void *stack, uint32_t argument)
{
    return fvm_call(FVM_CALL_THREAD_START, cap, argument, (uint32_t)function, (uint32_t)stack).r0;
}

int32_t fvm_delegate(uint32_t table, uint32_t cap, uint32_t rights, uint32_t slot)
{
    return fvm_call(FVM_CALL_CAP_DELEGATE, table, cap, rights, slot).r0;
}

int32_t fvm_revoke(uint32_t cap) { return until_done(FVM_CALL_CAP_REVOKE, cap, 0, 0); }

int32_t fvm_delete(uint32_t cap) { return until_done(FVM_CALL_CAP_DELETE, cap, 0, 0); }

/* For the call, which has fewer bits: what doesn't fit becomes the largest, and no process has a
 * slot or a ceiling of that number, so the kernel refuses it as it does any other that isn't there.
 */
static uint32_t at_most(uint32_t value, uint32_t largest)
{
    return value < largest ? value : largest;
}

static int32_t create(uint32_t memory, uint32_t at, uint32_t kind, uint32_t slot, uint32_t priority)
{
    uint32_t what = kind | at_most(slot, 0xFFu) << 8 | at_most(priority, 0xFFFFu) << 16;
    return until_done(FVM_CALL_OBJECT_CREATE, memory, at, what);
}

int32_t fvm_create_signal(uint32_t memory, uint32_t at, uint32_t slot)
{
    return create(memory, at, FVM_OBJECT_SIGNAL, slot, 0);
}

int32_t fvm_create_thread(uint32_t memory, uint32_t at, uint32_t slot, uint32_t priority)
{
    return create(memory, at, FVM_OBJECT_THREAD, slot, priority);
}
