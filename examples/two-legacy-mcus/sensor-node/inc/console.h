/* Command line on the console port. */
#ifndef CONSOLE_H
#define CONSOLE_H

void console_init(void);

/* From the main loop: takes the characters that have come and runs complete lines. */
void console_poll(void);

#endif
