struct S {
    uint32_t get() const { return __get_PRIMASK(); }
};
