#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    Led() { }
    ~Led() { hyp_pin_set(0, 0x0020U, 0); }
};
