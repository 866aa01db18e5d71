/* Driver of the link to the motor controller: frames in both directions. For the main loop;
 * what arrives sets WORK_LINK. */
#ifndef LINK_H
#define LINK_H

#include <stdint.h>

#include "frame.h"

struct link_counters {
    uint32_t errors;  /* bad frames */
    uint32_t dropped; /* bytes lost for want of room */
};

void link_init(void);

/* Returns 0 if the frame could not be taken. At most FRAME_PAYLOAD_MAX bytes. */
int link_send(const uint8_t *payload, uint32_t length);

/* Copies the next frame's payload (FRAME_PAYLOAD_MAX bytes) and returns its length; 0 if no
 * frame is complete. */
uint32_t link_receive(uint8_t *payload);

void link_count(struct link_counters *counters);

#endif
