#include "chip.h"
// What <initializer_list> has.
namespace std
{
template <class T> struct initializer_list {
    const T *items;
    decltype(sizeof 0) count;
    const T *begin() const { return items; }
    const T *end() const { return items + count; }
};
} // namespace std
void use(GPIO_TypeDef *port);
void f()
{
    for (auto *port : {GPIOA, GPIOB}) {
        port->MODER = 0;
        use(port);
    }
}
