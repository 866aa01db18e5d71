#include <fvm/guest.h>

struct Core {
    static void __WFI() { hyp_vct_wait(); }
};
void f()
{
    Core::__WFI();
    ::hyp_vct_wait();
}
