#include "category_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rampart/base/check.hpp"

namespace rampart::learning {
namespace {

/// Returns the categories whose statistic is at most the threshold, as bits by code.
std::vector<uint64_t> set_of(const dataset::OrderedStatistics& statistics, float threshold) {
    std::vector<uint64_t> words((statistics.served.size() + 63) / 64);
    for (size_t code = 0; code < statistics.served.size(); ++code)
        if (statistics.served[code] <= threshold) words[code / 64] |= uint64_t{1} << code % 64;
    return words;
}

}  // namespace

std::optional<CategoryStatistics> CategoryStatistics::create(
    const dataset::Dataset& train, size_t max_bins, const dataset::StatisticsParams& params) {
    auto specs = train.schema.features();
    std::vector<size_t> features;
    for (size_t f = 0; f < specs.size(); ++f) {
        if (specs[f].categories.size() <= max_bins || categories_with_rows(train, f) <= max_bins)
            continue;
        features.push_back(f);
        specs[f] = {specs[f].name, dataset::FeatureKind::kNumeric, {}};
    }
    if (features.empty()) return std::nullopt;
    CategoryStatistics out;
    auto statistics = ordered_statistics(train, features, params);
    for (size_t i = 0; i < features.size(); ++i)
        out.features_.push_back({features[i], specs[features[i]].name, std::move(statistics[i])});
    out.schema_ = dataset::FeatureSchema::create(std::move(specs)).value();
    out.rows_ = train.rows();
    out.max_bins_ = max_bins;
    return out;
}

dataset::Dataset CategoryStatistics::training(const dataset::Dataset& train) const {
    RAMPART_CHECK(train.rows() == rows_, "{} rows, statistics of {}", train.rows(), rows_);
    auto out = train;
    out.schema = schema_;
    for (const auto& each : features_) out.columns[each.feature] = each.statistics.training;
    return out;
}

dataset::Dataset CategoryStatistics::served(const dataset::Dataset& rows) const {
    auto out = rows;
    out.schema = schema_;
    for (const auto& each : features_)
        for (float& value : out.columns[each.feature]) value = each.statistics.of(value);
    return out;
}

void CategoryStatistics::put_back(model::LearnedLink& link) const {
    RAMPART_CHECK(link.linears.empty(), "{} linear models", link.linears.size());
    put_back(link.ensemble);
    for (auto& ensemble : link.additional_ensembles) put_back(ensemble);
    for (auto& adjustment : link.adjustments)
        for (auto& ensemble : adjustment.posteriors) put_back(ensemble);
}

void CategoryStatistics::put_back(model::Ensemble& ensemble) const {
    for (auto& tree : ensemble.trees) {
        std::map<std::pair<int32_t, float>, int32_t> known;
        for (auto& node : tree.nodes) {
            const auto* found = find(node.feature);
            if (found == nullptr) continue;
            const auto [place, fresh] = known.try_emplace(
                {node.feature, node.threshold}, static_cast<int32_t>(tree.category_sets.size()));
            if (fresh) tree.category_sets.push_back(set_of(found->statistics, node.threshold));
            node.default_left = found->statistics.rest <= node.threshold;
            node.categories = place->second;
            node.threshold = 0;
        }
    }
}

const CategoryStatistics::Feature* CategoryStatistics::find(int32_t feature) const {
    const auto found = std::find_if(features_.begin(), features_.end(), [&](const auto& each) {
        return static_cast<int32_t>(each.feature) == feature;
    });
    return found == features_.end() ? nullptr : &*found;
}

std::vector<std::string> CategoryStatistics::notes() const {
    std::vector<std::string> notes;
    for (const auto& [feature, name, statistics] : features_) {
        notes.push_back(fmt::format(
            "'{}' has {} categories in the training rows, more than the {} of `max_bins`: trees "
            "split it by the mean label of each category (ordered target statistics, smoothed by "
            "`category_smooth`)",
            name, statistics.categories, max_bins_));
        if (statistics.rare > 0)
            notes.back() += fmt::format(
                "; {} of them have fewer than `min_category_rows` rows, {} of {} together, and "
                "count as one with missing and unknown values",
                statistics.rare, statistics.rare_rows, rows_);
    }
    return notes;
}

}  // namespace rampart::learning
