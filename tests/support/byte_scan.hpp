#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/file.hpp"

namespace rampart::test_support {

/// Whether eight bytes in a row of the marker lie in `content`: a file need not hold it whole,
/// since what RocksDB compresses may be cut in pieces. The marker has to be random and eight bytes
/// or more.
inline bool has_trace(std::string_view content, std::string_view marker) {
    constexpr size_t kWindow = 8;
    for (size_t at = 0; at + kWindow <= marker.size(); ++at) {
        if (content.find(marker.substr(at, kWindow)) != std::string_view::npos) return true;
    }
    return false;
}

/// The files below a folder, whatever they are, that have a trace of the marker, relative to it.
/// One that cannot be read is a failure, but for one that was removed meanwhile.
inline std::vector<std::string> files_with(const std::filesystem::path& folder,
                                           std::string_view marker) {
    namespace fs = std::filesystem;
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        const auto content = base::read_file(entry.path(), size_t{1} << 30);
        EXPECT_TRUE(content || !fs::exists(entry.path())) << entry.path();
        if (content && has_trace(*content, marker)) {
            found.push_back(entry.path().lexically_relative(folder).string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace rampart::test_support
