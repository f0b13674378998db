#include "rampart/gbdt/instruction_set.hpp"

namespace rampart::gbdt {

InstructionSet best_instruction_set() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return InstructionSet::kAvx2;
#endif
    return InstructionSet::kPortable;
}

}  // namespace rampart::gbdt
