#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <memory>

#include "learners.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/gbdt/regression.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/gbdt/squared.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "regression_options.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using base::Result;
using fair_regression::LossKind;
using fair_regression::RegressionLoss;

/// Returns whether a score of the loss stands for a mean; a quantile, or what Huber's loss has
/// between median and mean, does not.
bool predicts_mean(const RegressionLoss& loss) {
    return loss.kind() == LossKind::kSquared || loss.kind() == LossKind::kLogistic ||
           loss.kind() == LossKind::kPoisson || loss.kind() == LossKind::kTweedie;
}

/// Returns the power of the mean with which the variance grows; nullopt: the loss is of no such
/// family.
std::optional<double> variance_power(const RegressionLoss& loss) {
    if (loss.kind() == LossKind::kPoisson) return 1;
    if (loss.kind() == LossKind::kTweedie) return loss.parameter();
    return std::nullopt;
}

/// Returns the deviance of a label y >= 0 at a mean m > 0: twice what its log likelihood falls
/// short of that at m = y.
double deviance(double y, double m, double power) {
    if (power == 1) return 2 * ((y > 0 ? y * std::log(y / m) : 0) - y + m);
    const double low = 1 - power, high = 2 - power;
    return 2 * (std::pow(y, high) / (low * high) - y * std::pow(m, low) / low +
                std::pow(m, high) / high);
}

template <class Made>
Result<std::unique_ptr<gbdt::Objective>> owned(Result<Made> made) {
    if (!made) return made.error();
    return std::unique_ptr<gbdt::Objective>(std::make_unique<Made>(*std::move(made)));
}

/// Returns what boosting minimises on labels of the unit scale. Requires a loss with a name.
Result<std::unique_ptr<gbdt::Objective>> objective_of(
    const RegressionLoss& loss, const fair_regression::RegressionTable& rows) {
    const auto& t = rows.label;
    const auto& w = rows.weight;
    switch (loss.kind()) {
        case LossKind::kAbsolute:
            return owned(gbdt::AbsoluteError::create(t, w));
        case LossKind::kQuantile:
            return owned(gbdt::QuantileLoss::create(t, w, loss.parameter()));
        case LossKind::kHuber:
            return owned(gbdt::HuberLoss::create(t, w, loss.parameter()));
        case LossKind::kLogistic:
            return owned(gbdt::SoftCrossEntropy::create(t, w));
        case LossKind::kPoisson:
            return owned(gbdt::PoissonLoss::create(t, w));
        case LossKind::kTweedie:
            return owned(gbdt::TweedieLoss::create(t, w, loss.parameter()));
        case LossKind::kSquared:
        case LossKind::kUser:
            break;
    }
    return owned(gbdt::SquaredError::create(t, w));
}

/// A score on the unit scale: intercept + slope · raw score of the trees, clamped to [0, 1].
struct UnitScale {
    double intercept = 0, slope = 1;
    double operator()(double raw) const { return std::clamp(intercept + slope * raw, 0.0, 1.0); }
};

UnitScale scale_of(const RegressionLoss& loss) {
    const double c = loss.scale();
    if (loss.kind() == LossKind::kLogistic) return {0.5, 0.5 / c};  // log-odds C (2u - 1)
    if (variance_power(loss)) return {1, 1 / c};  // logarithm of the mean C (u - 1)
    return {};
}

/// Returns the share of labels that should be at most the score; nullopt: the score is no quantile.
std::optional<double> order_of(const RegressionLoss& loss) {
    if (loss.kind() == LossKind::kAbsolute) return 0.5;
    if (loss.kind() == LossKind::kQuantile) return loss.parameter();
    return std::nullopt;
}

/// What the scores of rows say of their labels.
struct Judged {
    double loss = 0;                        // mean
    double mean_label = 0, mean_score = 0;  // on the unit scale
    double at_most = 0;                     // share of labels that are at most the score
    double deviance = 0;                    // mean, where the loss has one
};

Judged judge(const fair_regression::RegressionTable& rows, std::span<const double> raw,
             const RegressionLoss& loss) {
    const auto scale = scale_of(loss);
    const auto power = variance_power(loss);
    Judged out;
    double sum = 0;
    for (size_t i = 0; i < rows.label.size(); ++i) {
        const double w = rows.weight.empty() ? 1 : static_cast<double>(rows.weight[i]);
        const double u = scale(raw[i]);
        sum += w;
        out.loss += w * loss.value(rows.label[i], u);
        out.mean_label += w * rows.label[i];
        out.mean_score += w * loss.label_of(u);
        out.at_most += rows.label[i] <= u ? w : 0;
        if (power) out.deviance += w * deviance(rows.label[i], loss.label_of(u), *power);
    }
    for (double* one : {&out.loss, &out.mean_label, &out.mean_score, &out.at_most, &out.deviance})
        *one /= sum;
    return out;
}

class RegressionTrees : public Learner {
  public:
    std::string_view name() const override { return "regression-trees"; }
    std::string_view summary() const override {
        return "trees of a number: its mean, a quantile, a count, an amount; compares no groups";
    }
    std::string_view source() const override { return ""; }
    std::vector<Option> options() const override {
        auto options = tree_options();
        options.push_back(early_stopping_option());
        for (auto* more : {&tree_loss_options, &step_options})
            for (auto& option : more()) options.push_back(std::move(option));
        return options;
    }
    Capabilities capabilities(const OptionValues& values) const override {
        const auto loss = loss_of(values);
        // a quantile of labels 0 and 1 is one of them, and gives rows no order
        return {
            .labels = !loss || predicts_mean(*loss), .numbers = true, .output = Output::kDecision};
    }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        RAMPART_RETURN_IF_ERROR(check_steps(values));
        return loss_of(values).map([](const auto&) {});
    }
    base::Status check_labels(const OptionValues& values,
                              const LabelsToCome& labels) const override {
        if (labels.lo != 0 && std::isfinite(labels.lo) && values.text("loss") == "tweedie")
            return base::make_error(Reason::kBadOption,
                                    "`loss` is tweedie, and labels lie between {} and {}: it is of "
                                    "amounts from 0 on; declare a range from 0, or take another",
                                    labels.lo, labels.hi);
        return check_step_labels(values, labels);
    }

  protected:
    Result<Learned> learn(const Task& task, const OptionValues& values) const override;
};

/// Writes figures and report: the loss; where scores stand for a mean, how far it is from that of
/// the labels; where they are quantiles, the share of labels that they cover.
void tell(const Task& task, const RegressionLoss& loss,
          std::span<const std::pair<const char*, Judged>> parts, Learned& learned) {
    const double width = task.label_hi - task.label_lo;
    const auto in_units = [&](double u) { return task.label_lo + u * width; };
    boost::json::object figures{{"trees", learned.link.trees()},
                                {"loss", fair_regression::loss_text(loss)}};
    for (const auto& [part, judged] : parts) {
        figures[fmt::format("{}_loss", part)] = judged.loss;
        learned.report += fmt::format("{} loss on the {} rows: {:.6f}",
                                      fair_regression::loss_text(loss), part, judged.loss);
        if (predicts_mean(loss)) {
            figures[fmt::format("{}_mean_error", part)] =
                width * (judged.mean_score - judged.mean_label);
            learned.report += fmt::format("; mean label {:.4g}, mean by the scores {:.4g}",
                                          in_units(judged.mean_label), in_units(judged.mean_score));
        }
        if (const auto power = variance_power(loss)) {
            const double in_label_units = std::pow(width, 2 - *power) * judged.deviance;
            figures[fmt::format("{}_deviance", part)] = in_label_units;
            learned.report += fmt::format("; deviance {:.6g}", in_label_units);
        }
        if (const auto order = order_of(loss)) {
            figures[fmt::format("{}_at_most_score", part)] = judged.at_most;
            learned.report +=
                fmt::format("; {:.4f} of the labels are at most the score, {:g} should",
                            judged.at_most, *order);
        }
        learned.report += '\n';
    }
    learned.figures = boost::json::serialize(figures);
}

Result<Learned> RegressionTrees::learn(const Task& task, const OptionValues& values) const {
    RAMPART_TRY(const auto loss, loss_of(values));
    RAMPART_TRY(const auto params, tree_params(values, task));
    const fair_regression::LabelRange range{task.label_lo, task.label_hi};
    RAMPART_TRY(const auto rows, fair_regression::regression_table(task.train, range));
    fair_regression::RegressionTable held;
    if (task.validation != nullptr) {
        RAMPART_TRY(held, fair_regression::regression_table(*task.validation, range));
    }
    RAMPART_TRY(const auto objective, objective_of(loss, rows));
    gbdt::TrainingOptions how{.progress = tree_progress(task)};
    if (params.early_stopping_rounds > 0) {
        how.validation = task.validation;
        how.validation_loss = [&](std::span<const double> raw) {
            return judge(held, raw, loss).loss;
        };
    }
    RAMPART_TRY(auto trees, gbdt::train(task.train, *objective, params, task.pool, how));
    std::vector<std::pair<const char*, Judged>> parts;
    const auto add = [&](const char* part, const dataset::Dataset& data,
                         const fair_regression::RegressionTable& labels) {
        std::vector<double> raw(data.rows());
        model::BatchEngine(trees).predict_raw(model::TableView::of(data), raw, task.pool);
        parts.emplace_back(part, judge(labels, raw, loss));
    };
    add("training", task.train, rows);
    if (task.validation != nullptr && task.validation->rows() > 0)
        add("validation", *task.validation, held);
    const auto scale = scale_of(loss);
    const auto served = reductions::affine(std::move(trees), scale.intercept, scale.slope);
    const fair_regression::ServedModel one{.model = &served};
    Learned out;
    RAMPART_TRY(auto stepped, stepped_link(std::span(&one, 1), 0, values, loss, task));
    out.link = std::move(stepped.link);
    out.state.regression_loss = fair_regression::stored(loss);
    tell(task, loss, parts, out);
    return out;
}

}  // namespace

const Learner& regression_trees_learner() {
    static const RegressionTrees learner;
    return learner;
}

}  // namespace rampart::learning
