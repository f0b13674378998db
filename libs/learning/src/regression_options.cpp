#include "regression_options.hpp"

#include <algorithm>
#include <array>

#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

using fair_regression::RegressionLoss;

/// Options of a score from or up to which rows are approved, in the label's units.
constexpr std::array kSteps{"approve_at_least", "approve_at_most"};
constexpr const char* kOperateAt = "operate_at";

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
         "operate_at=&approve_at_least=&approve_at_most="},
        {"operate_at",
         std::string(),
         "where the step is put: \"approve=0.7\" (approve as many, from the highest score on) and, "
         "of labels of two values, \"bad_rate<=0.03\", \"fpr<=0.05\" or \"fnr<=0.1\"; empty: at "
         "`threshold`",
         0,
         0,
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

namespace {

base::Result<fairness::OperatingPoint> point_of(const OptionValues& values) {
    const auto point = fairness::parse_operating_point(values.text(kOperateAt));
    return point ? point : point.error().with_context("`operate_at`");
}

/// Checks that rates among rows of one label are not asked for where labels are numbers.
base::Status check_point(const OptionValues& values, bool numeric) {
    const auto& text = values.text(kOperateAt);
    if (text.empty() || !numeric) return base::ok();
    RAMPART_TRY(const auto point, point_of(values));
    if (!point.moves() || (point.meets && point.meets->rate == fairness::Rate::kApproval))
        return base::ok();
    return base::make_error(Reason::kBadOption,
                            "`operate_at` is '{}', and labels are numbers, of which none is "
                            "favourable: give a share of approvals, as in approve=0.7, or a score "
                            "with `approve_at_least`",
                            text);
}

}  // namespace

base::Status check_steps(const OptionValues& values) {
    const auto count = [&](const char* option) { return values.numbers(option).size(); };
    if (count(kSteps[0]) + count(kSteps[1]) > 1)
        return base::make_error(Reason::kBadOption,
                                "give one number for `approve_at_least` or `approve_at_most`, not "
                                "both");
    if (values.text(kOperateAt).empty()) return base::ok();
    return point_of(values).map([](const auto&) {});
}

base::Status check_step_labels(const OptionValues& values, const LabelsToCome& labels) {
    for (const char* option : kSteps)
        for (const double score : values.numbers(option))
            if (!(score >= labels.lo && score <= labels.hi))
                return base::make_error(Reason::kBadOption,
                                        "`{}` is '{}': labels lie between {} and {}, so give a "
                                        "number from there",
                                        option, score, labels.lo, labels.hi);
    return check_point(values, labels.numeric);
}

namespace {

/// Returns the step that needs no scores: by `approve_at_least` or `approve_at_most`, else by a
/// threshold.
model::ScoreStep fixed_step(const OptionValues& values, double threshold,
                            const RegressionLoss& loss, const Task& task) {
    const auto &least = values.numbers(kSteps[0]), &most = values.numbers(kSteps[1]);
    // a mean of the tweedie loss is no place on its scale of scores
    const auto score_of = [&](double share) {
        return loss.kind() == fair_regression::LossKind::kTweedie ? score_at(loss, share) : share;
    };
    const auto on_unit_scale = [&](double label) {
        return score_of((label - task.label_lo) / (task.label_hi - task.label_lo));
    };
    if (!most.empty()) return {false, on_unit_scale(most.front())};
    if (!least.empty()) return {true, on_unit_scale(least.front())};
    return {true, task.train.numeric() ? score_of(threshold) : score_at(loss, threshold)};
}

/// Returns the step at which the scores of the rows that judge just keep the point. A row counts
/// once for each score that may be drawn for it, by its probability.
base::Result<model::ScoreStep> moved_step(const fairness::OperatingPoint& point,
                                          const model::LearnedLink& link, const Task& task) {
    const auto& judging = task.validation != nullptr ? *task.validation : task.train;
    RAMPART_TRY(const auto policy, model::Policy::create(judging.schema, {link}, {}, {}));
    dataset::Dataset drawn;
    std::vector<double> scores;
    std::vector<float> row(judging.columns.size());
    for (size_t i = 0; i < judging.rows(); ++i) {
        judging.copy_row(i, row);
        for (const auto& one : policy.scores(row, std::nullopt)) {
            scores.push_back(one.score);
            drawn.label.push_back(judging.numeric() ? 1 : judging.label[i]);
            drawn.weight.push_back(static_cast<float>(judging.weight_of(i) * one.weight));
        }
    }
    const double threshold = fairness::threshold_of(point, drawn, scores);
    if (*std::max_element(scores.begin(), scores.end()) < threshold)
        return base::make_error(Reason::kNothingApproved,
                                "`operate_at` is '{}', and no step that approves anybody keeps it "
                                "on the {} rows that judge",
                                fairness::to_string(point), judging.rows());
    return model::ScoreStep{true, std::clamp(threshold, 0.0, 1.0)};
}

}  // namespace

base::Result<SteppedLink> stepped_link(std::span<const fair_regression::ServedModel> models,
                                       int levels, const OptionValues& values,
                                       const RegressionLoss& loss, const Task& task) {
    fairness::OperatingPoint point{.threshold = values.number("threshold")};
    if (!values.text(kOperateAt).empty()) {
        RAMPART_TRY(point, point_of(values));
    }
    SteppedLink out{.link = {}, .step = fixed_step(values, point.threshold, loss, task)};
    RAMPART_TRY(out.link, fair_regression::score_link(models, levels, out.step));
    if (!point.moves()) return out;
    RAMPART_TRY(out.step, moved_step(point, out.link, task));
    RAMPART_TRY(out.link, fair_regression::score_link(models, levels, out.step));
    return out;
}

}  // namespace rampart::learning
