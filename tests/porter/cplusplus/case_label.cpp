#include "chip.h"
#define GPIOA_BASE 0x40020000UL
#define GPIOB_BASE 0x40020400UL
struct PA5 {
    enum { Port = GPIOA_BASE, Pin = 5 };
};
int number(GPIO_TypeDef *port)
{
    switch (reinterpret_cast<uint32_t>(port)) {
    case GPIOA_BASE:
        return 0;
    case GPIOB_BASE:
        return 1;
    default:
        return PA5::Pin;
    }
}
