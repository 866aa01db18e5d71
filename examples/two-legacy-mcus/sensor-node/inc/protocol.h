/* What the two controllers say to each other: fixed-size numbered messages. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stdint.h>

#define PROTOCOL_BYTES 9U

#define PROTOCOL_SETPOINT 'S' /* motor to sensor: value = wanted speed, rpm */
#define PROTOCOL_STATUS 'T'   /* motor to sensor: value = actual speed, rpm */
#define PROTOCOL_SAMPLE 'D'   /* sensor to motor: value = filtered sample */

struct protocol_message {
    uint8_t kind;
    uint32_t sequence; /* 0 for the first message after a start, then one more each */
    uint32_t value;
};

struct protocol_receiver {
    uint32_t expected; /* next sequence number */
    uint32_t received; /* messages */
    uint32_t gaps;     /* messages that never came */
    uint32_t restarts; /* of the peer */
};

void protocol_pack(const struct protocol_message *message, uint8_t *payload);

/* Returns 0 if the payload is no message. */
int protocol_unpack(const uint8_t *payload, uint32_t length, struct protocol_message *message);

/* Follows the sequence numbers. The first message sets the expectation; a number that goes
 * back means that the peer started again, one that jumps ahead that messages were lost. */
void protocol_track(struct protocol_receiver *receiver, uint32_t sequence);

#endif
