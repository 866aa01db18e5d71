/* Console port: USART2, 115200 baud. */
#ifndef SERIAL_H
#define SERIAL_H

#include <stdint.h>

void serial_init(void);

/* Returns the next received character, or -1. */
int serial_getc(void);

void serial_write(const char *text);

/* Waits until the last bit has left. */
void serial_flush(void);

#endif
