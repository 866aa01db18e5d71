class Lock
{
  public:
    Lock() : saved_{__get_PRIMASK()} { __disable_irq(); }
    ~Lock() noexcept { __set_PRIMASK(saved_); }

  private:
    unsigned saved_;
};
