#include "chip.h"
struct Button {
    explicit operator bool() const { return (GPIOA->IDR & 0x20) != 0; }
};
