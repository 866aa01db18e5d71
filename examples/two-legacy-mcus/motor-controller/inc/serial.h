/* Console port: USART1, 115200 baud, interrupt-driven with ring buffers. */
#ifndef SERIAL_H
#define SERIAL_H

#include <stddef.h>
#include <stdint.h>

void serial_init(void);

/* Waits for a character. */
char serial_getc(void);

/* Queues the text; waits while the buffer is full. */
void serial_write(const char *text, size_t length);

/* Waits until the last bit has left. */
void serial_flush(void);

/* Diagnostics: send from the interrupt only, started by pending the line in software. */
void serial_send_by_interrupt(int on);
uint32_t serial_interrupt_bytes(void); /* characters that the interrupt has sent */

#endif
