#include "rampart/evaluation/regression_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::evaluation {
namespace {

/// The weight of each score, by group; the last entry is all rows.
class Distribution {
  public:
    explicit Distribution(size_t groups) : total_(groups + 1) {}

    void add(size_t group, double score, double weight) {
        auto& at = mass_[score];
        at.resize(total_.size());
        at[group] += weight;
        at.back() += weight;
        total_[group] += weight;
        total_.back() += weight;
    }
    /// Largest |P(score >= z | group) - P(score >= z)| over z.
    double disparity(size_t group) const {
        double above = 0, everybody = 0, largest = 0;
        for (auto it = mass_.rbegin(); it != mass_.rend(); ++it) {
            above += it->second[group];
            everybody += it->second.back();
            largest =
                std::max(largest, std::abs(above / total_[group] - everybody / total_.back()));
        }
        return largest;
    }

  private:
    std::map<double, std::vector<double>> mass_;
    std::vector<double> total_;
};

/// Sums over one group or over all rows.
struct Sums {
    size_t rows = 0;
    double weight = 0, loss = 0, score = 0, label = 0, approve = 0, square = 0, absolute = 0;
};

/// What a row adds.
struct RowFigures {
    double loss = 0, score = 0, approve = 0, square = 0, absolute = 0;
};

RowFigures figures_of(std::span<const model::ScoreMass> scores,
                      const fair_regression::RegressionLoss& loss, double y, double approve,
                      std::optional<double> threshold) {
    RowFigures out;
    for (const auto& [score, weight] : scores) {
        out.loss += weight * loss.value(y, score);
        out.score += weight * score;
        out.square += weight * (y - score) * (y - score);
        out.absolute += weight * std::abs(y - score);
        if (threshold && score >= *threshold) out.approve += weight;
    }
    if (!threshold) out.approve = approve;
    return out;
}

void add(Sums& sums, const RowFigures& row, double y, double w) {
    ++sums.rows;
    sums.weight += w;
    sums.loss += w * row.loss;
    sums.score += w * row.score;
    sums.label += w * y;
    sums.approve += w * row.approve;
    sums.square += w * row.square;
    sums.absolute += w * row.absolute;
}

}  // namespace

base::Result<std::optional<fair_regression::RegressionLoss>> regression_loss_of(
    const model::Policy& policy) {
    const auto& stored = policy.state().regression_loss;
    if (!stored) return std::optional<fair_regression::RegressionLoss>();
    if (policy.last_learned() == nullptr || policy.group_aware())
        return base::make_error(model::Reason::kBadTrainingRecord,
                                "the model says that it is of fair regression, and has no score or "
                                "one that reads the group");
    auto loss = fair_regression::loss_of(*stored);
    if (!loss) return loss.error().with_context("the model's loss");
    return std::optional(*std::move(loss));
}

base::Result<RegressionEvaluation> evaluate_regression(const model::Policy& policy,
                                                       const fair_regression::RegressionLoss& loss,
                                                       const dataset::Dataset& data,
                                                       fair_regression::LabelRange range,
                                                       std::optional<double> threshold) {
    RAMPART_TRY(const auto table, fair_regression::regression_table(data, range));
    const size_t groups = data.group_names.size();
    std::vector<Sums> sums(groups + 1);
    Distribution distribution(groups);
    std::vector<double> mean_scores;
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        const auto scores = policy.scores(row, std::nullopt);
        const double y = table.label[i], w = static_cast<double>(data.weight_of(i));
        const auto figures =
            figures_of(scores, loss, y, policy.evaluate(row, std::nullopt).approve, threshold);
        mean_scores.push_back(std::clamp(figures.score, 0.0, 1.0));
        add(sums.back(), figures, y, w);
        if (groups == 0) continue;
        const auto g = static_cast<size_t>(data.group[i]);
        add(sums[g], figures, y, w);
        for (const auto& [score, weight] : scores) distribution.add(g, score, w * weight);
    }
    const Sums& all = sums.back();
    const double scale = data.numeric() ? range.hi - range.lo : 1;
    RegressionEvaluation out{.loss_name = fair_regression::loss_text(loss),
                             .rows = all.rows,
                             .loss = all.loss / all.weight,
                             .mean_score = all.score / all.weight,
                             .mean_label = all.label / all.weight,
                             .approval_rate = all.approve / all.weight,
                             .root_mean_square = scale * std::sqrt(all.square / all.weight),
                             .mean_absolute = scale * all.absolute / all.weight,
                             .auc = {},
                             .range = range,
                             .groups = {}};
    if (!data.numeric())
        out.auc = stats::auc({.label = data.label, .score = mean_scores, .weight = data.weight});
    for (size_t g = 0; g < groups; ++g) {
        if (sums[g].rows == 0) continue;
        const double w = sums[g].weight;
        out.groups.push_back({data.group_names[g], sums[g].rows, sums[g].loss / w,
                              sums[g].score / w, sums[g].label / w, sums[g].approve / w,
                              distribution.disparity(g)});
        out.disparity = std::max(out.disparity, out.groups.back().disparity);
    }
    return out;
}

}  // namespace rampart::evaluation
