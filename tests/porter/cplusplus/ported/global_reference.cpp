#include "chip.h"
namespace hw
{
inline volatile uint32_t &vtor = *reinterpret_cast<volatile uint32_t *>(0xE000ED08);
}
void f() { }
