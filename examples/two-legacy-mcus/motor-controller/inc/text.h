/* Numbers and words of a command line. */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

#define TEXT_NUMBER_MAX 11U /* 32 bits in decimal, and the end */

/* Writes value to buffer (TEXT_NUMBER_MAX bytes); returns the first digit's place. */
char *text_decimal(uint32_t value, char *buffer);

/* Ends the first word with a NUL and returns the next one, or an empty string. */
char *text_next_word(char *text);

/* Reads a whole number of the given base, with 0x in front where it is 16. Returns 0 if the
 * text is anything else or doesn't fit 32 bits. */
int text_parse(const char *text, uint32_t base, uint32_t *value);

#endif
