#include <fvm/guest.h>

class Lock
{
  public:
    Lock() : saved_(virt_int_query(VIRT_PRIMASK)) { virt_int_mask(VIRT_PRIMASK); }
    ~Lock() { virt_int_restore(VIRT_PRIMASK, saved_); }

  private:
    unsigned saved_;
};
