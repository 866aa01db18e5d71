/* Framing: flag, escaped payload and CRC-16/CCITT (low byte first), flag. */
#include "frame.h"

#define FLAG 0x7EU
#define ESCAPE 0x7DU
#define ESCAPE_XOR 0x20U
#define CRC_LENGTH 2U

static uint16_t crc16(const uint8_t *data, uint32_t length)
{
    uint16_t crc = 0xFFFFU;

    while (length-- != 0) {
        crc ^= (uint16_t)(*data++ << 8);
        for (int bit = 0; bit < 8; bit++) {
            uint32_t carry = crc & 0x8000U;

            crc = (uint16_t)(crc << 1);
            if (carry != 0) {
                crc ^= 0x1021U;
            }
        }
    }
    return crc;
}

static uint8_t *put_escaped(uint8_t *out, uint8_t byte)
{
    if (byte == FLAG || byte == ESCAPE) {
        *out++ = ESCAPE;
        byte ^= ESCAPE_XOR;
    }
    *out++ = byte;
    return out;
}

uint32_t frame_encode(const uint8_t *payload, uint32_t length, uint8_t *out)
{
    uint16_t crc = crc16(payload, length);
    uint8_t *p = out;

    *p++ = FLAG;
    for (uint32_t i = 0; i < length; i++) {
        p = put_escaped(p, payload[i]);
    }
    p = put_escaped(p, (uint8_t)crc);
    p = put_escaped(p, (uint8_t)(crc >> 8));
    *p++ = FLAG;
    return (uint32_t)(p - out);
}

void frame_reset(struct frame_decoder *decoder)
{
    decoder->length = 0;
    decoder->escaped = 0;
    decoder->oversize = 0;
}

/* A flag ends one frame and may begin the next: two in a row are no frame. */
static int end_of_frame(struct frame_decoder *decoder)
{
    uint32_t length = decoder->length;
    int good = 0;

    if (length > CRC_LENGTH && !decoder->escaped && !decoder->oversize) {
        uint16_t crc = crc16(decoder->data, length - CRC_LENGTH);
        good = decoder->data[length - 2U] == (uint8_t)crc &&
               decoder->data[length - 1U] == (uint8_t)(crc >> 8);
    }
    frame_reset(decoder);
    if (good) {
        return (int)(length - CRC_LENGTH);
    }
    return length == 0 ? 0 : -1;
}

int frame_decode(struct frame_decoder *decoder, uint8_t byte)
{
    if (byte == FLAG) {
        return end_of_frame(decoder);
    }
    if (byte == ESCAPE) {
        decoder->escaped = 1;
        return 0;
    }
    if (decoder->escaped) {
        decoder->escaped = 0;
        byte ^= ESCAPE_XOR;
    }
    if (decoder->length < sizeof decoder->data) {
        decoder->data[decoder->length++] = byte;
    } else {
        decoder->oversize = 1;
    }
    return 0;
}
