#include "chip.h"
#include <fvm/guest.h>
enum class Pin : uint32_t { Led = 1u << 5 };
void f() { hyp_pin_write(0, static_cast<uint32_t>(Pin::Led)); }
