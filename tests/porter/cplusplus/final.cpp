struct B {
    virtual void idle();
};
struct S final : B {
    void idle() final { __WFI(); }
};
