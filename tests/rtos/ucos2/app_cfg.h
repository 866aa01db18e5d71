/* What uC/OS-II's port asks of an application. */
#ifndef APP_CFG_H
#define APP_CFG_H

#include "board.h"

#define CPU_CFG_NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define CPU_CFG_KA_IPL_BOUNDARY 4u
#define OS_TASK_TMR_PRIO (OS_LOWEST_PRIO - 2u)

#endif
