/* What the demonstration needs of RTX5: threads and semaphores in their own memory. */
#ifndef RTX_CONFIG_H_
#define RTX_CONFIG_H_

#define OS_DYNAMIC_MEM_SIZE 0
#define OS_TICK_FREQ 1000
#define OS_ROBIN_ENABLE 0
#define OS_ROBIN_TIMEOUT 5
#define OS_ISR_FIFO_QUEUE 16
#define OS_OBJ_MEM_USAGE 0
#define OS_THREAD_OBJ_MEM 0
#define OS_STACK_SIZE 1024
#define OS_IDLE_THREAD_STACK_SIZE 512
#define OS_STACK_CHECK 1
#define OS_STACK_WATERMARK 0
#define OS_PRIVILEGE_MODE 1
#define OS_TIMER_OBJ_MEM 0
#define OS_TIMER_THREAD_PRIO 40
#define OS_TIMER_THREAD_STACK_SIZE 0
#define OS_TIMER_CB_QUEUE 0
#define OS_EVFLAGS_OBJ_MEM 0
#define OS_MUTEX_OBJ_MEM 0
#define OS_SEMAPHORE_OBJ_MEM 0
#define OS_MEMPOOL_OBJ_MEM 0
#define OS_MSGQUEUE_OBJ_MEM 0
#define OS_IDLE_THREAD_TZ_MOD_ID 0
#define OS_TIMER_THREAD_TZ_MOD_ID 0
#define OS_EVR_INIT 0
#define OS_THREAD_LIBSPACE_NUM 4

#endif
