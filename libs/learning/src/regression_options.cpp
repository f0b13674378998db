#include "regression_options.hpp"

#include <array>

#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

using fair_regression::RegressionLoss;

/// Options of a score from or up to which rows are approved, in the label's units.
constexpr std::array kSteps{"approve_at_least", "approve_at_most"};

/// The loss of amounts with many zeros, which has an option of its own for its parameter.
constexpr std::string_view kTweedie = "tweedie";

/// Returns the least score that stands for a mean label of at least `mean`.
double score_at(const RegressionLoss& loss, double mean) {
    double lo = 0, hi = 1;
    for (int i = 0; i < 60; ++i) {
        const double middle = (lo + hi) / 2;
        (loss.label_of(middle) >= mean ? hi : lo) = middle;
    }
    return hi;
}

}  // namespace

std::vector<Option> loss_options() {
    return {
        {"loss",
         std::string("squared"),
         "what is minimised",
         0,
         0,
         {"squared", "logistic", "absolute", "quantile", "huber", "poisson"}},
        {"loss_parameter",
         std::vector<double>(),
         "scale of logistic and poisson (default 5), order of quantile (0.5), width of huber (0.1)",
         0,
         30,
         {},
         "loss!=squared&loss!=absolute"},
    };
}

std::vector<Option> tree_loss_options() {
    auto options = loss_options();
    options[0].choices.emplace_back(kTweedie);
    options[1].only_with = "loss!=squared&loss!=absolute&loss!=tweedie";
    options.push_back({"variance_power",
                       1.5,
                       "the variance of an amount grows as its mean to this power",
                       1.01,
                       1.99,
                       {},
                       "loss=tweedie"});
    return options;
}

std::vector<Option> step_options() {
    const std::vector<double> none;
    return {
        {"threshold",
         0.5,
         "approve from this P(favourable) on; of numeric labels from this share of their range on",
         1e-6,
         1 - 1e-6,
         {},
         "approve_at_least=&approve_at_most="},
        {"approve_at_least", none,
         "approve from this score on, in the label's units (of tweedie, from this mean on)"},
        {"approve_at_most", none, "approve up to this score or mean, for a label that is a risk"},
    };
}

base::Result<RegressionLoss> loss_of(const OptionValues& values) {
    if (values.text("loss") == kTweedie)
        return RegressionLoss::tweedie(values.number("variance_power"));
    const auto& parameter = values.numbers("loss_parameter");
    if (parameter.size() > 1)
        return base::make_error(Reason::kBadOption, "`loss_parameter` has {} numbers: give one",
                                parameter.size());
    auto loss = fair_regression::parse_loss(
        values.text("loss"), parameter.empty() ? std::nullopt : std::optional(parameter.front()));
    if (!loss && !parameter.empty()) return loss.error().with_context("`loss_parameter`");
    return loss;
}

base::Status check_steps(const OptionValues& values) {
    const auto count = [&](const char* option) { return values.numbers(option).size(); };
    if (count(kSteps[0]) + count(kSteps[1]) <= 1) return base::ok();
    return base::make_error(Reason::kBadOption,
                            "give one number for `approve_at_least` or `approve_at_most`, not "
                            "both");
}

base::Status check_step_range(const OptionValues& values, double lo, double hi) {
    for (const char* option : kSteps)
        for (const double score : values.numbers(option))
            if (!(score >= lo && score <= hi))
                return base::make_error(Reason::kBadOption,
                                        "`{}` is '{}': labels lie between {} and {}, so give a "
                                        "number from there",
                                        option, score, lo, hi);
    return base::ok();
}

model::ScoreStep step_of(const OptionValues& values, const RegressionLoss& loss, const Task& task) {
    const auto &least = values.numbers(kSteps[0]), &most = values.numbers(kSteps[1]);
    // a mean of the tweedie loss is no place on its scale of scores
    const auto score_of = [&](double share) {
        return loss.kind() == fair_regression::LossKind::kTweedie ? score_at(loss, share) : share;
    };
    const auto on_unit_scale = [&](double label) {
        return score_of((label - task.label_lo) / (task.label_hi - task.label_lo));
    };
    model::ScoreStep step;
    if (!most.empty()) {
        step.at_least = false;
        step.threshold = on_unit_scale(most.front());
    } else if (!least.empty()) {
        step.threshold = on_unit_scale(least.front());
    } else {
        const double threshold = values.number("threshold");
        step.threshold = task.train.numeric() ? score_of(threshold) : score_at(loss, threshold);
    }
    return step;
}

}  // namespace rampart::learning
