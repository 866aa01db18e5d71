/* Signals and events for processes, on the one system call. */
#include <fvm/native.h>

int32_t fvm_signal_wait(uint32_t cap) { return fvm_call(FVM_CALL_SIGNAL_WAIT, cap, 0, 0, 0).r0; }

int32_t fvm_signal_send(uint32_t cap) { return fvm_call(FVM_CALL_SIGNAL_SEND, cap, 0, 0, 0).r0; }

int32_t fvm_event_send(uint32_t cap) { return fvm_call(FVM_CALL_EVT_SND, cap, 0, 0, 0).r0; }
