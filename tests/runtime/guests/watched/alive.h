/* What the worker and the watcher share. */
#ifndef TEST_ALIVE_H
#define TEST_ALIVE_H

#include <stdint.h>

#include "fvm_domain.h"

#define KEPT 0xC0FFEE11u

struct alive {
    uint32_t kept;   /* of the watcher: KEPT since the first start of the chip */
    uint32_t pulses; /* of the worker: grows while it works */
    uint32_t last;   /* of the watcher: what it saw of that */
};

#define ALIVE ((volatile struct alive *)FVM_SHM_ALIVE)

#endif
