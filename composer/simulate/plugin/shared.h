/* The file that fvmkit and the plugin both map: fvmkit writes the first part before QEMU starts,
 * the plugin the rest while it runs. composer/simulate/shared.py has the same layout. Everything is
 * in the host's own byte order; a file never leaves the machine that made it.
 */
#ifndef FVM_TRACE_SHARED_H
#define FVM_TRACE_SHARED_H

#include <stdint.h>

#define TRACE_MAGIC 0x31454341525446ull /* "FTRACE1" */
#define TRACE_LANES 40                  /* lane 0 is the kernel; the last one is nobody's code */
#define TRACE_KERNEL 0
#define TRACE_NOBODY (TRACE_LANES - 1)
#define TRACE_ENTRIES 512
#define TRACE_CALLS 1024
#define TRACE_WATCHES 8
#define TRACE_SPANS 16
#define TRACE_THREADS 256
#define TRACE_CRIMES 256
#define TRACE_BLOCKS 128
#define TRACE_NONE 0xFFFFu

enum trace_kind {
    TRACE_LANE,     /* code of another lane runs: lane, pc */
    TRACE_RESET,    /* kernel entries, with the lane and the block that they interrupted */
    TRACE_FAULT,    /* argument: number of the exception */
    TRACE_CALL,     /* argument: number of the call, or TRACE_NONE */
    TRACE_TICK,     /* */
    TRACE_LINE,     /* argument: number of the line, or TRACE_NONE */
    TRACE_DEFERRED, /* PendSV: the first thread starts, later what the tick found due */
    TRACE_OTHER,    /* argument: number of the exception */
    TRACE_SWITCH,   /* another thread goes on; argument: its index */
    TRACE_CRIME,    /* the kernel stops a domain; argument: the thread, or TRACE_NONE */
    TRACE_RESTART,  /* argument: the domain */
    TRACE_KINDS
};

struct trace_event {
    uint64_t at; /* instructions executed before */
    uint32_t pc;
    uint16_t argument;
    uint8_t kind, lane;
};

struct trace_range {
    uint32_t start, end;
};

struct trace_entry { /* where the processor goes for an exception */
    uint32_t address;
    uint16_t kind, argument; /* TRACE_NONE: a watch tells */
};

struct trace_call { /* an instruction that is followed by this system call */
    uint32_t address, number;
};

/* Reads of a table by some function tell which of its elements is meant. */
struct trace_watch {
    uint32_t code_start, code_end, data_start, data_end, stride, kind;
};

struct trace_block {
    uint32_t pc, at; /* instructions of the path before it */
};

struct trace_path { /* of the kernel, from an entry to the next, or to the first thread */
    uint64_t count, total, longest, longest_at;
    uint32_t longest_pc, longest_argument;
    uint64_t blocks; /* of the longest one, the first TRACE_BLOCKS of them */
    struct trace_block block[TRACE_BLOCKS];
};

struct trace_span {       /* between an instruction and the next execution of another */
    uint32_t start, stop; /* addresses; kind of `start` TRACE_LANE: an address, else an entry */
    uint32_t code_start, code_end, data; /* or it ends when this code reads this word */
    uint32_t kind, argument;             /* of the entry that starts it */
    uint32_t reserved;
    uint64_t opened; /* 1 + instructions at its start; 0: it isn't open */
    uint64_t count, total, shortest, longest, longest_at;
};

struct trace_shared {
    uint64_t magic;
    uint64_t capacity; /* events in the ring */
    uint32_t size;     /* of this structure, so that two ideas of it are noticed */
    uint32_t lanes, entries, calls, watches, spans; /* elements in use */
    struct trace_range lane[TRACE_LANES];
    struct trace_entry entry[TRACE_ENTRIES]; /* by address */
    struct trace_call call[TRACE_CALLS];     /* by address */
    struct trace_watch watch[TRACE_WATCHES];
    struct trace_span span[TRACE_SPANS];

    uint64_t instructions; /* executed so far */
    uint64_t written;      /* events ever; the ring holds the last `capacity` */
    uint64_t since;        /* instructions when the lane was entered */
    uint64_t executed[TRACE_LANES];
    uint64_t happened[TRACE_KINDS];
    struct trace_path path[TRACE_KINDS];
    struct trace_event crime[TRACE_CRIMES]; /* the first ones: few, and what a reader looks for */
    uint32_t running;                       /* lane */
    uint32_t thread;
    struct trace_event ring[];
};

#endif
