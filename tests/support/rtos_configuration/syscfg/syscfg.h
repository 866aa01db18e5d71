/* No option of Mynewt is on. */
#define MYNEWT_VAL(option) 0
