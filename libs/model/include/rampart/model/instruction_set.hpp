#pragma once

#include <string_view>

/// A loop is written once as an inline function and compiled once per instruction set:
///
///   RAMPART_INLINE void add_body(…) { … }
///   void add_portable(…) { add_body(…); }
///   RAMPART_AVX2 void add_avx2(…) { add_body(…); }
///
/// Without fused multiply-add, whose rounding differs: all versions give the same bits.
#define RAMPART_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define RAMPART_AVX2 __attribute__((target("avx2")))
#else
#define RAMPART_AVX2
#endif

namespace rampart::model {

/// Instruction set of the engines. All give the same bits.
enum class InstructionSet {
    kPortable,
    kAvx2,
};

std::string_view to_string(InstructionSet set);  // "portable", "avx2"
bool supports(InstructionSet set);               // supported by this machine and this build
InstructionSet fastest_supported();

}  // namespace rampart::model
