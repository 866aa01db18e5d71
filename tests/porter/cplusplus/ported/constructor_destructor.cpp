#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    Led() { }
    ~Led() { hyp_pin_write(0, 1u << (5 + 16)); }
};
