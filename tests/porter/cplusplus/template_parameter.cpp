#include "chip.h"
template <class P> void on(P &port) { port.ODR |= 1; }
void f() { on(*GPIOA); }
