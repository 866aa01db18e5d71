/* What the parts of the thread test tell each other. */
#ifndef TEST_BOARD_H
#define TEST_BOARD_H

#include <stdint.h>

#include "fvm_domain.h"

struct board {
    uint32_t busy;          /* counts while `busy` runs */
    uint32_t inside;        /* calls that are in serve_wait */
    uint32_t broken;        /* calls of it that were broken off */
    uint32_t caller_status; /* of the last call that came back, plus 100 */
    uint32_t quiet;         /* order: nobody computes any more */
    uint32_t restart;       /* order to `other` */
    uint32_t starts;        /* of `other` */
};

#define BOARD ((volatile struct board *)FVM_SHM_BOARD)

#endif
