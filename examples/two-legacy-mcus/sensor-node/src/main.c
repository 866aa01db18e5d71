/* Sensor node: one main loop, woken by interrupts. */
#include "clock.h"
#include "console.h"
#include "iwdg.h"
#include "sensor.h"
#include "stm32f405xx.h"
#include "systick.h"
#include "work.h"

int main(void)
{
    clock_init();
    sensor_init();
    console_init();
    systick_init();
    iwdg_init();

    for (;;) {
        uint32_t todo = work_take();

        if ((todo & WORK_TICK) != 0) {
            systick_beat();
            sensor_step();
        }
        if ((todo & WORK_LINK) != 0) {
            sensor_receive();
        }
        if ((todo & WORK_CONSOLE) != 0) {
            console_poll();
        }
        iwdg_feed();

        /* An interrupt between the test and WFI still ends the WFI. */
        __disable_irq();
        if (!work) {
            __WFI();
        }
        __enable_irq();
    }
}
