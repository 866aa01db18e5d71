/* Numbers and words of a command line. */
#include "text.h"

char *text_decimal(uint32_t value, char *buffer)
{
    char *p = buffer + TEXT_NUMBER_MAX - 1;

    *p = '\0';
    do {
        *--p = (char)('0' + value % 10U);
        value /= 10U;
    } while (value != 0);
    return p;
}

char *text_next_word(char *text)
{
    while (*text != ' ' && *text != '\0') {
        text++;
    }
    while (*text == ' ') {
        *text++ = '\0';
    }
    return text;
}

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    c |= ' ';
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10U : 16U;
}

int text_parse(const char *text, uint32_t base, uint32_t *value)
{
    uint64_t number = 0;

    if (base == 16U && text[0] == '0' && (text[1] | ' ') == 'x') {
        text += 2;
    }
    if (*text == '\0') {
        return 0;
    }
    for (; *text != '\0'; text++) {
        uint32_t digit = digit_value(*text);

        if (digit >= base) {
            return 0;
        }
        number = number * base + digit;
        if (number > UINT32_MAX) {
            return 0;
        }
    }
    *value = (uint32_t)number;
    return 1;
}
