/* Independent watchdog, 500 ms. */
#ifndef IWDG_H
#define IWDG_H

void iwdg_init(void);
void iwdg_feed(void);

#endif
