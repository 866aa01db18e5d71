#include "plan.h"

const uint32_t plan[PLAN_WORDS] = {0};
