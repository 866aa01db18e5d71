#include "chip.h"
enum class Pin : uint32_t { Led = 1u << 5 };
void f() { GPIOA->BSRR = static_cast<uint32_t>(Pin::Led); }
