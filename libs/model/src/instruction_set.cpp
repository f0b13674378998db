#include "rampart/model/instruction_set.hpp"

namespace rampart::model {

std::string_view to_string(InstructionSet set) {
    return set == InstructionSet::kAvx2 ? "avx2" : "portable";
}

bool supports(InstructionSet set) {
    if (set == InstructionSet::kPortable) return true;
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

InstructionSet fastest_supported() {
    return supports(InstructionSet::kAvx2) ? InstructionSet::kAvx2 : InstructionSet::kPortable;
}

}  // namespace rampart::model
