/* Command line on the console port. */
#ifndef CONSOLE_H
#define CONSOLE_H

void console_init(void);

#endif
