#include "chip.h"
#include <fvm/guest.h>
extern "C" {
void SysInit(void) { }
}
extern "C" void f(void) { hyp_vct_wait(); }
