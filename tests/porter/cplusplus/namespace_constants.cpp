#include "chip.h"
namespace hw
{
constexpr uint32_t kRcc = 0x4002'3800;
constexpr uint32_t kVtor = 0xE000'ED08u;
} // namespace hw
void f()
{
    *reinterpret_cast<volatile uint32_t *>(hw::kRcc) |= 1;
    *reinterpret_cast<volatile uint32_t *>(hw::kVtor) = 0x08004000;
}
