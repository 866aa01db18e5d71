int switch_tasks(void **old_stack, void *const *new_stack);
void start_tasks(void *const *stack);
void resume(void);
