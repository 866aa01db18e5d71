#include "chip.h"
class Idle
{
  public:
#if defined(LOW_POWER)
    void run() const noexcept { __WFI(); }
#else
    void run() const noexcept
    {
        __DSB();
        __WFI();
    }
#endif
};
