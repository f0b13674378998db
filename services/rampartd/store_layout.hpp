#pragma once

#include <filesystem>
#include <vector>

namespace rampart::rampartd {

/// Databases in a store that releases before there were partitions made, and that no release since
/// then reads: joined state and index of decisions at the top of the store, where `partitions/` is
/// now. Both follow from the log, and are made anew from it.
std::vector<std::filesystem::path> databases_of_earlier_layout(const std::filesystem::path& store);

}  // namespace rampart::rampartd
