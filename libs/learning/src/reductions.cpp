#include <boost/json.hpp>
#include <cmath>

#include "learners.hpp"
#include "rampart/reductions/train.hpp"
#include "rate_options.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using reductions::Reduction;
using reductions::ReductionParams;
using reductions::ReductionResult;

const reductions::ReductionJudged& judged(const ReductionResult& result) {
    return result.verdict.validation ? *result.verdict.validation : result.verdict.train;
}

bool is_feasible(const ReductionResult& result) {
    return result.verdict.feasibility == fairgbm::Feasibility::kFeasible;
}

boost::json::object figures_of(const ReductionResult& result, const ReductionParams& params) {
    const auto& verdict = result.verdict;
    size_t trees = 0;
    for (const auto& member : result.members) trees += member.ensemble.trees.size();
    boost::json::object out{
        {"trees", trees},
        {"feasible", is_feasible(result)},
        {"judged_on", verdict.judged_on == fairgbm::JudgedOn::kValidation ? "validation" : "train"},
        {"constraints", to_string(params.constraints)},
        {"gap", largest_gap(judged(result).values)},
        {"violation", judged(result).values.violation},
        {"tightest_violation", verdict.tightest.violation},
        {"members", result.members.size()},
        {"fits", result.trials.size()}};
    if (params.method == Reduction::kExponentiatedGradient && std::isfinite(verdict.gap)) {
        out["duality_gap"] = verdict.gap;
        out["converged"] = verdict.converged;
    }
    return out;
}

class ReductionLearner : public Learner {
  public:
    ReductionLearner(Reduction method, std::string_view name, std::string_view summary,
                     std::string_view source)
        : method_(method), name_(name), summary_(summary), source_(source) {}
    std::string_view name() const override { return name_; }
    std::string_view summary() const override { return summary_; }
    std::string_view source() const override { return source_; }
    std::string_view family() const override { return "reduction"; }
    std::vector<Option> options() const override {
        auto options = tree_options();
        for (auto& option : rate_options({"fnr"})) options.push_back(std::move(option));
        options.push_back({"fits", int64_t{ReductionParams{}.fits}, "number of fits", 1,
                           ReductionParams::kMaxFits});
        return options;
    }
    Capabilities capabilities(const OptionValues& values) const override {
        return {.groups = true, .constrained = asks_for_rates(values), .output = Output::kDecision};
    }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        const auto params = params_of(values);
        return params ? validate(*params) : params.error();
    }

    base::Result<Kept> measure(const DecidedRows& decided,
                               const OptionValues& values) const override {
        return rates_kept(decided.rows, decided.approve, values);
    }

  protected:
    base::Result<Learned> learn(const Task& task, const OptionValues& values) const override {
        RAMPART_TRY(auto params, params_of(values));
        RAMPART_TRY(params.learner, tree_params(values, task));
        params.learner.early_stopping_rounds = 0;  // a fit with other labels has no such rows
        params.seed = task.seed;
        const auto progress = [&](const reductions::ReductionProgress& p) {
            return task.progress({p.fits, p.of, "fits"});
        };
        RAMPART_TRY(const auto result, reductions::train_reduction(
                                           task.train, params, task.pool,
                                           {.validation = task.validation, .progress = progress}));
        Learned out;
        out.link = reductions::link_of(result.members);
        out.figures = boost::json::serialize(figures_of(result, params));
        if (is_feasible(result)) return out;
        out.state.constraints_missed =
            fairgbm::missed_text(params.constraints, judged(result).values);
        out.excess = judged(result).values.violation;
        out.missed = fmt::format(
            "a constraint is missed: {}. Nothing that {} fits found keeps them (the least found "
            "is over by {:.4f}); try another `threshold`, a larger `tolerance` or more `fits`",
            out.state.constraints_missed, result.trials.size(), result.verdict.tightest.violation);
        return out;
    }

  private:
    base::Result<ReductionParams> params_of(const OptionValues& values) const {
        ReductionParams params;
        params.method = method_;
        RAMPART_TRY(auto rates, rate_settings(values));
        params.constraints = std::move(rates.constraints);
        params.operating_point = rates.operating_point;
        if (const auto& meets = rates.operating_point.meets;
            meets && method_ == Reduction::kExponentiatedGradient) {
            // its classifiers have no score in common: the rate is bounded as a constraint
            params.constraints.targets.push_back(*meets);
            params.operating_point.meets.reset();
        }
        params.fits = values.integer("fits");
        return params;
    }
    Reduction method_;
    std::string_view name_, summary_, source_;
};

constexpr std::string_view kAgarwal =
    "Agarwal et al. 2018, A Reductions Approach to Fair Classification, ";

}  // namespace

const Learner& exponentiated_gradient_learner() {
    static const std::string source = fmt::format("{}Algorithm 1", kAgarwal);
    static const ReductionLearner learner(
        Reduction::kExponentiatedGradient, "eg",
        "exponentiated gradient: a mixture of trees that keeps rates alike between groups", source);
    return learner;
}

const Learner& grid_search_learner() {
    static const std::string source = fmt::format("{}section 3.4", kAgarwal);
    static const ReductionLearner learner(
        Reduction::kGridSearch, "gs",
        "grid search over multipliers: the best classifier that keeps rates alike", source);
    return learner;
}

const Learner& random_reweighing_learner() {
    static const ReductionLearner learner(
        Reduction::kRandomReweighing, "rs",
        "random reweighing of groups: the best classifier that keeps rates alike",
        "Cruz et al. 2023, FairGBM: Gradient Boosting with Fairness Constraints, section 3");
    return learner;
}

}  // namespace rampart::learning
