/* A line under construction: appends that stop at the end of the buffer. */
#ifndef HYP_TEXT_H
#define HYP_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define HYP_TEXT_SIZE 240u

struct hyp_text {
    char character[HYP_TEXT_SIZE];
    size_t length;
};

void text_string(struct hyp_text *text, const char *string);
void text_number(struct hyp_text *text, uint32_t number);
void text_hex(struct hyp_text *text, uint32_t number); /* 0x and eight digits */
/* Untrusted bytes in quotes, up to `limit` or the first zero; anything unprintable becomes '?'. */
void text_quoted(struct hyp_text *text, const char *bytes, size_t limit);

#endif
