#include "rampart/fair_regression/serving.hpp"

#include <optional>

#include "rampart/fair_regression/reasons.hpp"

namespace rampart::fair_regression {
namespace {

/// Returns whether the score reads a feature.
bool reads(const reductions::OracleModel& model) {
    if (const auto* ensemble = std::get_if<model::Ensemble>(&model))
        return model::reads_a_feature(*ensemble);
    const auto* linear = std::get_if<model::LinearModel>(&model);
    return linear != nullptr && model::reads_a_feature(*linear);
}

/// Puts models into a link, ensembles and linear models apart.
class LinkBuilder {
  public:
    base::Status add(const ServedModel& served) {
        model::Member member{.weight = served.weight};
        if (const auto* ensemble = std::get_if<model::Ensemble>(served.model)) {
            member.ensemble = put(*ensemble);
        } else if (const auto* linear = std::get_if<model::LinearModel>(served.model)) {
            if (!empty_) empty_ = put({});  // what a linear model is added to
            member.ensemble = *empty_;
            link.linears.push_back(*linear);
            member.linear = static_cast<uint32_t>(link.linears.size());
        } else {
            return base::make_error(Reason::kNotServed,
                                    "a model of an oracle of one's own cannot be served; "
                                    "use trees or linear models");
        }
        link.members.push_back(std::move(member));
        return base::ok();
    }

    model::LearnedLink link;

  private:
    uint32_t put(const model::Ensemble& ensemble) {
        if (ensembles_++ == 0) {
            link.ensemble = ensemble;
            return 0;
        }
        link.additional_ensembles.push_back(ensemble);
        return static_cast<uint32_t>(link.additional_ensembles.size());
    }

    uint32_t ensembles_ = 0;
    std::optional<uint32_t> empty_;
};

}  // namespace

base::Result<RegressionTable> regression_table(const dataset::Dataset& data, LabelRange range) {
    RegressionTable out;
    if (data.numeric()) {
        RAMPART_TRY(out.label, unit_labels(data.target, range));
    } else {
        out.label.assign(data.label.begin(), data.label.end());
    }
    out.group = data.group;
    out.groups = std::max<size_t>(data.group_names.size(), 1);
    out.weight = data.weight;
    return out;
}

base::Result<model::LearnedLink> score_link(std::span<const ServedModel> models, int levels,
                                            const model::ScoreStep& step) {
    if (models.empty()) return base::make_error(Reason::kNotServed, "there are no models");
    LinkBuilder builder;
    for (const bool reading : {true, false})
        for (const auto& served : models)
            if (reads(*served.model) == reading) RAMPART_RETURN_IF_ERROR(builder.add(served));
    auto& link = builder.link;
    if (models.size() == 1 && link.linears.empty()) link.members.clear();
    link.scale = {model::ScoreScale::Kind::kUnit, static_cast<uint32_t>(levels)};
    RAMPART_TRY(const auto numbers, model::numbers_of(step, link.scale.levels));
    link.score_slope = numbers.slope;
    link.score_intercept = numbers.intercept;
    link.ramp = {0, 0, {numbers.threshold}, {numbers.tie}};
    return std::move(link);
}

}  // namespace rampart::fair_regression
