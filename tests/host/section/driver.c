/* A mid-section beside a VM that writes whatever it likes into the memory that they share, between
 * any two steps. usage: driver SEED ROUNDS
 *
 * No VM runs before the mid-section's thread waits, so between two waits for its line it may
 * capture once and send two events: when there is no room, and with the record. Exit status 1: it
 * did more. It may wait for the VM as often as that sends an event without having served. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <fvm/native.h>
#include <fvm/split.h>

#define SIZE 256u
#define MOST_CAPTURES 1
#define MOST_EVENTS 2

enum cap { SIGNAL, DONE, POST };

static uint32_t *memory; /* from the heap: a store beside it ends the program */
static int rounds, captures, events;

static void scribble(void)
{
    uint32_t words = SIZE / sizeof *memory;
    for (int count = rand() % 3; count > 0; count--) {
        memory[(uint32_t)rand() % words] = rand() % 2 ? (uint32_t)rand() : (uint32_t)rand() % 2;
    }
    if (rand() % 2) {
        ((struct fvm_split_block *)memory)->asked = 1;
    }
}

static void bounded(const char *what, int count, int most)
{
    if (count > most) {
        printf("%s: more than %d for one interrupt\n", what, most);
        exit(1);
    }
}

int fvm_trap1(uint32_t number, uint32_t cap)
{
    scribble();
    if (number == FVM_CALL_EVT_SND) {
        bounded("events", ++events, MOST_EVENTS);
    } else if (cap == SIGNAL && rounds-- == 0) {
        free(memory);
        exit(0);
    } else if (cap == SIGNAL) {
        captures = events = 0;
    }
    scribble();
    return 1;
}

static bool capture(uint32_t *record)
{
    bounded("captures", ++captures, MOST_CAPTURES);
    scribble();
    record[0] = record[1] = (uint32_t)rand();
    return rand() % 2;
}

static enum fvm_verdict judge(const uint32_t *record, bool consumed)
{
    (void)record, (void)consumed;
    scribble();
    return (enum fvm_verdict)(rand() % (FVM_DROP + 1));
}

int main(int count, char **argument)
{
    if (count != 3) {
        return 2;
    }
    srand((unsigned)atoi(argument[1]));
    rounds = atoi(argument[2]);
    memory = malloc(SIZE);
    struct fvm_split_section section = {
        .signal = SIGNAL,
        .done = DONE,
        .post = POST,
        .memory = memory,
        .size = SIZE,
        .words = 2,
        .capture = capture,
        .judge = judge,
        .count = {{0, 1}},
    };
    fvm_split_run(&section);
}
