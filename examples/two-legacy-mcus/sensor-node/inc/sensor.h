/* Sampling, filtering, and the exchange with the motor controller. */
#ifndef SENSOR_H
#define SENSOR_H

#include <stdint.h>

#include "link.h"
#include "protocol.h"

#define SENSOR_GAIN_MAX 16U

struct sensor_status {
    uint32_t samples;
    uint32_t sent; /* messages */
    struct protocol_receiver receiver;
    struct link_counters link;
};

void sensor_init(void);

/* From the main loop: takes the samples that are due and sends them. */
void sensor_step(void);

/* From the main loop: takes in what the motor controller sent. */
void sensor_receive(void);

void sensor_set_gain(uint32_t gain);
uint32_t sensor_get_gain(void);
uint32_t sensor_get_setpoint(void); /* as the motor controller sent it last, rpm */
void sensor_get_status(struct sensor_status *status);

#endif
