/* What the parts of the invocation test tell each other: the client orders, the others note. */
#ifndef TEST_BOARD_H
#define TEST_BOARD_H

#include <stdint.h>

#include "fvm_domain.h"

struct board {
    uint32_t trap_server, trap_frail, trap_relay; /* orders: fault while one is in serve_slow */
    uint32_t by_relay;                            /* order to frail: call it by the relay */
    uint32_t inside; /* a caller is in serve_slow; the server's memory */
    uint32_t server_starts, frail_starts, relay_starts; /* how often */
    uint32_t ok, busy, fault, other, last; /* of frail's calls; result of the last good one */
    uint32_t seen[13 + 32];                /* r0-r12, s0-s31 of serve_registers */
};

#define BOARD ((volatile struct board *)FVM_SHM_BOARD)

#endif
