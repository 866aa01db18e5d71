/* Text without a C library. */
#include "hypervisor/text.h"

static void put(struct hyp_text *text, char character)
{
    if (text->length < HYP_TEXT_SIZE) {
        text->character[text->length++] = character;
    }
}

void text_string(struct hyp_text *text, const char *string)
{
    while (*string != '\0') {
        put(text, *string++);
    }
}

void text_number(struct hyp_text *text, uint32_t number)
{
    char digit[10];
    size_t count = 0;
    do {
        digit[count++] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    while (count != 0) {
        put(text, digit[--count]);
    }
}

void text_hex(struct hyp_text *text, uint32_t number)
{
    text_string(text, "0x");
    for (int32_t shift = 28; shift >= 0; shift -= 4) {
        put(text, "0123456789abcdef"[(number >> shift) & 15u]);
    }
}

void text_quoted(struct hyp_text *text, const char *bytes, size_t limit)
{
    put(text, '"');
    for (size_t i = 0; i < limit && bytes[i] != '\0'; i++) {
        char c = bytes[i];
        put(text, c >= ' ' && c <= '~' && c != '"' && c != '\\' ? c : '?');
    }
    put(text, '"');
}
