#include "rampart/decision/reason_codes.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/reasons.hpp"

namespace rampart::decision {
namespace {

using base::Result;

/// Returns the linear model of the first member; the ensemble is that of the first member too.
const model::LinearModel* linear_part(const model::LearnedLink& link) {
    if (link.members.empty() || link.members.front().linear == 0) return nullptr;
    return &link.linears[link.members.front().linear - 1];
}

std::set<size_t> features_read(const model::Policy& policy) {
    std::set<size_t> read;
    if (const auto* learned = policy.last_learned()) {
        for (const auto& tree : learned->ensemble.trees) {
            for (const auto& node : tree.nodes) {
                if (node.feature >= 0) read.insert(static_cast<size_t>(node.feature));
            }
        }
        if (const auto* linear = linear_part(*learned)) {
            for (size_t j = 0; j < linear->slope.size(); ++j) {
                const auto is_read = [](double term) { return term != 0; };
                if (is_read(linear->slope[j]) ||
                    std::any_of(linear->category[j].begin(), linear->category[j].end(), is_read))
                    read.insert(j);
            }
        }
    } else {
        const auto& rule = std::get<model::BootstrapLink>(policy.links().back());
        read.insert(*policy.schema().find(rule.feature));
    }
    return read;
}

/// Returns the kind of a learned link, for people.
std::string kind_of(const model::LearnedLink& link) {
    std::string kind = link.members.empty()
                           ? std::string("one ensemble")
                           : fmt::format("a mixture of {} members", link.members.size());
    if (!link.calibrations.empty()) kind += ", calibrated";
    if (!link.adjustments.empty()) kind += ", with a rule that does not read the group";
    if (link.scale.levels > 0) kind += ", with a drawn score";
    if (link.strata) kind += ", with a rule by strata";
    return kind;
}

/// Returns what stands in the way of reasons for declines by a link; empty: nothing.
std::string obstacle_in(const model::LearnedLink& link, const model::Policy& policy) {
    if (!policy.state().reasons)
        return "it has no reference row with which an applicant could be compared; `rampart "
               "candidate` gives it one, from the development set";
    if (features_read(policy).empty())
        return fmt::format(
            "the score of {} reads no feature, so that it is the same for everybody; train with "
            "more examples, or other options",
            link.members.empty() ? "its ensemble" : "its first member");
    if (link.score_slope == 0)
        return "its rule does not depend on the score (the slope is 0); take another impact";
    const size_t groups = policy.group_names().size();
    const auto name = [&](size_t group) {
        return group < groups ? policy.group_names()[group] : std::string("everybody");
    };
    const auto strata =
        link.strata ? names_of(*link.strata, policy.schema()) : std::vector<std::string>();
    const auto cell_name = [&](size_t cell) {
        return strata.empty()
                   ? name(cell)
                   : fmt::format("{} with {}", name(cell % groups), strata[cell / groups]);
    };
    for (size_t i = 0; i < link.calibrations.size(); ++i) {
        const auto& calibration = link.calibrations[i];
        if (model::apply(calibration, 0) < model::apply(calibration, 1)) continue;
        return fmt::format(
            "its calibration gives the same score to all of {}; calibrate on more examples, or not",
            link.calibrations.size() > 1 ? name(i) : "the applicants");
    }
    std::vector<const model::RampRule*> ramps{&link.ramp};
    for (const auto& member : link.members)
        if (member.ramp) ramps.push_back(&*member.ramp);
    for (const auto* ramp : ramps) {
        for (size_t cell = 0; cell < ramp->slopes.size(); ++cell) {
            if (ramp->slopes[cell] > 0) continue;
            return fmt::format(
                "its ramp does not approve by the score in {} (its slope is {:g}); take a larger "
                "tolerance, or another criterion",
                cell_name(cell), ramp->slopes[cell]);
        }
    }
    return {};
}

/// A contribution this small relative to the largest is rounding, not a reason.
constexpr double kRounding = 1e-9;

bool same_value(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Result<ReasonCodes> ReasonCodes::create(const model::Policy& policy) {
    ReasonCodes codes;
    for (const size_t index : features_read(policy)) {
        const auto& name = policy.schema().features()[index].name;
        codes.features_.push_back({index, fmt::format("{}{}", kFeatureReasonPrefix, name)});
    }
    const auto* learned = policy.last_learned();
    if (learned != nullptr) {
        codes.engine_.emplace(learned->ensemble);
        codes.way_ = learned->score_slope < 0 ? -1 : 1;
        if (const auto* linear = linear_part(*learned)) codes.linear_ = *linear;
    }
    const size_t d = policy.schema().size();
    const auto& reasons = policy.state().reasons;
    if (!reasons) return codes;
    codes.reference_ = reasons->row;
    if (learned == nullptr || reasons->method != model::ReasonMethod::kShapley) return codes;
    auto shap = explain::TreeShap::interventional(learned->ensemble, d, codes.reference_);
    if (!shap) {
        return base::make_error(Reason::kBadReferenceRow, "the reference row: {}",
                                shap.error().message);
    }
    codes.shap_ = std::make_shared<const explain::TreeShap>(*std::move(shap));
    return codes;
}

std::vector<ReasonCodes::Taken> ReasonCodes::taken_by_replacement(
    std::span<const float> row) const {
    const auto score_of = [&](std::span<const float> x) {
        return way_ * (engine_->predict_raw(x) + (linear_ ? linear_->predict(x) : 0));
    };
    const double score = score_of(row);
    std::vector<float> changed(row.begin(), row.end());
    std::vector<Taken> taken;
    for (const auto& [index, code] : features_) {
        if (same_value(row[index], reference_[index])) continue;
        changed[index] = reference_[index];
        const double raised = score_of(changed) - score;
        if (raised > 0) taken.push_back({raised, &code});
        changed[index] = row[index];
    }
    return taken;
}

std::vector<ReasonCodes::Taken> ReasonCodes::taken_by_shapley(std::span<const float> row) const {
    std::vector<double> phi(row.size());
    auto workspace = shap_->workspace();
    shap_->explain(row, phi, workspace);
    for (size_t j = 0; j < phi.size(); ++j) {
        // the terms of a linear model are its Shapley values
        if (linear_) phi[j] += linear_->term(j, row[j]) - linear_->term(j, reference_[j]);
        phi[j] *= way_;
    }
    double largest = 0;
    for (const double x : phi) largest = std::max(largest, std::abs(x));
    std::vector<Taken> taken;
    for (const auto& [index, code] : features_) {
        if (-phi[index] > kRounding * largest) taken.push_back({-phi[index], &code});
    }
    return taken;
}

std::vector<std::string> ReasonCodes::feature_reasons(std::span<const float> row) const {
    if (!engine_) return {features_.front().code};
    if (reference_.empty()) return {};
    auto taken = shap_ ? taken_by_shapley(row) : taken_by_replacement(row);
    std::stable_sort(taken.begin(), taken.end(),
                     [](const Taken& a, const Taken& b) { return a.amount > b.amount; });
    taken.resize(std::min(taken.size(), kMaxFeatureReasons));
    std::vector<std::string> reasons;
    for (const auto& one : taken) reasons.push_back(*one.code);
    return reasons;
}

std::vector<std::string> ReasonCodes::explain(std::span<const float> row,
                                              const model::PolicyOutput& output, double p_approve,
                                              double draw) const {
    const auto chance = chance_codes(output, p_approve, draw);
    if (draw < output.exploit) return chance;
    auto reasons = feature_reasons(row);
    if (reasons.empty()) reasons.emplace_back(kScoreTooLow);
    reasons.insert(reasons.end(), chance.begin(), chance.end());
    return reasons;
}

base::Status check_explained(const model::Policy& policy) {
    const auto* link = policy.last_learned();
    if (link == nullptr) return base::ok();
    const auto obstacle = obstacle_in(*link, policy);
    if (!obstacle.empty())
        return base::make_error(Reason::kNotExplained,
                                "declines by this policy ({}) could have no reasons: {}",
                                kind_of(*link), obstacle);
    return ReasonCodes::create(policy).map([](const auto&) {});
}

}  // namespace rampart::decision
