#include <fvm/guest.h>

struct B {
    virtual void idle();
};
struct S : B {
    void idle() override { hyp_vct_wait(); }
};
