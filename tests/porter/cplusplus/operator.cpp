#include "chip.h"
struct Led {
    Led &operator=(bool on)
    {
        GPIOA->BSRR = on ? 1u << 5 : 1u << 21;
        return *this;
    }
};
