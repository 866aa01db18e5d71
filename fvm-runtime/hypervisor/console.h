/* The log's output: one implementation a kind of peripheral, under soc/. */
#ifndef HYP_CONSOLE_H
#define HYP_CONSOLE_H

#include <stdbool.h>

void console_init(void);
/* Sends the character if the transmitter takes it now; never waits. */
bool console_put(char character);

#endif
