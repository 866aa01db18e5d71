#include "chip.h"
struct Probe {
    explicit Probe(uint32_t id);
    ~Probe();
};
void f() { Probe probe{RCC->CR}; }
