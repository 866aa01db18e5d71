/* What a test guest says: lines `key=value`, polled, on the STM32 USART at TEST_USART or the CMSDK
 * UART at TEST_CMSDK_UART. */
#ifndef TEST_REPORT_H
#define TEST_REPORT_H

#include <stdint.h>

void report_init(void);
void report_text(const char *text); /* as it is, without an end of line */
void report(const char *key, int32_t value);
void report_hex(const char *key, uint32_t value);

/* How often the VM has started, this time counted: kept in RAM that no start-up code clears. */
uint32_t boots(void);

#endif
