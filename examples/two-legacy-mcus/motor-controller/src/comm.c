/* Task `link`: passes samples on as they come, sends the set-point and now and then the status. */
#include "comm.h"

#include "task.h"

#include "motor.h"

#define LINK_PRIORITY 2
#define STACK_WORDS 256
#define SEND_PERIOD 50U  /* ticks */
#define STATUS_EVERY 10U /* set-points */

static uint32_t sequence; /* of the next message */
static struct protocol_receiver receiver;

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

static void receive_all(void)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    struct protocol_message message;
    uint32_t length;

    while ((length = link_receive(payload)) != 0) {
        if (protocol_unpack(payload, length, &message)) {
            protocol_track(&receiver, message.sequence);
            if (message.kind == PROTOCOL_SAMPLE) {
                motor_sample(message.value);
            }
        }
    }
}

static void link_task(void *argument)
{
    TickType_t last = xTaskGetTickCount();
    uint32_t rounds = 0;

    (void)argument;
    for (;;) {
        TickType_t elapsed = xTaskGetTickCount() - last;

        if (elapsed >= SEND_PERIOD) {
            last += SEND_PERIOD;
            send(PROTOCOL_SETPOINT, motor_get_speed());
            if (++rounds % STATUS_EVERY == 0) {
                send(PROTOCOL_STATUS, motor_get_actual_speed());
            }
            continue;
        }
        link_wait(SEND_PERIOD - elapsed);
        receive_all();
    }
}

void comm_init(void)
{
    BaseType_t ok;

    link_init();
    ok = xTaskCreate(link_task, "link", STACK_WORDS, NULL, LINK_PRIORITY, NULL);
    configASSERT(ok == pdPASS);
}

void comm_get_status(struct comm_status *status)
{
    taskENTER_CRITICAL();
    status->sent = sequence;
    status->receiver = receiver;
    link_count(&status->link);
    taskEXIT_CRITICAL();
}
