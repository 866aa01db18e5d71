/* Orders of the owner to the others: one system call each, and what it returned. */
#ifndef TEST_ORDERS_H
#define TEST_ORDERS_H

#include <stdint.h>

#include "fvm_domain.h"

enum { MIDDLE, USER, BARE, SERVANTS };

#define ORDER_TRAP 0xFFu /* instead of a call: a fault */

struct order {
    uint32_t given, done; /* counts */
    uint32_t number, argument[4];
    int32_t result;
    uint32_t second; /* r1 */
};

#define ORDER(who) (&((volatile struct order *)FVM_SHM_BOARD)[who])

void wait(uint32_t ticks);

/* The result of a call that another process makes. */
int32_t by(uint32_t who, uint32_t number, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

#endif
