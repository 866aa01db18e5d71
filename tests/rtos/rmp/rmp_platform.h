/* Which platform RMP is built for. */
#include "Platform/A7M/rmp_platform_a7m.h"
