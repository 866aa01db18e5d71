#include "logger.h"

#include "main.h"

static struct record records[LOGGER_RECORDS];
static uint32_t count, period = 20U, last;
static uint32_t value; /* of the converter, which is a saw tooth until the board has one */

void logger_poll(void)
{
    struct record *record;

    if (HAL_GetTick() - last < period) {
        return;
    }
    last += period;
    if (HAL_GPIO_ReadPin(PAUSE_GPIO_Port, PAUSE_Pin) == GPIO_PIN_SET) {
        return;
    }
    value = (value + 37U) % 4096U;
    record = &records[count % LOGGER_RECORDS];
    record->number = ++count;
    record->time = HAL_GetTick();
    record->value = value;
}

void logger_clear(void)
{
    count = 0U;
    value = 0U;
    last = HAL_GetTick();
}

void logger_set_period(uint32_t milliseconds)
{
    period = milliseconds;
    last = HAL_GetTick();
}

uint32_t logger_period(void) { return period; }

uint32_t logger_count(void) { return count; }

int logger_record(uint32_t back, struct record *record)
{
    if (back >= count || back >= LOGGER_RECORDS) {
        return 0;
    }
    *record = records[(count - 1U - back) % LOGGER_RECORDS];
    return 1;
}
