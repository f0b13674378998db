#pragma once

#include "frame/frame.hpp"
#include "rampart/gate_log/elf.hpp"

namespace rampart::cli {

/// Tests the log as the ELF paper does and says what came of it: `rampart gate --method elf`.
/// `bound`: "t" or "hoeffding".
base::Result<Answer> elf_answer(const gate_log::DecisionFile& log,
                                const certification::GateConfig& config, const std::string& bound);

}  // namespace rampart::cli
