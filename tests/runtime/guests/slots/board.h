/* What the three tell one another. */
#ifndef TEST_BOARD_H
#define TEST_BOARD_H

#include <stdint.h>

#include "fvm_domain.h"

struct board {
    uint32_t boots;         /* of the maker */
    int32_t free[3];        /* what it got for each of its slots at its start */
    uint32_t stopping;      /* now it is stopped */
    int32_t made;           /* what its thread got meanwhile, the best of all tries */
    uint32_t order, done;   /* of the neighbour: how often to fill the maker's slot 0 */
    int32_t filled, beyond; /* times it was; what it got for slot 1 */
};

#define BOARD ((volatile struct board *)FVM_SHM_BOARD)

#endif
