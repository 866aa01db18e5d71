/* Pins: set-up and the LED on PA5. */
#include "gpio.h"

#define MODE_OUTPUT 1UL
#define MODE_ALTERNATE 2UL
#define SPEED_HIGH 2UL
#define PULL_UP 1UL

#define LED_PORT GPIOA
#define LED_PIN 5UL

/* Push-pull, high speed, pull-up, alternate function 0..15. */
void gpio_alternate(GPIO_TypeDef *port, uint32_t pin, uint32_t function)
{
    port->AFR[pin >> 3] &= ~(0xFUL << ((pin & 7UL) * 4UL));
    port->AFR[pin >> 3] |= function << ((pin & 7UL) * 4UL);
    port->OTYPER &= ~(1UL << pin);
    port->OSPEEDR = (port->OSPEEDR & ~(3UL << (pin * 2UL))) | (SPEED_HIGH << (pin * 2UL));
    port->PUPDR = (port->PUPDR & ~(3UL << (pin * 2UL))) | (PULL_UP << (pin * 2UL));
    port->MODER = (port->MODER & ~(3UL << (pin * 2UL))) | (MODE_ALTERNATE << (pin * 2UL));
}

/* Push-pull output, low speed, no pull. */
void gpio_output(GPIO_TypeDef *port, uint32_t pin)
{
    port->OTYPER &= ~(1UL << pin);
    port->OSPEEDR &= ~(3UL << (pin * 2UL));
    port->PUPDR &= ~(3UL << (pin * 2UL));
    port->MODER = (port->MODER & ~(3UL << (pin * 2UL))) | (MODE_OUTPUT << (pin * 2UL));
}

void led_init(void)
{
    RCC->AHB1ENR |= RCC_AHB1ENR_GPIOAEN;
    gpio_output(LED_PORT, LED_PIN);
}

void led_set(int on)
{
    if (on) {
        LED_PORT->BSRR = 1UL << LED_PIN;
    } else {
        LED_PORT->BSRR = 1UL << (LED_PIN + 16UL);
    }
}
