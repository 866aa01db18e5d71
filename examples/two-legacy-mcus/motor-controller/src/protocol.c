/* Messages: kind, sequence number and value, little-endian. */
#include "protocol.h"

static void put32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void protocol_pack(const struct protocol_message *message, uint8_t *payload)
{
    payload[0] = message->kind;
    put32(&payload[1], message->sequence);
    put32(&payload[5], message->value);
}

int protocol_unpack(const uint8_t *payload, uint32_t length, struct protocol_message *message)
{
    if (length != PROTOCOL_BYTES) {
        return 0;
    }
    message->kind = payload[0];
    message->sequence = get32(&payload[1]);
    message->value = get32(&payload[5]);
    return 1;
}

void protocol_track(struct protocol_receiver *receiver, uint32_t sequence)
{
    if (receiver->received != 0) {
        if (sequence < receiver->expected) {
            receiver->restarts++;
        } else {
            receiver->gaps += sequence - receiver->expected;
        }
    }
    receiver->expected = sequence + 1U;
    receiver->received++;
}
