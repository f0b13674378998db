#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/file.hpp"

namespace rampart::test_support {

/// Whether `content` has eight bytes of the marker in a row. A file need not have the whole marker,
/// because RocksDB may cut what it compresses. The marker must be random, with eight bytes or more.
inline bool has_trace(std::string_view content, std::string_view marker) {
    constexpr size_t kWindow = 8;
    for (size_t at = 0; at + kWindow <= marker.size(); ++at) {
        if (content.find(marker.substr(at, kWindow)) != std::string_view::npos) return true;
    }
    return false;
}

/// Returns the files below a folder, of any kind, that have a trace of the marker, as relative
/// paths. A file that cannot be read is a failure, unless it was removed meanwhile.
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
