/* System calls of a process, answered by driver.c. */
#ifndef FVM_TRAP_H
#define FVM_TRAP_H

#include <stdint.h>

struct fvm_result {
    int32_t r0;
    uint32_t r1, r2, r3;
};

int fvm_trap1(uint32_t number, uint32_t cap);

#endif
