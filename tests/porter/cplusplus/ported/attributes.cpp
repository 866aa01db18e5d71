#include "chip.h"
#include <fvm/guest.h>
void f([[maybe_unused]] int x)
{
    [[maybe_unused]] uint32_t id;
    hyp_vct_wait();
}
