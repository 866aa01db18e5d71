/* The other virtual machine: it is there, and sleeps. */
#include <fvm/guest.h>

int main(void)
{
    for (;;) {
        (void)hyp_vct_wait();
    }
}
