#pragma once

#include <string_view>

namespace rampart::model {

/// Which instructions the engines use. All give the same bits.
enum class InstructionSet {
    kPortable,
    kAvx2,
};

std::string_view to_string(InstructionSet set);  // "portable", "avx2"
bool supports(InstructionSet set);               // this machine and this build
InstructionSet fastest_supported();

}  // namespace rampart::model
