#pragma once

namespace rampart::runtime {

/// Lets the calling thread, and those that it starts from then on, have the processor only where
/// others leave it: of a core that others want as well, they get about a tenth (nice 10).
void lower_priority();

}  // namespace rampart::runtime
