/* The byte ring between two domains (shared/ring.c), each of which may start again before any of
 * its instructions: what the reader hands out is the bytes of one epoch, in order, none missing.
 * Every statement is one load or store of shared memory; the two sides run in any order.
 *
 * A data byte is the epoch that wrote it and its number in that epoch.
 */
#define SIZE 4              /* data bytes, of which SIZE - 1 can be used */
#define mask(x) ((x) & (SIZE - 1))
#define UNKNOWN 255

/* struct fvm_ring_header */
byte writer_epoch, start, head, reader_epoch, tail;

byte data_epoch[SIZE], data_number[SIZE];

/* how much happens at most */
#ifdef LONG
#define STARTS 3
#else
#define STARTS 2
#endif
byte starts = STARTS, bytes = 5;
bool writer_restarts, reader_restarts;

active proctype faults() {
    do
    :: starts > 0 -> starts--; writer_restarts = true
    :: starts > 0 -> starts--; reader_restarts = true
    :: starts == 0 -> break
    od
}

/* --- writer ------------------------------------------------------------------------------ */

inline fvm_ring_writer() {
    number = 0;
    position = head;
    head = position;
#ifdef WRONG_EPOCH_BEFORE_START
    writer_epoch++;
    start = position
#else
    start = position;
    writer_epoch++
#endif
}

/* Of one byte. */
inline fvm_ring_write() {
    if
    :: mask(tail - position - 1) != 0 ->
#ifdef WRONG_HEAD_BEFORE_DATA
        head = mask(position + 1);
#endif
        d_step { data_epoch[position] = writer_epoch; data_number[position] = number };
        number++;
        position = mask(position + 1);
        head = position
    :: mask(tail - position - 1) == 0
    fi
}

active proctype writer() {
    byte position, number;
    do
    ::  {
            fvm_ring_writer();
            do
            :: bytes > 0 -> bytes--; fvm_ring_write()
            :: bytes == 0 -> break
            od;
            false /* nothing left to write: until it starts again */
        } unless { atomic { writer_restarts -> writer_restarts = false } }
    od
}

/* --- reader ------------------------------------------------------------------------------ */

/* To state the property: number of the byte that has to come next. */
byte expected;

inline drop_and_begin() {
    position = start;
    expected = 0
}

inline fvm_ring_reader() {
    expected = UNKNOWN;
    peer_epoch = writer_epoch;
    position = head;
#ifndef WRONG_READER_STARTS_WITHOUT_A_SECOND_LOOK
    now = writer_epoch;
    if
    :: now != peer_epoch -> peer_epoch = now; drop_and_begin()
    :: now == peer_epoch
    fi;
#endif
    tail = position;
    reader_epoch++
}

inline fvm_ring_read() {
    now = writer_epoch;
    if
    :: now != peer_epoch -> peer_epoch = now; drop_and_begin()
    :: now == peer_epoch
    fi;
    end = head;
#ifndef WRONG_READ_WITHOUT_A_SECOND_LOOK
    now = writer_epoch;
    if
    :: now != peer_epoch -> end = position /* the next call sees to it */
    :: now == peer_epoch
    fi;
#endif
    do
    :: position != end ->
        d_step {
            assert(data_epoch[position] == peer_epoch);
            assert(expected == UNKNOWN || data_number[position] == expected);
            expected = data_number[position] + 1
        };
        position = mask(position + 1)
    :: position == end -> break
    od;
    tail = position
}

active proctype reader() {
    byte position, peer_epoch, now, end;
    do
    ::  {
            fvm_ring_reader();
            do
            :: fvm_ring_read()
            od
        } unless { atomic { reader_restarts -> reader_restarts = false } }
    od
}
