struct B {
    virtual void idle();
};
struct S : B {
    void idle() override { __WFI(); }
};
