#include "rampart/dataset/twins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rampart/base/check.hpp"
#include "rampart/base/random.hpp"

namespace rampart::dataset {
namespace {

/// Returns bits that are equal for equal values: one missing, one zero.
uint32_t bits_of(float value) {
    if (std::isnan(value)) return 0x7fc00000u;
    return std::bit_cast<uint32_t>(value == 0 ? 0.0f : value);
}

std::vector<uint64_t> hashes_of(const Dataset& data) {
    std::vector<uint64_t> hashes(data.rows());
    for (const auto& column : data.columns)
        for (size_t i = 0; i < hashes.size(); ++i)
            hashes[i] = base::mix64(hashes[i] ^ bits_of(column[i]));
    return hashes;
}

bool same_features(const Dataset& a, size_t i, const Dataset& b, size_t j) {
    for (size_t f = 0; f < a.columns.size(); ++f)
        if (bits_of(a.columns[f][i]) != bits_of(b.columns[f][j])) return false;
    return true;
}

}  // namespace

size_t count_twins(const Dataset& rows, const Dataset& others) {
    RAMPART_CHECK(rows.columns.size() == others.columns.size(), "{} and {} features",
                  rows.columns.size(), others.columns.size());
    const auto wanted = hashes_of(rows), known = hashes_of(others);
    // one row for each hash; rows with one hash and other features are as good as not there
    std::unordered_map<uint64_t, uint32_t> first;
    first.reserve(known.size());
    for (size_t j = 0; j < known.size(); ++j) first.emplace(known[j], static_cast<uint32_t>(j));
    size_t twins = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const auto found = first.find(wanted[i]);
        twins += found != first.end() && same_features(rows, i, others, found->second);
    }
    return twins;
}

}  // namespace rampart::dataset
