/* A VM that does nothing but be there. */
int main(void) { return 0; }
