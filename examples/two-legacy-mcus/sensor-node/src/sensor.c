/* A sample every 20 ms: read, scale, filter, send. The LED shows the sampling. */
#include "sensor.h"

#include "gpio.h"
#include "irqlock.h"
#include "systick.h"

#define SAMPLE_PERIOD 20U /* ticks */
#define FILTER_SHIFT 3

static uint32_t gain;
static uint32_t filtered; /* sample << FILTER_SHIFT */
static uint32_t setpoint;
static uint32_t speed; /* of the motor, as it reported last */
static uint32_t samples;
static uint32_t sequence; /* of the next message */
static struct protocol_receiver receiver;

void sensor_init(void)
{
    gain = 1;
    led_init();
    link_init();
}

/* Stands for the converter, which this board doesn't have: a triangle with a period of 64 samples
 * over a level that rises with the motor's speed. */
static uint32_t read_converter(void)
{
    uint32_t phase = samples & 63U;

    return 1000U + speed / 16U + (phase < 32U ? phase : 63U - phase) * 16U;
}

/* A message that the driver doesn't take keeps its number for the next one: the peer sees gaps
 * only where the link lost something. */
static void send(uint8_t kind, uint32_t value)
{
    struct protocol_message message = {kind, sequence, value};
    uint8_t payload[PROTOCOL_BYTES];

    protocol_pack(&message, payload);
    if (link_send(payload, sizeof payload)) {
        sequence++;
    }
}

void sensor_step(void)
{
    static uint32_t last;

    while (systick_ticks() - last >= SAMPLE_PERIOD) {
        last += SAMPLE_PERIOD;
        filtered += read_converter() * gain - (filtered >> FILTER_SHIFT);
        samples++;
        led_set((samples & 1U) != 0);
        send(PROTOCOL_SAMPLE, filtered >> FILTER_SHIFT);
    }
}

void sensor_receive(void)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    struct protocol_message message;
    uint32_t length;

    while ((length = link_receive(payload)) != 0) {
        if (protocol_unpack(payload, length, &message)) {
            protocol_track(&receiver, message.sequence);
            if (message.kind == PROTOCOL_SETPOINT) {
                setpoint = message.value;
            } else if (message.kind == PROTOCOL_STATUS) {
                speed = message.value;
            }
        }
    }
}

void sensor_set_gain(uint32_t new_gain) { gain = new_gain; }

uint32_t sensor_get_gain(void) { return gain; }

uint32_t sensor_get_setpoint(void) { return setpoint; }

void sensor_get_status(struct sensor_status *status)
{
    uint32_t state = irq_lock();

    status->samples = samples;
    status->sent = sequence;
    status->receiver = receiver;
    link_count(&status->link);
    irq_unlock(state);
}
