#include "rampart/dataset/folds.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "calendar_numbers.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/random.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

base::Error too_few(std::string_view what, size_t have, size_t folds) {
    return base::make_error(Reason::kNoSuchFold, "{} {} do for no {} folds: ask for fewer", have,
                            what, folds);
}

/// Makes folds of the number that each row has.
std::vector<Fold> folds_of(std::span<const uint32_t> fold_of_row, size_t folds) {
    std::vector<Fold> out(folds);
    for (uint32_t row = 0; row < fold_of_row.size(); ++row)
        for (uint32_t k = 0; k < folds; ++k)
            (fold_of_row[row] == k ? out[k].test : out[k].train).push_back(row);
    return out;
}

/// Returns the first time of each period but the first.
std::vector<double> origins_of(std::vector<double> times, size_t origins) {
    std::sort(times.begin(), times.end());
    std::vector<double> out;
    for (size_t k = 1; k <= origins; ++k) {
        const size_t at = times.size() * k / (origins + 1);
        // none of equal times is left before the cut: the next one begins the period
        auto from = times.begin() + static_cast<ptrdiff_t>(at);
        if (from != times.begin() && *(from - 1) == *from)
            from = std::upper_bound(times.begin(), times.end(), *from);
        if (from == times.end() || (!out.empty() && *from <= out.back())) return {};
        out.push_back(*from);
    }
    return out;
}

}  // namespace

std::vector<uint32_t> deal_units(const Dataset& data, std::span<const uint32_t> unit, size_t units,
                                 std::span<const double> shares, uint64_t seed) {
    RAMPART_CHECK(unit.size() == data.rows(), "{} units for {} rows", unit.size(), data.rows());
    struct Size {
        uint32_t rows = 0, ones = 0;
        int32_t group = 0;
    };
    std::vector<Size> sizes(units);
    for (size_t i = 0; i < unit.size(); ++i) {
        auto& size = sizes[unit[i]];
        if (size.rows++ == 0 && !data.group.empty()) size.group = data.group[i];
        size.ones += !data.numeric() && data.label[i] == 1;
    }
    std::vector<uint32_t> order(units);
    std::iota(order.begin(), order.end(), 0u);
    base::Random random(seed);
    random.shuffle(std::span(order));
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::tuple(sizes[b].rows, sizes[b].ones, sizes[b].group) <
               std::tuple(sizes[a].rows, sizes[a].ones, sizes[a].group);
    });
    std::vector<uint32_t> part(units);
    std::vector<double> filled(shares.size());
    double dealt = 0;
    for (const uint32_t one : order) {
        dealt += sizes[one].rows;
        size_t most = 0;
        double largest_lag = -1;
        for (size_t p = 0; p < shares.size(); ++p) {
            const double lag = shares[p] * dealt - filled[p];
            if (shares[p] > 0 && lag > largest_lag) largest_lag = lag, most = p;
        }
        filled[most] += sizes[one].rows;
        part[one] = static_cast<uint32_t>(most);
    }
    return part;
}

base::Result<std::vector<Fold>> row_folds(const Dataset& data, size_t folds, uint64_t seed) {
    std::vector<uint32_t> each(data.rows());
    std::iota(each.begin(), each.end(), 0u);
    if (data.rows() < folds) return too_few("rows", data.rows(), folds);
    return unit_folds(data, each, each.size(), folds, seed);
}

base::Result<std::vector<Fold>> unit_folds(const Dataset& data, std::span<const uint32_t> unit,
                                           size_t units, size_t folds, uint64_t seed) {
    RAMPART_CHECK(folds >= 2 && folds <= kMaxFolds, "{} folds", folds);
    if (units < folds) return too_few("units", units, folds);
    const std::vector<double> shares(folds, 1.0 / static_cast<double>(folds));
    const auto part = deal_units(data, unit, units, shares, seed);
    std::vector<uint32_t> fold_of_row;
    for (const uint32_t one : unit) fold_of_row.push_back(part[one]);
    auto out = folds_of(fold_of_row, folds);
    for (const auto& fold : out)
        if (fold.test.empty() || fold.train.empty()) return too_few("units", units, folds);
    return out;
}

base::Result<std::vector<Fold>> rolling_folds(const RowKeys& keys, size_t origins, const Gap& gap) {
    RAMPART_CHECK(origins >= 1 && origins <= kMaxFolds, "{} origins", origins);
    RAMPART_RETURN_IF_ERROR(check_gap_on(keys, gap));
    const auto starts = origins_of(keys.time, origins);
    if (starts.empty())
        return base::make_error(Reason::kNoSuchFold,
                                "the times are too few or too much alike for {} origins: ask for "
                                "fewer",
                                origins);
    std::vector<Fold> out(origins);
    for (size_t k = 0; k < origins; ++k) {
        RAMPART_TRY(const double learns_before, moved(starts[k], gap, keys.scale, -1));
        auto& fold = out[k];
        std::vector<uint8_t> learnt(keys.units());
        for (uint32_t row = 0; row < keys.time.size(); ++row) {
            if (!(keys.time[row] < learns_before)) continue;
            fold.train.push_back(row);
            if (!keys.unit.empty()) learnt[keys.unit[row]] = 1;
        }
        for (uint32_t row = 0; row < keys.time.size(); ++row) {
            const bool within =
                keys.time[row] >= starts[k] && (k + 1 == origins || keys.time[row] < starts[k + 1]);
            if (!within || (!keys.unit.empty() && learnt[keys.unit[row]])) continue;
            fold.test.push_back(row);
        }
        if (fold.train.empty() || fold.test.empty())
            return base::make_error(Reason::kNoSuchFold,
                                    "origin {} of {} leaves no rows to {}: ask for fewer origins "
                                    "or a shorter gap",
                                    k + 1, origins, fold.train.empty() ? "learn from" : "judge by");
    }
    return out;
}

}  // namespace rampart::dataset
