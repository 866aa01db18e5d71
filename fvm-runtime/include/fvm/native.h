/* API of native processes and of the hypervisor. `cap` is an index into the process's capability
 * table; the generated fvm_domain.h names them (FVM_CAP_<NAME>). */
#ifndef FVM_NATIVE_H
#define FVM_NATIVE_H

#include <stdint.h>

#include <fvm/hypercall.h>

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

#endif
