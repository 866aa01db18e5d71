template <class T> auto state(T) { return __get_PRIMASK(); }
