#include "options.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/attribution/units.hpp"

namespace rampart::counterfactuals {
namespace {

/// How P depends on one numeric feature.
struct Dependence {
    std::vector<float> thresholds{};  // ascending
    bool smooth = false;              // also otherwise: P may change between them

    /// Returns a number that values between the same thresholds share; a threshold has its own.
    size_t cell(float value) const {
        const auto [lower, upper] = std::equal_range(thresholds.begin(), thresholds.end(), value);
        return static_cast<size_t>(lower - thresholds.begin()) +
               static_cast<size_t>(upper - thresholds.begin());
    }
};

void note(const model::Ensemble& ensemble, int32_t feature, Dependence& out) {
    for (const auto& tree : ensemble.trees)
        for (const auto& node : tree.nodes)
            if (node.feature == feature) out.thresholds.push_back(node.threshold);
}

void note(const model::LearnedLink& link, int32_t feature, Dependence& out) {
    const auto j = static_cast<size_t>(feature);
    note(link.ensemble, feature, out);
    for (const auto& other : link.additional_ensembles) note(other, feature, out);
    for (const auto& linear : link.linears) out.smooth |= linear.slope[j] != 0;
    for (const auto& pull : link.adjustments)
        for (const auto& posterior : pull.posteriors) note(posterior, feature, out);
    if (link.strata && link.strata->feature == j)
        out.thresholds.insert(out.thresholds.end(), link.strata->cuts.begin(),
                              link.strata->cuts.end());
}

Dependence dependence_of(const model::Policy& policy, size_t feature) {
    Dependence out;
    for (const auto& link : policy.links()) {
        if (const auto* learned = std::get_if<model::LearnedLink>(&link)) {
            note(*learned, static_cast<int32_t>(feature), out);
        } else {
            out.smooth |= std::get<model::BootstrapLink>(link).feature ==
                          policy.schema().features()[feature].name;
        }
    }
    std::sort(out.thresholds.begin(), out.thresholds.end());
    return out;
}

/// Keeps the values that go away from x in one direction: the first of each cell.
class Direct {
  public:
    Direct(const Dependence& dependence, float x, double scale)
        : dependence_(dependence), x_(x), scale_(scale), last_(x), cell_(dependence.cell(x)) {}

    void take(float value, std::vector<Option>& options) {
        if (value == last_) return;
        last_ = value;
        const size_t cell = dependence_.cell(value);
        if (!dependence_.smooth && cell == cell_) return;
        cell_ = cell;
        options.push_back(
            {value, std::abs(static_cast<double>(value) - static_cast<double>(x_)) / scale_});
    }

  private:
    const Dependence& dependence_;
    const float x_;
    const double scale_;
    float last_;
    size_t cell_;
};

std::vector<Option> numbers_of(const Change& change, const Dependence& dependence, float x) {
    const auto count =
        static_cast<size_t>(std::floor((change.to - change.from) / change.step + 1e-9));
    std::vector<float> values;  // ascending
    for (size_t k = 0; k <= count; ++k)
        values.push_back(static_cast<float>(
            std::min(change.from + static_cast<double>(k) * change.step, change.to)));
    std::vector<Option> options;
    if (change.direction != Direction::kFall) {
        Direct up(dependence, x, change.scale);
        for (auto it = std::upper_bound(values.begin(), values.end(), x); it != values.end(); ++it)
            up.take(*it, options);
    }
    if (change.direction != Direction::kRise) {
        Direct down(dependence, x, change.scale);
        for (auto it = std::lower_bound(values.begin(), values.end(), x); it != values.begin();)
            down.take(*--it, options);
    }
    return options;
}

std::vector<Option> categories_of(const Change& change, const dataset::FeatureSpec& spec, float x) {
    std::vector<Option> options;
    for (const auto& name : change.categories) {
        const auto it = std::find(spec.categories.begin(), spec.categories.end(), name);
        const auto code = static_cast<float>(it - spec.categories.begin());
        if (code != x) options.push_back({code, change.distance});
    }
    return options;
}

}  // namespace

std::vector<Move> moves_of(const DeclaredChanges& declared, const model::Policy& policy,
                           std::span<const float> row) {
    const auto& schema = policy.schema();
    const auto read = attribution::features_read(policy);
    std::vector<Move> moves;
    for (const auto& change : declared.changes) {
        const auto j = schema.find(change.feature);
        if (!j || !read[*j] || std::isnan(row[*j])) continue;
        Move move{*j, change.categories.empty()
                          ? numbers_of(change, dependence_of(policy, *j), row[*j])
                          : categories_of(change, schema.features()[*j], row[*j])};
        if (move.options.empty()) continue;
        std::stable_sort(move.options.begin(), move.options.end(),
                         [](const Option& a, const Option& b) { return a.distance < b.distance; });
        moves.push_back(std::move(move));
    }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
        return a.options.front().distance < b.options.front().distance;
    });
    return moves;
}

std::vector<size_t> missing_in(std::span<const float> row, const DeclaredChanges& declared,
                               const model::Policy& policy) {
    const auto read = attribution::features_read(policy);
    std::vector<size_t> missing;
    for (const auto& change : declared.changes) {
        const auto j = policy.schema().find(change.feature);
        if (j && read[*j] && std::isnan(row[*j])) missing.push_back(*j);
    }
    std::sort(missing.begin(), missing.end());
    return missing;
}

}  // namespace rampart::counterfactuals
