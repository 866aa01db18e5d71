/* A legacy project that writes to the trace port, as a retargeted printf does. */
#include <stdint.h>

uint32_t ITM_SendChar(uint32_t ch); /* of the vendor's headers */

static int put(int character) { return ITM_SendChar(character); }

int main(void)
{
    for (const char *text = "speed=12 rpm\r\n"; *text != '\0'; text++) {
        if (put(*text) != *text) {
            ITM_SendChar('?');
        }
    }
    for (;;) {
    }
}
