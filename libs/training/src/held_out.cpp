#include "held_out.hpp"

#include <algorithm>

#include "development_rows.hpp"
#include "next_link.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;

/// Returns the rates of decisions in words.
std::string rates_of(const dataset::Dataset& data, const std::vector<double>& approve) {
    double all[2] = {0, 0}, approved[2] = {0, 0};  // by label
    for (size_t i = 0; i < approve.size(); ++i) {
        const auto w = static_cast<double>(data.weight_of(i));
        all[data.label[i]] += w;
        approved[data.label[i]] += w * approve[i];
    }
    const auto share = [](double part, double of) {
        return of > 0 ? fmt::format("{:.3f}", part / of) : std::string("none");
    };
    const double granted = approved[0] + approved[1];
    return fmt::format("approved {}, bad rate {}, fpr {}, fnr {}", share(granted, all[0] + all[1]),
                       share(approved[0], granted), share(approved[0], all[0]),
                       share(all[1] - approved[1], all[1]));
}

/// Returns the last link as a policy of its own, without draws for exploration and trust region.
Result<model::Policy> last_link_of(const model::Policy& policy) {
    auto link = std::get<model::LearnedLink>(policy.links().back());
    link.exploration = {model::ExplorationMode::kNone, 0};
    link.kappa = 1;
    link.exploit_chain = false;
    std::vector<model::Link> links;
    links.emplace_back(std::move(link));
    return model::Policy::create(policy.schema(), std::move(links), policy.group_names(), {});
}

/// Returns the policies by which persons are judged: with each fold's rule, or the one there is.
Result<std::vector<model::Policy>> policies_of(const MadeCandidate& candidate) {
    const auto& policy = candidate.policy;
    std::vector<model::Policy> out;
    for (const auto& rule : candidate.folds) {
        auto links = policy.links();
        rule.put_on(std::get<model::LearnedLink>(links.back()), candidate.rule->group_model());
        RAMPART_TRY(auto one, model::Policy::create(policy.schema(), std::move(links),
                                                    policy.group_names(), {}));
        out.push_back(std::move(one));
    }
    if (out.empty()) out.push_back(policy);
    return out;
}

}  // namespace

Result<HeldOutRows> HeldOutRows::create(const CandidateInputs& in, const ChosenLearner& learner) {
    const auto& development = in.development;
    HeldOutRows out;
    out.learner_ = &learner;
    out.pool_ = in.pool;
    RAMPART_TRY(out.post_, chosen_postprocessor(in.recipe));
    const auto can = learner.learner->capabilities(learner.options);
    const bool groups =
        can.groups || can.attributes || out.post_.needs().groups || in.champion.group_aware();
    RAMPART_TRY(const auto table,
                training_set::to_dataset(
                    development, {in.recipe.ipw_cap, groups ? training_set::GroupBy::kCells
                                                            : training_set::GroupBy::kNone}));
    std::vector<uint32_t> held;
    std::vector<bool> is_held(development.rows.size());
    for (uint32_t i = 0; i < table.rows.size(); ++i) {
        if (!is_held_out(development.rows[table.rows[i]], in.recipe)) continue;
        held.push_back(i);
        is_held[table.rows[i]] = true;
    }
    out.data_ = table.data.subset(held);
    out.rows_ = part_of(development, [&](size_t i) { return is_held[i]; });
    for (const auto& row : out.rows_.rows) out.fold_.push_back(rule_fold(row, in.recipe));
    return out;
}

std::vector<double> HeldOutRows::approvals(std::span<const model::Policy> policies) const {
    auto out = approvals_of(rows_, policies.front());
    for (size_t fold = 1; fold < policies.size(); ++fold) {
        const auto others = approvals_of(rows_, policies[fold]);
        for (size_t i = 0; i < out.size(); ++i)
            if (fold_[i] == fold) out[i] = others[i];
    }
    return out;
}

Result<HeldOutJudged> HeldOutRows::judge(std::span<const model::Policy> policies,
                                         std::string_view fair_metric) const {
    const auto approve = approvals(policies);
    HeldOutJudged out{rates_of(data_, approve)};
    learning::Kept criterion;
    if (post_.needs().groups) {
        postprocessing::Rows rows{.p = std::vector<double>(approve.size()),
                                  .group = data_.group,
                                  .group_names = data_.group_names,
                                  .label = data_.label,
                                  .weight = data_.weight};
        RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(post_.values, data_, rows));
        RAMPART_TRY(criterion, post_.postprocessor->measure(rows, approve, post_.values));
    }
    RAMPART_TRY(
        const auto constraints,
        learner_->learner->measure({data_, approve, fair_metric, pool_}, learner_->options));
    const auto kept = learning::both(constraints, criterion);
    if (!kept.text.empty()) out.kept = kept;
    out.not_measured = kept.not_measured;
    return out;
}

base::Status judge_constraints(const CandidateInputs& in, const ChosenLearner& learner,
                               const MadeCandidate& candidate,
                               std::map<std::string, std::string>& figures) {
    const auto& missed = candidate.missed;
    const auto refused = [&](const std::string& what) -> base::Status {
        if (in.recipe.allow_infeasible) return base::ok();
        return base::make_error(
            Reason::kConstraintsMissed,
            "no candidate keeps the training's constraints, so none was taken to the gate: {}; "
            "widen training.tolerance or postprocess.tolerance, take other constraints, or let the "
            "gate alone decide with training.allow_infeasible = true",
            what);
    };
    RAMPART_TRY(const auto post, chosen_postprocessor(in.recipe));
    const bool asked =
        learner.learner->capabilities(learner.options).constrained || post.needs().groups;
    const auto not_judged = [&](const base::Error& error) {
        figures["not_judged"] = error.message;
        if (asked) return refused(error.message);
        return missed.empty() ? base::ok() : refused(missed);
    };
    const auto rows = HeldOutRows::create(in, learner);
    if (!rows) return not_judged(rows.error());
    RAMPART_TRY(const auto serving_by_fold, policies_of(candidate));
    std::vector<model::Policy> alone_by_fold;
    for (const auto& policy : serving_by_fold) {
        RAMPART_TRY(auto alone, last_link_of(policy));
        alone_by_fold.push_back(std::move(alone));
    }
    using Policies = std::span<const model::Policy>;
    std::vector<learning::Kept> kept;
    for (const auto& [name, policies] : {std::pair{"own", Policies(alone_by_fold)},
                                         std::pair{"serving", Policies(serving_by_fold)},
                                         std::pair{"champion", Policies(&in.champion, 1)}}) {
        const auto judged = rows->judge(policies, candidate.policy.state().fair_metric);
        if (!judged) return not_judged(judged.error());
        figures[fmt::format("{}_rates", name)] = judged->rates;
        if (!judged->not_measured.empty())
            figures[fmt::format("{}_not_measured", name)] = judged->not_measured;
        if (!judged->kept) continue;
        figures[fmt::format("{}_keeps", name)] = judged->kept->text;
        figures[fmt::format("{}_beyond", name)] = fmt::format("{:.4f}", judged->kept->beyond);
        kept.push_back(*judged->kept);
    }
    if (kept.empty() || !asked) return missed.empty() ? base::ok() : refused(missed);
    const double serving = kept[1].beyond, before = kept[2].beyond;
    if (serving <= 0) {
        figures["serving_feasible"] = "kept";
        return base::ok();
    }
    if (in.recipe.toward && serving <= before - in.recipe.least_step) {
        figures["serving_feasible"] =
            fmt::format("nearer than the champion by {:.4f}", before - serving);
        return base::ok();
    }
    figures["serving_feasible"] = "no";
    return refused(fmt::format(
        "the policy that would serve: {}, {:.4f} beyond; the champion: {}, {:.4f} beyond{}",
        kept[1].text, serving, kept[2].text, before, missed.empty() ? "" : "; learner: " + missed));
}

}  // namespace rampart::training
