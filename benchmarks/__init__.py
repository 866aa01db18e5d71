"""How many instructions the runtime's operations take, beside those of a bare-metal FreeRTOS."""
