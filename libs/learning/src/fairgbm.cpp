#include <boost/json.hpp>

#include "learners.hpp"
#include "rampart/fairgbm/reasons.hpp"
#include "rampart/fairgbm/train.hpp"
#include "rampart/learning/reasons.hpp"
#include "rate_options.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using fairgbm::FairGbmParams;
using fairgbm::FairGbmResult;

/// Returns the link of what was kept: one iterate, or all of a stretch with equal weights.
model::LearnedLink link_of(const FairGbmResult& result) {
    model::LearnedLink link;
    link.ensemble = result.ensemble;
    link.ramp = rule_at(result.threshold);
    const auto& verdict = result.verdict;
    const auto iterates = static_cast<double>(verdict.trees - verdict.first + 1);
    if (verdict.first < verdict.trees)
        for (size_t trees = verdict.first; trees <= verdict.trees; ++trees)
            link.members.push_back({.trees = static_cast<uint32_t>(trees),
                                    .weight = 1 / iterates,
                                    .ramp = rule_at(result.thresholds[trees - verdict.first])});
    return link;
}

bool judged_on_validation(const FairGbmResult& result) {
    return result.verdict.judged_on == fairgbm::JudgedOn::kValidation;
}

/// Returns the figures of the rows that judged.
const auto& judged_of(const FairGbmResult& result) {
    return judged_on_validation(result) ? *result.verdict.validation : result.verdict.train;
}

boost::json::object figures_of(const FairGbmResult& result, const FairGbmParams& params) {
    const auto& verdict = result.verdict;
    const auto& judged = judged_of(result);
    return {{"trees", result.ensemble.trees.size()},
            {"feasible", verdict.feasibility == fairgbm::Feasibility::kFeasible},
            {"plain_boosting", verdict.plain},
            {"multiplier_step", verdict.multiplier_step},
            {"judged_on", judged_on_validation(result) ? "validation" : "train"},
            {"constraints", to_string(params.constraints)},
            {"gap", largest_gap(judged.values)},
            {"gaps", boost::json::value_from(judged.values.gaps)},
            {"targets", boost::json::value_from(judged.values.targets)},
            {"violation", judged.values.violation},
            {"missed", fairgbm::missed_constraints(verdict, params.constraints)},
            {"tightest_violation", verdict.tightest.violation},
            {"train_gap", largest_gap(verdict.train.values)},
            {"threshold", model::sigmoid(result.threshold)},
            {"first_tree", verdict.first},
            {"trees_grown", verdict.trees_grown},
            {"multipliers", boost::json::value_from(result.state.multipliers)}};
}

/// Returns the rows' decisions in words: "at P(favourable) >= 0.5, 71.0 % are approved".
std::string decisions_text(const FairGbmResult& result, const FairGbmParams& params) {
    const auto& verdict = result.verdict;
    const auto& judged = verdict.validation ? *verdict.validation : verdict.train;
    const auto& point = params.lagrangian.operating_point;
    const auto where = point.moves()
                           ? fmt::format("at {}, P(favourable) >= {:.3f}", to_string(point),
                                         model::sigmoid(result.threshold))
                           : fmt::format("at P(favourable) >= {:g}", point.threshold);
    return fmt::format("{}, {:.1f} % are approved", where, 100 * judged.values.approval);
}

std::string missed_note(const FairGbmResult& result, const FairGbmParams& params,
                        const std::string& missed) {
    const auto& verdict = result.verdict;
    const size_t count = params.constraints.parity.size() + params.constraints.targets.size();
    const auto nearest =
        verdict.tightest.violation > 0
            ? fmt::format("no useful iterate keeps {}, the nearest exceeds by {:.4f}{}",
                          count > 1 ? "all" : "it", verdict.tightest.violation,
                          verdict.plain ? " (plain boosting was kept)" : "")
            : std::string("another iterate keeps it: take `output` best");
    return fmt::format(
        "a constraint is missed: {}; {}; {}. Try another `threshold` or `operate_at`, which decide "
        "what can be equal, a larger `tolerance` or `multiplier_step`, or more `trees`; a "
        "post-processor makes rates alike on a plain model (`rampart postprocess`)",
        missed, nearest, decisions_text(result, params));
}

class FairGbm : public Learner {
  public:
    std::string_view name() const override { return "fairgbm"; }
    std::string_view summary() const override {
        return "trees that keep rates alike between groups";
    }
    std::string_view source() const override {
        return "Cruz et al. 2023, FairGBM: Gradient Boosting with Fairness Constraints, Algorithm "
               "1";
    }
    std::vector<Option> options() const override {
        auto options = tree_options();
        options.push_back(early_stopping_option());
        for (auto& option : rate_options({"fnr"})) options.push_back(std::move(option));
        for (auto& option : lagrangian_options()) options.push_back(std::move(option));
        options.push_back({"output",
                           std::string(to_string(FairGbmParams{}.output)),
                           "best: the best iterate that keeps the constraints; last: all trees; "
                           "randomized: an iterate drawn for each decision",
                           0,
                           0,
                           {"best", "last", "randomized"},
                           {},
                           true});
        return options;
    }
    Capabilities capabilities(const OptionValues& values) const override {
        return {.groups = true,
                .resume = true,
                .constrained = asks_for_rates(values),
                .output = values.text("output") == "randomized" ? Output::kDecision
                                                                : Output::kProbability};
    }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        const auto params = params_of(values);
        return params ? base::ok() : params.error();
    }

    base::Result<Kept> measure(const DecidedRows& decided,
                               const OptionValues& values) const override {
        return rates_kept(decided.rows, decided.approve, values);
    }

  protected:
    base::Result<Learned> learn(const Task& task, const OptionValues& values) const override {
        RAMPART_TRY(auto params, params_of(values));
        RAMPART_TRY(params.learner, tree_params(values, task));
        fairgbm::FairGbmOptions how{.validation = task.validation, .progress = tree_progress(task)};
        RAMPART_TRY(how.start, start_of(task));
        fairgbm::FairGbmState state;
        if (how.start != nullptr) {
            const auto& multipliers = task.start->state().fairgbm_multipliers;
            if (!multipliers)
                return base::make_error(Reason::kCannotResume,
                                        "the model to go on from holds no multipliers of FairGBM: "
                                        "it was trained by another learner");
            state.multipliers = *multipliers;
            how.state = &state;
        }
        const auto trained = fairgbm::train_fairgbm(task.train, params, task.pool, how);
        if (!trained && trained.error().is(fairgbm::Reason::kOtherMultipliers))
            return base::make_error(Reason::kCannotResume, "{}", trained.error().message);
        if (!trained) return trained.error();
        const auto& result = *trained;
        Learned out;
        out.link = link_of(result);
        out.figures = boost::json::serialize(figures_of(result, params));
        out.state.fairgbm_multipliers = result.state.multipliers;
        const auto missed = fairgbm::missed_constraints(result.verdict, params.constraints);
        if (!missed.empty()) {
            out.state.constraints_missed = missed;
            out.missed = missed_note(result, params, missed);
            out.excess = judged_of(result).values.violation;
        }
        return out;
    }

  private:
    static base::Result<FairGbmParams> params_of(const OptionValues& values) {
        FairGbmParams params;
        RAMPART_TRY(const auto rates, rate_settings(values));
        params.constraints = rates.constraints;
        RAMPART_TRY(params.lagrangian, lagrangian_params(values, rates.operating_point));
        RAMPART_TRY(params.output, fairgbm::parse_output(values.text("output")));
        return params;
    }
};

}  // namespace

const Learner& fairgbm_learner() {
    static const FairGbm learner;
    return learner;
}

}  // namespace rampart::learning
