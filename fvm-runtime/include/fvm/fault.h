/* One record of the fault and reboot log. fvm_fault_read of <fvm/native.h> reads it. */
#ifndef FVM_FAULT_H
#define FVM_FAULT_H

#include <stdint.h>

enum fvm_fault_cause {
    FVM_FAULT_MEMORY,   /* protection violation (MemManage) */
    FVM_FAULT_BUS,      /* BusFault */
    FVM_FAULT_USAGE,    /* UsageFault */
    FVM_FAULT_HARD,     /* HardFault from a thread, for example BKPT */
    FVM_FAULT_STACKING, /* the exception frame could not be stored or loaded, or lies outside */
    FVM_FAULT_WATCHDOG,
    FVM_FAULT_RESET,  /* the domain asked for it */
    FVM_FAULT_HEADER, /* the image header is not one, or its stack lies outside */
    FVM_FAULT_BOOT,   /* no fault: a ready wait of the boot table ran out */
};

#define FVM_FAULT_ADDRESS_VALID 1u
#define FVM_FAULT_PC_VALID 2u

/* What became of the domain. */
enum fvm_decision {
    FVM_UNDECIDED, /* so far */
    FVM_RESTART,
    FVM_STOP,
    FVM_ASK, /* the hypervisor's: whoever decides may do so now */
};

#define FVM_FAULT_WORDS 13u

/* In `thread`: one in kernel memory; the other bits are its slot for capabilities. */
#define FVM_FAULT_RUN_TIME 0x80u

struct fvm_fault {
    uint32_t tick; /* kernel ticks since start */
    uint8_t domain, thread, cause, flags;
    uint32_t status;   /* CFSR; FVM_FAULT_BOOT: the mask waited for */
    uint32_t address;  /* accessed, if FVM_FAULT_ADDRESS_VALID */
    uint32_t pc, lr;   /* of the thread, if FVM_FAULT_PC_VALID */
    uint32_t restarts; /* of the domain, this one counted */
    uint32_t serial;   /* 1 and up; 0 when there is no record */
    char task[16];     /* what the guest published as its task name, any bytes, zero-filled */
    uint8_t decision;  /* enum fvm_decision */
    uint8_t reserved;
    uint16_t delay; /* FVM_RESTART: kernel ticks before it, saturating */
};

#endif
