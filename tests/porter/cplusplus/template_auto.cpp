template <class T> auto twice(T x)
{
    __disable_irq();
    auto y = x + x;
    __enable_irq();
    return y;
}
