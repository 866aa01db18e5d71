/* What VMs write into the log: a queue of characters a VM, which the hypervisor empties. A call
 * takes one character and never waits; what finds no room is counted. What a VM wrote stays when it
 * restarts: its last words are of interest. */
#include "kernel/kernel.h"

#define TEXTS FVM_AT_LEAST_ONE(FVM_TEXTS)
#define ROOM 256u /* characters; a power of two, so that the counters may run over */
#define PIECE 4u  /* characters in a word */
#define BYTE_BITS 8u

struct text {
    uint16_t put, taken;
    uint32_t lost;
    uint8_t character[ROOM];
};

static struct text text_table[TEXTS];

int32_t text_put(struct call_frame *frame, struct thread *caller)
{
    uint32_t number = caller->vcpu->config->text;
    if (number == 0) {
        return FVM_E_OWNER;
    }
    struct text *text = &text_table[number - 1];
    if ((uint16_t)(text->put - text->taken) == ROOM) {
        text->lost++;
        return FVM_E_BUSY;
    }
    text->character[text->put++ % ROOM] = (uint8_t)frame->r[0];
    return FVM_OK;
}

int32_t text_take(struct call_frame *frame, struct thread *caller)
{
    if (capability_find(caller, frame->r[0], FVM_CAP_LOG, FVM_RIGHT_CONTROL) == NULL) {
        return FVM_E_CAPABILITY;
    }
    uint32_t number = frame->r[1];
    if (number == 0 || number > TEXTS) {
        return FVM_E_ARGUMENT;
    }
    struct text *text = &text_table[number - 1];
    uint32_t count = 0, piece = 0;
    while (count < PIECE && text->taken != text->put) {
        uint8_t character = text->character[text->taken++ % ROOM];
        piece |= (uint32_t)character << BYTE_BITS * count++;
        if (character == '\n') {
            break;
        }
    }
    frame->r[1] = piece;
    frame->r[2] = text->lost;
    text->lost = 0;
    return (int32_t)count;
}
