unsigned irq_save(void);
void irq_restore(unsigned state), irq_set(unsigned bits);
unsigned irq_exchange(unsigned bits);
void irq_open(void), os_yield(void);
int with_masks(int argument);
int work(int argument);
