#include "chip.h"
extern "C" {
void SysInit(void) { RCC->CR |= 1; }
}
extern "C" void f(void) { __WFI(); }
