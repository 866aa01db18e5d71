#include "chip.h"
#include <fvm/guest.h>
class Idle
{
  public:
#if defined(LOW_POWER)
    void run() const noexcept { hyp_vct_wait(); }
#else
    void run() const noexcept
    {
        __DSB();
        hyp_vct_wait();
    }
#endif
};
