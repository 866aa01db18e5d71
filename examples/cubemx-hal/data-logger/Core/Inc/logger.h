/* A sample every period, the last ones kept. */
#ifndef LOGGER_H
#define LOGGER_H

#include <stdint.h>

#define LOGGER_RECORDS 16U

struct record {
    uint32_t number; /* counts from 1 since the last clear */
    uint32_t time;   /* HAL_GetTick() */
    uint32_t value;
};

void logger_poll(void);
void logger_clear(void);
void logger_set_period(uint32_t milliseconds);
uint32_t logger_period(void);
uint32_t logger_count(void); /* samples taken since the last clear */

/* The record before `back` newer ones. Returns 0 where there is none. */
int logger_record(uint32_t back, struct record *record);

#endif
