/* The MPS2 boards, with two timers. */
#ifndef LATENCY_BOARD_H
#define LATENCY_BOARD_H

#define BOARD_CLOCK_HZ 25000000u
#define BOARD_VECTORS [16 + 8] = TIMER0_IRQHandler, [16 + 9] = TIMER1_IRQHandler
#define BOARD_PRIORITY_BITS 8
#define BOARD_HEAP (6 * 1024) /* bytes, of FreeRTOS */
#define BOARD_IDLE_HOOK 1     /* computes: nothing sleeps */

void TIMER0_IRQHandler(void);
void TIMER1_IRQHandler(void);

#endif
