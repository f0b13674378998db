#include "rampart/data_profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/value_bins.hpp"
#include "rampart/stats/metrics.hpp"
#include "rampart/stats/population_stability.hpp"

namespace rampart::data_profile {
namespace {

using dataset::Dataset;

constexpr size_t kFewRows = 100;
constexpr double kMostlyMissing = 0.5, kMissingApart = 0.1;

double label_of(const Dataset& data, size_t row) {
    return data.numeric() ? data.target[row] : data.label[row];
}

/// Sums over some of the rows.
struct Sums {
    size_t rows = 0;
    double weight = 0, label = 0;

    void add(const Dataset& data, size_t row) {
        const double w = data.weight_of(row);
        ++rows;
        weight += w;
        label += w * label_of(data, row);
    }
    Part part(std::string name, double all) const {
        return {std::move(name), rows, weight / all, label / weight};
    }
};

Sums all_of(const Dataset& data) {
    Sums all;
    for (size_t i = 0; i < data.rows(); ++i) all.add(data, i);
    return all;
}

std::vector<Group> groups_of(const Dataset& data, double all) {
    std::vector<Sums> sums(data.group_names.size());
    for (size_t i = 0; i < data.group.size(); ++i)
        sums[static_cast<size_t>(data.group[i])].add(data, i);
    std::vector<Group> groups;
    for (size_t g = 0; g < sums.size(); ++g) {
        Group group{sums[g].part(data.group_names[g], all), std::nullopt};
        if (!data.numeric() && sums[g].rows > 0)
            group.interval =
                stats::wilson(group.part.label, static_cast<double>(sums[g].rows), kConfidence);
        groups.push_back(std::move(group));
    }
    return groups;
}

/// One feature's values that are not missing, in ascending order, with their rows.
struct Sorted {
    std::vector<uint32_t> rows;
    double weight = 0;
    size_t distinct = 0;
};

Sorted sorted(const Dataset& data, const std::vector<float>& column) {
    Sorted sorted;
    for (uint32_t i = 0; i < column.size(); ++i)
        if (!std::isnan(column[i])) sorted.rows.push_back(i);
    std::stable_sort(sorted.rows.begin(), sorted.rows.end(),
                     [&](uint32_t a, uint32_t b) { return column[a] < column[b]; });
    for (size_t k = 0; k < sorted.rows.size(); ++k) {
        sorted.weight += data.weight_of(sorted.rows[k]);
        if (k == 0 || column[sorted.rows[k]] != column[sorted.rows[k - 1]]) ++sorted.distinct;
    }
    return sorted;
}

Numbers numbers_of(const Dataset& data, const std::vector<float>& column, const Sorted& sorted) {
    Numbers numbers;
    numbers.least = column[sorted.rows.front()];
    numbers.greatest = column[sorted.rows.back()];
    double below = 0;
    size_t next = 0;
    for (const uint32_t row : sorted.rows) {
        below += data.weight_of(row);
        numbers.mean += data.weight_of(row) * double{column[row]} / sorted.weight;
        for (; next < kQuantiles.size() && below >= kQuantiles[next] * sorted.weight; ++next)
            numbers.quantiles[next] = column[row];
    }
    for (; next < kQuantiles.size(); ++next) numbers.quantiles[next] = numbers.greatest;
    double squares = 0;
    for (const uint32_t row : sorted.rows) {
        const double apart = double{column[row]} - numbers.mean;
        squares += data.weight_of(row) * apart * apart / sorted.weight;
    }
    numbers.deviation = std::sqrt(squares);
    return numbers;
}

std::vector<Part> parts_of(const std::vector<Sums>& sums, std::vector<std::string> names,
                           double all) {
    std::vector<Part> parts;
    for (size_t k = 0; k < sums.size(); ++k)
        parts.push_back(sums[k].part(std::move(names[k]), all));
    return parts;
}

std::vector<Part> bars_of_values(const Dataset& data, const std::vector<float>& column,
                                 const Sorted& sorted, double all) {
    std::vector<Sums> sums;
    std::vector<std::string> names;
    for (size_t k = 0; k < sorted.rows.size(); ++k) {
        const float value = column[sorted.rows[k]];
        if (k == 0 || value != column[sorted.rows[k - 1]]) {
            sums.emplace_back();
            names.push_back(fmt::format("{:.6g}", value));
        }
        sums.back().add(data, sorted.rows[k]);
    }
    return parts_of(sums, std::move(names), all);
}

std::vector<Part> bars_of_ranges(const Dataset& data, const std::vector<float>& column,
                                 const Sorted& sorted, const Numbers& numbers, double all) {
    double lo = numbers.quantiles.front(), hi = numbers.quantiles.back();
    if (lo == hi) lo = numbers.least, hi = numbers.greatest;
    const double width = (hi - lo) / double(kMaxBars);
    std::vector<Sums> sums(kMaxBars);
    for (const uint32_t row : sorted.rows) {
        const double k = std::floor((double{column[row]} - lo) / width);
        sums[static_cast<size_t>(std::clamp(k, 0.0, double(kMaxBars - 1)))].add(data, row);
    }
    std::vector<std::string> names;
    for (size_t k = 0; k < kMaxBars; ++k) {
        const double from = lo + double(k) * width;
        names.push_back(k == 0              ? fmt::format("below {:.6g}", from + width)
                        : k + 1 == kMaxBars ? fmt::format("{:.6g} and above", from)
                                            : fmt::format("{:.6g} to {:.6g}", from, from + width));
    }
    return parts_of(sums, std::move(names), all);
}

std::vector<Part> bars_of_categories(const Dataset& data, const std::vector<float>& column,
                                     const std::vector<std::string>& categories, double all) {
    std::vector<Sums> sums(categories.size());
    for (size_t i = 0; i < column.size(); ++i)
        if (!std::isnan(column[i])) sums[static_cast<size_t>(column[i])].add(data, i);
    std::vector<size_t> order(sums.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return sums[a].weight > sums[b].weight; });
    std::vector<Sums> shown;
    std::vector<std::string> names;
    for (const size_t k : order) {
        if (sums[k].rows == 0) break;
        if (shown.size() < kMaxBars) {
            shown.push_back(sums[k]);
            names.push_back(categories[k]);
            continue;
        }
        names.back() = "others";
        shown.back().rows += sums[k].rows;
        shown.back().weight += sums[k].weight;
        shown.back().label += sums[k].label;
    }
    return parts_of(shown, std::move(names), all);
}

std::vector<double> missing_by_group(const Dataset& data, const std::vector<float>& column) {
    std::vector<double> all(data.group_names.size()), missing(data.group_names.size());
    for (size_t i = 0; i < data.group.size(); ++i) {
        const auto g = static_cast<size_t>(data.group[i]);
        all[g] += data.weight_of(i);
        if (std::isnan(column[i])) missing[g] += data.weight_of(i);
    }
    for (size_t g = 0; g < all.size(); ++g) missing[g] /= all[g];
    return missing;
}

/// Returns what a feature is like in each period.
std::vector<InPeriod> in_periods(const Dataset& data, size_t feature, const Periods& periods,
                                 size_t reference) {
    if (periods.names.empty()) return {};
    const auto& column = data.columns[feature];
    const auto bins = dataset::value_bins(data, feature);
    const size_t bin_count = bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end()) + 1;
    const size_t count = periods.names.size();
    std::vector<std::vector<double>> weight(count + 1, std::vector<double>(bin_count));
    std::vector<double> rows(count + 1), missing(count);
    std::vector<bool> used(bin_count);
    for (size_t i = 0; i < bins.size(); ++i) {
        const size_t period = periods.of_row[i];
        for (const size_t to : {period, count}) {
            if (to == count && period >= reference) break;
            weight[to][bins[i]] += data.weight_of(i);
            ++rows[to];
        }
        used[bins[i]] = true;
        if (std::isnan(column[i])) missing[period] += data.weight_of(i);
    }
    const auto of_bins = static_cast<double>(std::count(used.begin(), used.end(), true));
    std::vector<InPeriod> found;
    for (size_t p = 0; p < count; ++p) {
        const double all = std::accumulate(weight[p].begin(), weight[p].end(), 0.0);
        InPeriod one{missing[p] / all, NAN, NAN};
        if (p >= reference && rows[p] > 0) {
            one.shift = stats::population_stability(weight[count], weight[p]);
            one.by_chance = stats::stability_by_chance(of_bins, rows[count], rows[p]);
        }
        found.push_back(one);
    }
    return found;
}

Feature feature_of(const Dataset& data, size_t f, const Periods& periods, size_t reference,
                   double all) {
    const auto& spec = data.schema.features()[f];
    const auto& column = data.columns[f];
    Feature feature;
    feature.name = spec.name;
    feature.kind = spec.kind;
    Sums missing;
    for (size_t i = 0; i < column.size(); ++i)
        if (std::isnan(column[i])) missing.add(data, i);
    feature.missing = missing.part("missing", all);
    const auto values = sorted(data, column);
    feature.distinct = values.distinct;
    if (spec.kind == dataset::FeatureKind::kCategorical) {
        feature.bars = bars_of_categories(data, column, spec.categories, all);
    } else if (values.distinct > 0) {
        feature.numbers = numbers_of(data, column, values);
        feature.bars = values.distinct <= kMaxBars
                           ? bars_of_values(data, column, values, all)
                           : bars_of_ranges(data, column, values, *feature.numbers, all);
    }
    feature.missing_by_group = missing_by_group(data, column);
    feature.periods = in_periods(data, f, periods, reference);
    return feature;
}

std::vector<Period> periods_with_groups(const Dataset& data, const Periods& periods, double all) {
    const size_t groups = data.group_names.size();
    std::vector<Sums> sums(periods.names.size());
    std::vector<std::vector<double>> by_group(sums.size(), std::vector<double>(groups));
    for (size_t i = 0; i < periods.of_row.size(); ++i) {
        const size_t p = periods.of_row[i];
        sums[p].add(data, i);
        if (groups > 0) by_group[p][static_cast<size_t>(data.group[i])] += data.weight_of(i);
    }
    std::vector<Period> found;
    for (size_t p = 0; p < sums.size(); ++p) {
        for (double& one : by_group[p]) one /= sums[p].weight;
        found.push_back({sums[p].part(periods.names[p], all), std::move(by_group[p])});
    }
    return found;
}

size_t reference_of(const std::vector<Period>& periods, size_t rows) {
    size_t before = 0;
    for (size_t p = 0; p < periods.size(); ++p) {
        before += periods[p].part.rows;
        if (4 * before >= rows) return p + 1;
    }
    return periods.size();
}

}  // namespace

std::optional<size_t> Feature::most_shifted() const {
    std::optional<size_t> most;
    for (size_t p = 0; p < periods.size(); ++p)
        if (!std::isnan(periods[p].shift) &&
            (!most || periods[p].beyond_chance() > periods[*most].beyond_chance()))
            most = p;
    return most;
}

base::Result<Profile> profile_of(const Dataset& data, const Periods& periods) {
    RAMPART_CHECK(periods.of_row.empty() || periods.of_row.size() == data.rows());
    if (data.rows() == 0) return base::make_error(base::Reason::kNoRows, "there are no rows");
    const Sums all = all_of(data);
    Profile profile;
    profile.all = all.part("all", all.weight);
    profile.groups = groups_of(data, all.weight);
    profile.periods = periods_with_groups(data, periods, all.weight);
    profile.reference = reference_of(profile.periods, data.rows());
    for (size_t f = 0; f < data.columns.size(); ++f)
        profile.features.push_back(feature_of(data, f, periods, profile.reference, all.weight));
    return profile;
}

std::vector<std::string> findings(const Profile& profile) {
    std::vector<std::string> found;
    for (const auto& group : profile.groups)
        if (group.part.rows < kFewRows)
            found.push_back(fmt::format("group {} has {} rows: too few for a statement about it",
                                        group.part.name, group.part.rows));
    for (const auto& one : profile.features) {
        if (one.distinct <= 1)
            found.push_back(fmt::format(
                "{}: {}", one.name,
                one.distinct == 0 ? "every value is missing" : "all values are the same"));
        if (one.missing.share > kMostlyMissing)
            found.push_back(
                fmt::format("{}: {:.1f} % is missing", one.name, 100 * one.missing.share));
        const auto& by_group = one.missing_by_group;
        const auto [least, most] = std::minmax_element(by_group.begin(), by_group.end());
        if (!by_group.empty() && *most - *least > kMissingApart)
            found.push_back(fmt::format(
                "{}: {:.1f} % is missing of {}, and {:.1f} % of {}", one.name, 100 * *most,
                profile.groups[static_cast<size_t>(most - by_group.begin())].part.name,
                100 * *least,
                profile.groups[static_cast<size_t>(least - by_group.begin())].part.name));
        const auto at = one.most_shifted();
        if (!at) continue;
        const auto& there = one.periods[*at];
        if (there.changed())
            found.push_back(fmt::format(
                "{}: other values than before in {} (PSI {:.2f}; chance gives {:.3f})", one.name,
                profile.periods[*at].part.name, there.shift, there.by_chance));
    }
    return found;
}

}  // namespace rampart::data_profile
