#include "rampart/dataset/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/random.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

namespace {

/// Returns [n] 0 … 9, by rank of the target; empty for labels.
std::vector<uint8_t> tenths_by_target(const Dataset& data) {
    std::vector<uint32_t> order(data.target.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return data.target[a] < data.target[b]; });
    std::vector<uint8_t> tenths(order.size());
    for (size_t rank = 0; rank < order.size(); ++rank)
        tenths[order[rank]] = static_cast<uint8_t>(10 * rank / order.size());
    return tenths;
}

}  // namespace

base::Result<SplitFractions> parse_split(std::string_view text) {
    const auto bad = [&] {
        return base::make_error(Reason::kBadSplit,
                                "split '{}': give three percentages for train, validation and "
                                "test that sum to 100, train above 0, like 60/20/20",
                                text);
    };
    std::array<double, 3> percent{};
    std::string_view rest = text;
    for (size_t i = 0; i < percent.size(); ++i) {
        const size_t slash = rest.find('/');
        if ((slash == std::string_view::npos) != (i + 1 == percent.size())) return bad();
        const auto number = parse_number(rest.substr(0, slash));
        if (!number || !(*number >= 0 && *number <= 100)) return bad();
        percent[i] = *number;
        if (slash != std::string_view::npos) rest.remove_prefix(slash + 1);
    }
    if (std::abs(percent[0] + percent[1] + percent[2] - 100) > 1e-9 || percent[0] <= 0)
        return bad();
    return SplitFractions{percent[0] / 100, percent[1] / 100, percent[2] / 100};
}

base::Result<std::vector<uint32_t>> Split::part(std::string_view name) const {
    if (name == "train") return train;
    if (name == "validation") return validation;
    if (name == "test") return test;
    return base::make_error(Reason::kNoSuchPart,
                            "there is no part '{}' of a split; there are train, validation "
                            "and test",
                            name);
}

Split split_rows(const Dataset& data, const SplitFractions& fractions, uint64_t seed) {
    const std::array<double, 3> share{fractions.train, fractions.validation, fractions.test};
    RAMPART_CHECK(share[0] > 0 && share[1] >= 0 && share[2] >= 0 &&
                  std::abs(share[0] + share[1] + share[2] - 1) < 1e-9);
    const auto tenths = tenths_by_target(data);
    std::map<std::pair<uint8_t, int32_t>, std::vector<uint32_t>> strata;
    for (size_t row = 0; row < data.rows(); ++row) {
        const int32_t group = data.group.empty() ? 0 : data.group[row];
        strata[{data.numeric() ? tenths[row] : data.label[row], group}].push_back(
            static_cast<uint32_t>(row));
    }
    // The strata, each shuffled, are concatenated and each row goes to the part that is furthest
    // below its share: so every contiguous stretch, and so each stratum, is divided by the
    // fractions.
    std::array<std::vector<uint32_t>, 3> parts;
    base::Random random(seed);
    size_t dealt = 0;
    for (auto& [key, rows] : strata) {
        random.shuffle(std::span(rows));
        for (const uint32_t row : rows) {
            ++dealt;
            size_t most = 0;
            double largest_lag = -1;
            for (size_t p = 0; p < parts.size(); ++p) {
                const double lag =
                    share[p] * static_cast<double>(dealt) - static_cast<double>(parts[p].size());
                if (share[p] > 0 && lag > largest_lag) largest_lag = lag, most = p;
            }
            parts[most].push_back(row);
        }
    }
    for (auto& part : parts) std::sort(part.begin(), part.end());
    return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

}  // namespace rampart::dataset
