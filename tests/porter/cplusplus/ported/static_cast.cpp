#include "chip.h"
void f()
{
}
