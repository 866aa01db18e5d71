#include "chip.h"
struct Led {
    Led() { GPIOA->BSRR = 1u << 5; }
};
Led *make() { return new Led; }
