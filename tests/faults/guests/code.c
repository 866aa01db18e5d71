#include "code.h"

const uint32_t code[CODE_WORDS] = {0};
