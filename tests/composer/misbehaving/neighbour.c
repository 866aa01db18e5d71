/* Does nothing. */
#include <fvm/guest.h>

int main(void)
{
    for (;;) {
        hyp_vct_wait();
    }
}
