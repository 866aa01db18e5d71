/* Frames on the link: payload and CRC-16 between flag bytes, as HDLC does it.
 * A flag or escape byte inside is sent as the escape byte and the byte xor 0x20. */
#ifndef FRAME_H
#define FRAME_H

#include <stdint.h>

#define FRAME_PAYLOAD_MAX 16U
#define FRAME_ENCODED_MAX (2U + 2U * (FRAME_PAYLOAD_MAX + 2U))

struct frame_decoder {
    uint8_t data[FRAME_PAYLOAD_MAX + 2U]; /* payload and CRC so far */
    uint8_t length;
    uint8_t escaped;  /* the last byte was an escape */
    uint8_t oversize; /* more bytes than a frame can have */
};

void frame_reset(struct frame_decoder *decoder);

/* Writes the frame to out (FRAME_ENCODED_MAX bytes) and returns its length. */
uint32_t frame_encode(const uint8_t *payload, uint32_t length, uint8_t *out);

/* Takes one byte. Returns the payload's length when it ends a good frame (payload in
 * decoder->data), 0 while a frame is incomplete, -1 when it ends a bad one. */
int frame_decode(struct frame_decoder *decoder, uint8_t byte);

#endif
