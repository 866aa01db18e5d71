/* Exchange with the sensor node. */
#ifndef COMM_H
#define COMM_H

#include <stdint.h>

#include "link.h"
#include "protocol.h"

struct comm_status {
    uint32_t sent; /* messages */
    struct protocol_receiver receiver;
    struct link_counters link;
};

void comm_init(void);
void comm_get_status(struct comm_status *status);

#endif
