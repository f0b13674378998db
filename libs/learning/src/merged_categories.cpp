#include "merged_categories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rampart::learning {

std::vector<std::string> notes_of_merged_categories(const dataset::Dataset& train,
                                                    size_t max_bins) {
    std::vector<std::string> notes;
    for (size_t f = 0; f < train.columns.size(); ++f) {
        const auto& spec = train.schema.features()[f];
        if (spec.kind != dataset::FeatureKind::kCategorical || spec.categories.size() <= max_bins)
            continue;
        // as dataset::BinMapper bins them: the most frequent have a bin each, the last has the rest
        std::vector<double> weight(spec.categories.size());
        std::vector<size_t> rows(spec.categories.size());
        for (size_t row = 0; row < train.rows(); ++row) {
            const float code = train.columns[f][row];
            if (std::isnan(code)) continue;
            weight[static_cast<size_t>(code)] += train.weight_of(row);
            ++rows[static_cast<size_t>(code)];
        }
        std::vector<size_t> order;
        for (size_t code = 0; code < weight.size(); ++code)
            if (weight[code] > 0) order.push_back(code);
        if (order.size() <= max_bins) continue;
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return weight[a] > weight[b]; });
        size_t merged = 0;
        for (size_t rank = max_bins - 1; rank < order.size(); ++rank) merged += rows[order[rank]];
        notes.push_back(fmt::format(
            "'{}' has {} categories in the training rows, and `max_bins` leaves {} bins: the "
            "rarest {}, in {} of {} rows, are one category to the trees; merge categories that are "
            "alike, split the column in two (region and branch), or add a column of numbers that "
            "says what distinguishes them, such as their rate of outcomes in earlier rows",
            spec.name, order.size(), max_bins, order.size() - max_bins + 1, merged, train.rows()));
    }
    return notes;
}

}  // namespace rampart::learning
