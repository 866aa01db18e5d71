/* What the three say to each other. */
#ifndef TEST_STOPS_BOARD_H
#define TEST_STOPS_BOARD_H

#include <fvm/native.h>

#include "fvm_domain.h"

struct board {
    enum { FIRST = 1, SECOND, WAITS, SIGNAL } order; /* what the client is to call, or wait for */
    uint32_t done;                                   /* orders; one that waits isn't */
    int32_t status;                                  /* of the call */
    uint32_t result;                                 /* of the port */
    uint32_t starts, in_main;                        /* of the server */
    int32_t made;                                    /* by its start: a signal */
    uint32_t go, spins; /* whether the port that spins is to end; whether it is in there */
    uint32_t broken;    /* how many of its calls were broken off, as the port is told */
    int32_t given;      /* to the client: that signal */
};

#define BOARD ((volatile struct board *)FVM_SHM_BOARD)

#endif
