#include "rampart/model/linear_model.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/model/reasons.hpp"

namespace rampart::model {
namespace {

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadLinearModel, format, std::forward<Args>(args)...);
}

bool allowed(double x) { return std::abs(x) <= kMaxCoefficient; }

}  // namespace

double LinearModel::term(size_t feature, float value) const {
    const double x = static_cast<double>(value);
    const auto& codes = category[feature];
    if (codes.empty()) return slope[feature] * (std::isnan(x) ? mean[feature] : x);
    if (!(x >= 0 && x < static_cast<double>(codes.size()))) return 0;
    return codes[static_cast<size_t>(x)];
}

double LinearModel::predict(std::span<const float> row) const {
    double sum = intercept;
    for (size_t j = 0; j < slope.size(); ++j) sum += term(j, row[j]);
    return sum;
}

std::vector<double> LinearModel::predict(const dataset::Dataset& data) const {
    std::vector<float> row(data.columns.size());
    std::vector<double> out;
    out.reserve(data.rows());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        out.push_back(predict(row));
    }
    return out;
}

base::Status validate(const LinearModel& linear, const dataset::FeatureSchema& schema) {
    const size_t d = schema.size();
    if (linear.slope.size() != d || linear.mean.size() != d || linear.category.size() != d) {
        return bad("{} slopes, {} means and {} lists of categories for {} features",
                   linear.slope.size(), linear.mean.size(), linear.category.size(), d);
    }
    if (!allowed(linear.intercept)) return bad("the intercept is {}", linear.intercept);
    for (size_t j = 0; j < d; ++j) {
        const auto& spec = schema.features()[j];
        const auto& codes = linear.category[j];
        if (codes.size() != spec.categories.size()) {
            return bad("feature '{}': {} numbers for {} categories", spec.name, codes.size(),
                       spec.categories.size());
        }
        if (!allowed(linear.slope[j]) || !allowed(linear.mean[j]) ||
            !std::all_of(codes.begin(), codes.end(), allowed)) {
            return bad("feature '{}': a number is not finite or exceeds {}", spec.name,
                       kMaxCoefficient);
        }
        if (spec.kind == dataset::FeatureKind::kCategorical && linear.slope[j] != 0) {
            return bad("feature '{}' has categories and the slope {}", spec.name, linear.slope[j]);
        }
    }
    return base::ok();
}

bool reads_a_feature(const LinearModel& linear) {
    const auto is_read = [](double term) { return term != 0; };
    return std::any_of(linear.slope.begin(), linear.slope.end(), is_read) ||
           std::any_of(linear.category.begin(), linear.category.end(), [&](const auto& terms) {
               return std::any_of(terms.begin(), terms.end(), is_read);
           });
}

}  // namespace rampart::model
