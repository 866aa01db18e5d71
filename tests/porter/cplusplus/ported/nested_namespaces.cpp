#include "chip.h"
#include <fvm/guest.h>
namespace a
{
namespace b
{
void f()
{
    hyp_vct_wait();
}
} // namespace b
} // namespace a
namespace a::b
{
void g() { hyp_irq_ena(TIM2_IRQn); }
} // namespace a::b
