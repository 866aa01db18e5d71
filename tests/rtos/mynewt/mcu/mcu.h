#ifndef MCU_H
#define MCU_H

#define SVC_IRQ_NUMBER SVCall_IRQn

#endif
