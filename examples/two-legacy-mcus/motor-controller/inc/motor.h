/* Speed control and supervision. */
#ifndef MOTOR_H
#define MOTOR_H

#include <stdint.h>

#define MOTOR_SPEED_MAX 3000U    /* rpm */
#define MOTOR_CONTROL_PERIOD 10U /* ticks */
#define MOTOR_MONITOR_PERIOD 20U /* ticks */

struct motor_status {
    uint32_t ticks;
    uint32_t control_beats; /* one every MOTOR_CONTROL_PERIOD */
    uint32_t monitor_beats; /* one every MOTOR_MONITOR_PERIOD */
    uint32_t blinks;        /* of the LED */
    uint32_t fpu_errors;    /* floating-point results that were not what they should be */
    uint32_t longest;       /* control step, processor cycles */
};

void motor_init(void);

/* The wanted speed; the control task takes it over at its next step. */
void motor_set_speed(uint32_t rpm);
uint32_t motor_get_speed(void);
uint32_t motor_get_actual_speed(void);

/* A sample from the sensor node. */
void motor_sample(uint32_t value);

/* All values as of one tick. */
void motor_get_status(struct motor_status *status);

#endif
