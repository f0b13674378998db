#include "next_link.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/training/candidate.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {

using base::Result;
using training_set::DevelopmentSet;

Result<ScoreMap> score_map(const DevelopmentSet& development, const domain::Impact& impact) {
    double favourable = impact.favourable, unfavourable = impact.unfavourable;
    if (impact.measure) {
        double sum[2] = {0, 0}, count[2] = {0, 0};
        for (const auto& row : development.rows) {
            if (!row.is_training_example() || !row.impact) continue;
            const int y = *row.label == 1 ? 1 : 0;
            sum[y] += *row.impact / row.p_approve;
            count[y] += 1 / row.p_approve;
        }
        if (count[0] == 0 || count[1] == 0) {
            return base::make_error(
                Reason::kNoImpacts,
                "the reported impact is known for one label only; wait for more outcomes");
        }
        favourable = sum[1] / count[1];
        unfavourable = sum[0] / count[0];
    }
    const double up = favourable - impact.declined, down = unfavourable - impact.declined;
    const double scale = std::max({std::abs(up), std::abs(down), 1e-12});
    return ScoreMap{(up - down) / scale, down / scale, impact.lo, impact.hi,
                    (impact.declined - impact.lo) / (impact.hi - impact.lo)};
}

Result<ChosenLearner> chosen_at(const Recipe& recipe, const ScoreMap& map) {
    RAMPART_TRY(auto chosen, chosen_learner(recipe));
    const bool impact = recipe.label == Label::kImpact;
    if (chosen.options.has("threshold"))
        chosen.options.set_fallback("threshold",
                                    impact ? map.impact_break_even() : map.break_even());
    return chosen;
}

std::vector<float> reference_row(const DevelopmentSet& development) {
    std::vector<float> reference(development.schema.size());
    std::vector<float> values;
    for (size_t j = 0; j < reference.size(); ++j) {
        values.clear();
        for (size_t i = 0; i < development.rows.size(); ++i) {
            const float v = development.features_of(i)[j];
            if (!std::isnan(v)) values.push_back(v);
        }
        if (values.empty()) {
            reference[j] = std::nanf("");
            continue;
        }
        std::sort(values.begin(), values.end());
        reference[j] = values[values.size() / 2];
        if (development.schema.features()[j].kind != dataset::FeatureKind::kCategorical) continue;
        size_t best = 0;
        for (size_t from = 0; from < values.size();) {
            const size_t to = static_cast<size_t>(
                std::upper_bound(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                                 values[from]) -
                values.begin());
            if (to - from > best) {
                best = to - from;
                reference[j] = values[from];
            }
            from = to;
        }
    }
    return reference;
}

std::vector<double> approvals_of(const DevelopmentSet& development, const model::Policy& policy) {
    std::vector<double> out;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        const auto& cell = development.rows[i].cell;
        const auto group = cell ? std::optional<size_t>(*cell) : std::nullopt;
        const bool undecided = policy.group_aware() && !cell;
        out.push_back(undecided ? 0 : policy.evaluate(development.features_of(i), group).approve);
    }
    return out;
}

std::vector<model::Link> carried_links(const model::Policy& champion,
                                       const dataset::FeatureSchema& schema) {
    auto links = champion.links();
    for (auto& link : links) {
        if (auto* bootstrap = std::get_if<model::BootstrapLink>(&link)) {
            bootstrap->feature =
                schema.features()[*champion.schema().find(bootstrap->feature)].name;
            continue;
        }
        for (auto& linear : std::get<model::LearnedLink>(link).linears) {
            for (size_t j = linear.slope.size(); j < schema.size(); ++j) {
                linear.slope.push_back(0);
                linear.mean.push_back(0);
                linear.category.emplace_back(schema.features()[j].categories.size());
            }
        }
    }
    return links;
}

Result<LinksBefore> links_before(const DevelopmentSet& development, const model::Policy& champion,
                                 const Recipe& recipe, base::ThreadPool* pool) {
    LinksBefore before{carried_links(champion, development.schema),
                       champion.links().size() >= static_cast<size_t>(recipe.max_links)};
    if (!before.distilled) return before;
    RAMPART_TRY(auto student, distil(development, champion, recipe, pool));
    before.links = {std::move(student)};
    return before;
}

}  // namespace rampart::training
