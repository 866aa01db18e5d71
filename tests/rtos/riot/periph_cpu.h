/* No peripherals of RIOT's. */
#ifndef PERIPH_CPU_H
#define PERIPH_CPU_H

#endif
