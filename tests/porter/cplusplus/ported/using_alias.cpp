#include "chip.h"
using Reg = volatile uint32_t;
void f()
{
}
