#pragma once

#include <span>
#include <vector>

#include "rampart/attribution/probability.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::attribution {

inline constexpr size_t kReferenceRows = 32;    // declared size
inline constexpr double kCertain = 1 - 0.01;    // P from which an approval counts as certain
inline constexpr size_t kReferencePool = 4096;  // applicants from whom they are chosen, at most

/// Applicants whom the policy approves, with whom one whom it declined is compared.
struct ReferenceSet {
    size_t width = 0;           // features
    std::vector<float> rows{};  // [size()][width], encoded
    std::vector<double>
        scale{};            // [width] > 0: range of the middle 90 % of the pool; categories: 1
    double lowest = 0;      // the least P of its rows
    size_t pool = 0;        // applicants from whom they were chosen
    base::Digest digest{};  // SHA-256 over schema and rows, in order

    size_t size() const { return width == 0 ? 0 : rows.size() / width; }
    std::span<const float> row(size_t i) const { return std::span(rows).subspan(i * width, width); }
};

/// Chooses the first kReferenceRows of the pool that are approved with at least kCertain; where
/// there are none, those with the highest P of the pool, the first of them. P is that of the
/// decision that is explained, so that the applicants' own groups do not count. `pool`: [n][width]
/// encoded, in an order that a seed gives. Errors: failed_precondition "no_reference_set": it is
/// empty.
base::Result<ReferenceSet> choose_reference_set(const Probability& p,
                                                const dataset::FeatureSchema& schema,
                                                std::span<const float> pool);

/// Returns the number of the row that is nearest to `row`; of several the first. The distance is
/// the sum over features of min(1, |difference| / scale) for numbers; 1 for other categories, and
/// where one of the two is missing; 0 where both are.
size_t nearest(const ReferenceSet& set, const dataset::FeatureSchema& schema,
               std::span<const float> row);

/// Returns the SHA-256 over the schema's digest and the bits of rows [n][width]; all NaN are one.
base::Digest digest_of_rows(const dataset::FeatureSchema& schema, std::span<const float> rows);

}  // namespace rampart::attribution
