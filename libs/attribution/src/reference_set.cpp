#include "rampart/attribution/reference_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rampart/attribution/reasons.hpp"
#include "rampart/base/bytes.hpp"

namespace rampart::attribution {
namespace {

/// Returns the range of the middle 90 % of a column's numbers; 1 where it has none.
double middle_range(std::span<const float> rows, size_t width, size_t column) {
    std::vector<double> values;
    for (size_t at = column; at < rows.size(); at += width)
        if (!std::isnan(rows[at])) values.push_back(static_cast<double>(rows[at]));
    if (values.empty()) return 1;
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double q) {
        return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
    };
    const double range = quantile(0.95) - quantile(0.05);
    if (range > 0) return range;
    // most have one value: any other is as far away as can be
    return std::numeric_limits<double>::min();
}

double distance(const dataset::FeatureSpec& spec, double scale, float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : 1;
    if (spec.kind == dataset::FeatureKind::kCategorical) return a == b ? 0 : 1;
    return std::min(1.0, std::abs(static_cast<double>(a) - static_cast<double>(b)) / scale);
}

}  // namespace

base::Result<ReferenceSet> choose_reference_set(const Probability& p,
                                                const dataset::FeatureSchema& schema,
                                                std::span<const float> pool) {
    ReferenceSet set{.width = schema.size()};
    set.pool = pool.size() / set.width;
    if (set.pool == 0)
        return base::make_error(Reason::kNoReferenceSet,
                                "there is no other applicant with these features to compare with");
    const auto of = p.of(pool, set.width);
    const double from = std::min(kCertain, *std::max_element(of.begin(), of.end()));
    set.lowest = 1;
    for (size_t i = 0; i < set.pool && set.size() < kReferenceRows; ++i) {
        if (of[i] < from) continue;
        const auto row = pool.subspan(i * set.width, set.width);
        set.rows.insert(set.rows.end(), row.begin(), row.end());
        set.lowest = std::min(set.lowest, of[i]);
    }
    for (size_t j = 0; j < set.width; ++j)
        set.scale.push_back(schema.features()[j].kind == dataset::FeatureKind::kNumeric
                                ? middle_range(pool, set.width, j)
                                : 1);
    set.digest = digest_of_rows(schema, set.rows);
    return set;
}

size_t nearest(const ReferenceSet& set, const dataset::FeatureSchema& schema,
               std::span<const float> row) {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < set.size(); ++i) {
        double sum = 0;
        for (size_t j = 0; j < set.width; ++j)
            sum += distance(schema.features()[j], set.scale[j], row[j], set.row(i)[j]);
        if (sum >= least) continue;
        least = sum;
        best = i;
    }
    return best;
}

base::Digest digest_of_rows(const dataset::FeatureSchema& schema, std::span<const float> rows) {
    std::string bytes;
    base::append_field(bytes, "reference rows");
    base::append_field(bytes, schema.digest().hex());
    for (const float value : rows) {
        const float one = std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
        base::append_u32(bytes, std::bit_cast<uint32_t>(one));
    }
    return base::sha256(bytes);
}

}  // namespace rampart::attribution
