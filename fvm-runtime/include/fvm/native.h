/* API of native processes and of the hypervisor. `cap` is an index into the process's capability
 * table; the generated fvm_domain.h names them (FVM_CAP_<NAME>). */
#ifndef FVM_NATIVE_H
#define FVM_NATIVE_H

#include <stdint.h>

#include <fvm/fault.h>
#include <fvm/hypercall.h>
#include <fvm/invoke.h>

struct fvm_result {
    int32_t r0;
    uint32_t r1, r2, r3;
};

/* Any call by number; see hypercall.h for arguments and results. */
struct fvm_result fvm_call(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3);

/* Blocks until the signal was sent; returns how often since the last wait, or FVM_E_*. The count
 * saturates. */
int32_t fvm_signal_wait(uint32_t cap);
int32_t fvm_signal_send(uint32_t cap);
int32_t fvm_event_send(uint32_t cap); /* FVM_E_BUSY while the receiver starts */

/* --- faults ----------------------------------------------------------------------------- */
/* The oldest record of the log after the one with serial `after` (0: of all); the log keeps it.
 * Returns 1, 0 without such a record, or FVM_E_*. A record that is missing was lost: its serial
 * is left out. */
int32_t fvm_fault_read(uint32_t cap, uint32_t after, struct fvm_fault *record);
/* Stops a domain, or starts it anew. The caller must outrank all its threads. */
int32_t fvm_domain_stop(uint32_t cap);
int32_t fvm_domain_restart(uint32_t cap);

/* A domain that this process decides about: its index in records, and the capability of it. */
struct fvm_watched {
    uint8_t domain, cap;
};

/* A loop for a process that decides about others, at most 32: waits on the signal `faults`, calls
 * `decide` once for each fault with its record, writes into the log what it returned, and does it.
 * A record that was lost has serial 0 and only the domain. FVM_UNDECIDED: the domain stays stopped,
 * and `decide` is asked again after the next fault of any of them. */
_Noreturn void fvm_fault_serve(uint32_t faults, uint32_t log, const struct fvm_watched *watched,
                               uint32_t count,
                               enum fvm_decision (*decide)(const struct fvm_fault *fault));
/* Invocation (fvm_invoke is in <fvm/invoke.h>): a port's function runs in its own process on a
 * stack of its own, called by a thread of another process and with that thread's priority: uint32_t
 * function(uint32_t a, uint32_t b, uint32_t c, uint32_t broken); `broken` counts the calls since
 * the start of the process whose callers restarted in the middle. Ports are closed at the start, so
 * that nobody is let in before its process is ready. */
int32_t fvm_port_open(uint32_t cap);
int32_t fvm_port_close(uint32_t cap); /* FVM_E_BUSY, and it stays open, while a caller is inside */

#endif
