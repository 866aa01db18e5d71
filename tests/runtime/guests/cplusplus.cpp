// What C++ needs of its surroundings: constructors before main, virtual functions, a static local,
// templates, `new`; a tick handler and a lock of C++.
#include <fvm/guest.h>

#include "fvm_domain.h"

extern "C" {
#include "report.h"
}

namespace
{
int order;

class Lock
{
  public:
    Lock() : saved_(virt_int_save(VIRT_PRIMASK)) {}
    ~Lock() { virt_int_restore(VIRT_PRIMASK, saved_); }
    Lock(const Lock &) = delete;

  private:
    uint32_t saved_;
};

class Shape
{
  public:
    virtual ~Shape() = default;
    virtual int area() const = 0;
};

class Square : public Shape
{
  public:
    explicit Square(int side) : side_(side), made_(++order) {}
    int area() const override { return side_ * side_; }
    int made() const { return made_; }

  private:
    int side_, made_;
};

class Wide final : public Shape
{
  public:
    Wide() { ++alive; }
    ~Wide() override { --alive; }
    int area() const override { return 10; }
    static inline int alive = 0;
};

template <class T, unsigned N> class Ring
{
  public:
    void put(T value) { items_[count_++ % N] = value; }
    T newest() const { return items_[(count_ - 1) % N]; }

  private:
    T items_[N] = {};
    unsigned count_ = 0;
};

Square first(3), second(4);
Ring<int, 4> ring;
volatile uint32_t ticks;

int made_once()
{
    static Square local(static_cast<int>(ring.newest()));
    return local.made();
}

template <class F> void locked(F &&body)
{
    const Lock lock;
    body();
    report("masked", static_cast<int32_t>(virt_int_query(VIRT_PRIMASK)));
}
} // namespace

extern "C" void tick_handler() { ticks = ticks + 1; }

int main()
{
    report_init();
    report("constructed", first.made() * 10 + second.made());
    const Shape *shapes[] = {&first, &second};
    int sum = 0;
    for (const Shape *shape : shapes) {
        sum += shape->area();
    }
    report("virtual", sum);
    for (int value = 0; value < 6; value++) {
        ring.put(value);
    }
    report("template", ring.newest());
    report("static_local", made_once() * 10 + made_once());
    Shape *wide = new Wide;
    report("new", wide->area() + Wide::alive);
    delete wide;
    report("deleted", Wide::alive);
    auto *many = new Ring<int, 2>[3];
    many[2].put(7);
    report("new_array", many[2].newest());
    delete[] many;
    locked([] { report("in_lambda", 1); });
    report("unmasked", static_cast<int32_t>(virt_int_query(VIRT_PRIMASK)));
    (void)hyp_tick_set(1000);
    const auto start = ticks;
    while (ticks - start < 3) {
        (void)hyp_vct_wait();
    }
    report("done", 1);
}
