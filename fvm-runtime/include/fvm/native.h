/* API of native processes and of the hypervisor. `cap` is an index into the process's capability
 * table; the generated fvm_domain.h names them (FVM_CAP_<NAME>). */
#ifndef FVM_NATIVE_H
#define FVM_NATIVE_H

#include <stdint.h>

#include <fvm/fault.h>
#include <fvm/hypercall.h>
#include <fvm/invoke.h>
#include <fvm/trap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks until the signal was sent; returns how often since the last wait, or FVM_E_*. The count
 * saturates. */
static inline int32_t fvm_signal_wait(uint32_t cap) { return fvm_trap1(FVM_CALL_SIGNAL_WAIT, cap); }

static inline int32_t fvm_signal_send(uint32_t cap) { return fvm_trap1(FVM_CALL_SIGNAL_SEND, cap); }

/* FVM_E_BUSY while the VM that receives it starts; a process drops what came before its
 * threads are started. */
static inline int32_t fvm_event_send(uint32_t cap) { return fvm_trap1(FVM_CALL_EVT_SND, cap); }

/* --- faults ----------------------------------------------------------------------------- */
/* The oldest record of the log after the one with serial `after` (0: of all); the log keeps it.
 * Returns 1, 0 without such a record, or FVM_E_*. Serials leave some out where records were lost.
 */
int32_t fvm_fault_read(uint32_t cap, uint32_t after, struct fvm_fault *record);
/* Stops a domain, or starts it anew. The caller must outrank all its threads, whatever priority
 * they may be given: in a port, where it has the priority of who called, it is FVM_E_ARGUMENT if it
 * doesn't. So it is for one that waits for this very call.
 * FVM_E_BUSY: it stopped by a fault and is held back for a time; the signal of who decides about it
 * comes when that is over. */
int32_t fvm_domain_stop(uint32_t cap);
int32_t fvm_domain_restart(uint32_t cap);

/* A domain that this process decides about: its index in records, and the capability of it. */
struct fvm_watched {
    uint8_t domain, cap;
};

/* A loop for a process that decides about others, at most 32: waits on the signal `faults`, calls
 * `decide` once for each fault with its record, writes into the log what it returned, and does it.
 * It asks when the time is over for which faults in a row hold a domain back.
 * A record that was lost has serial 0 and only the domain. FVM_UNDECIDED, or what is none of enum
 * fvm_decision: the domain stays stopped, and `decide` is asked again after the next fault of any
 * of them. `log` is FVM_CAP_LOG, which a process that decides has in any case. */
__attribute__((noreturn)) void
fvm_fault_serve(uint32_t faults, uint32_t log, const struct fvm_watched *watched, uint32_t count,
                enum fvm_decision (*decide)(const struct fvm_fault *fault));
/* A function of the kernel, FVM_FUNCTION_*: what it says goes to *result. */
int32_t fvm_function(uint32_t cap, uint32_t *result);

/* Threads of processes. One that is started begins anew, with the argument for its function. */
int32_t fvm_thread_start(uint32_t cap, uint32_t argument); /* FVM_E_BUSY unless it is stopped */
/* FVM_NONE: the caller. FVM_E_CALL for a thread that waits for this very call. */
int32_t fvm_thread_stop(uint32_t cap);
/* FVM_E_BUSY: somebody else has the priority. Two at once may change places. */
int32_t fvm_thread_priority(uint32_t cap, uint32_t priority);
int32_t fvm_thread_priorities(uint32_t cap, uint32_t priority, uint32_t other, uint32_t its);

/* Capabilities of the run time. `table`: of the slots of another process, which learns the number
 * that this returns in a way of its own; `rights`: FVM_RIGHT_*, none that `cap` hasn't. */
int32_t fvm_delegate(uint32_t table, uint32_t cap, uint32_t rights, uint32_t slot);
int32_t fvm_revoke(uint32_t cap); /* all that was delegated from it, from that, and so on */
int32_t fvm_delete(uint32_t cap); /* revokes and empties a slot of its own; ends an object */

/* Objects in kernel memory, at a byte of it that the caller chooses, by a capability in a slot of
 * its own. They take FVM_OBJECT_*_SIZE bytes. What returns is the capability's number. FVM_E_BUSY:
 * a byte, the slot or the priority is in use, or there is no such slot. FVM_E_ARGUMENT: it lies
 * outside, `at` is no multiple of 4, or the priority is 0 or above the ceiling. */
int32_t fvm_create_signal(uint32_t memory, uint32_t at, uint32_t slot);
int32_t fvm_create_thread(uint32_t memory, uint32_t at, uint32_t slot, uint32_t priority);
/* Starts a created thread; the function doesn't return. `stack` is the end of its memory. */
int32_t fvm_thread_run(uint32_t cap, void (*function)(uint32_t), void *stack, uint32_t argument);

/* Invocation (fvm_invoke is in <fvm/invoke.h>): a port's function runs in its own process on a
 * stack of its own, called by a thread of another process and with that thread's priority: uint32_t
 * function(uint32_t a, uint32_t b, uint32_t c, uint32_t broken); `broken` counts the calls since
 * the start of the process whose callers restarted in the middle. Ports are closed at the start, so
 * that nobody is let in before its process is ready. */
int32_t fvm_port_open(uint32_t cap);  /* FVM_E_BUSY while its process is being stopped */
int32_t fvm_port_close(uint32_t cap); /* FVM_E_BUSY, and it stays open, while a caller is inside */

#ifdef __cplusplus
}
#endif

#endif
