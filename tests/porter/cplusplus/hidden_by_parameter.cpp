#include "chip.h"
namespace hw
{
constexpr uint32_t base = 0xE000ED00;
}
void f(uint32_t base) { *reinterpret_cast<volatile uint32_t *>(base + 8) = 1; }
