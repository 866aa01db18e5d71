struct S {
    bool operator()() { return __get_PRIMASK() != 0; }
};
