/* Link driver over shared memory: the same frames as on USART3 go through two rings, and an
 * event takes the place of the receive interrupt. Built instead of src/link_uart.c. */
#include "link.h"

#include <string.h>

#include <fvm/guest.h>
#include <fvm/ring.h>

#include "fvm_domain.h"
#include "work.h"

#define RING_SIZE (FVM_SHM_LINK_SIZE / 2U)
#define TO_SENSOR FVM_SHM_LINK
#define TO_MOTOR ((volatile void *)((volatile uint8_t *)FVM_SHM_LINK + RING_SIZE))

static struct fvm_ring tx, rx;
static uint32_t rx_starts; /* of the writer, as far as the decoder knows */
static uint32_t rx_errors;
static struct frame_decoder decoder;

void link_init(void)
{
    fvm_ring_writer(&tx, TO_MOTOR, RING_SIZE);
    fvm_ring_reader(&rx, TO_SENSOR, RING_SIZE);
}

/* Event from the motor controller. */
void link_event(void) { work_set(WORK_LINK); }

int link_send(const uint8_t *payload, uint32_t length)
{
    uint8_t frame[FRAME_ENCODED_MAX];

    if (!fvm_ring_write(&tx, frame, frame_encode(payload, length, frame))) {
        return 0;
    }
    (void)hyp_evt_snd(FVM_EVT_TO_MOTOR);
    return 1;
}

uint32_t link_receive(uint8_t *payload)
{
    uint8_t byte;

    while (fvm_ring_read(&rx, &byte, 1) != 0) {
        int length;

        if (rx.peer_starts != rx_starts) {
            rx_starts = rx.peer_starts;
            frame_reset(&decoder);
        }
        length = frame_decode(&decoder, byte);
        if (length > 0) {
            memcpy(payload, decoder.data, (uint32_t)length);
            return (uint32_t)length;
        }
        if (length < 0) {
            rx_errors++;
        }
    }
    return 0;
}

void link_count(struct link_counters *counters)
{
    counters->errors = rx_errors;
    counters->dropped = rx.dropped + tx.dropped;
}
