#include <fvm/guest.h>

struct B {
    virtual void idle();
};
struct S final : B {
    void idle() final { hyp_vct_wait(); }
};
