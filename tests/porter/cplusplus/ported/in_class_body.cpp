#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    void on() { hyp_pin_write(0, 1u << 5); }
};
