/* Pins: set-up and the LED. */
#ifndef GPIO_H
#define GPIO_H

#include <stdint.h>

#include "stm32f405xx.h"

void gpio_alternate(GPIO_TypeDef *port, uint32_t pin, uint32_t function);
void gpio_output(GPIO_TypeDef *port, uint32_t pin);

void led_init(void);
void led_set(int on);

#endif
