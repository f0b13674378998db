#pragma once

namespace rampart::gbdt {

/// What the inner loops are compiled for. All give the same bits.
enum class InstructionSet { kPortable, kAvx2 };

/// The fastest one that this processor has.
InstructionSet best_instruction_set();

}  // namespace rampart::gbdt
