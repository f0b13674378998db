#include "rampart/reductions/oracle.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::reductions {
namespace {

constexpr double kLargestTarget = 1e6;

base::Status check_cells(const CellLoss& cells, size_t rows) {
    const bool shaped = cells.nodes >= 2 && cells.step > 0 && std::isfinite(cells.step) &&
                        std::isfinite(cells.first) && cells.least_curvature > 0 &&
                        cells.slopes.size() % cells.nodes == 0 && cells.cell_of_row.size() == rows;
    if (!shaped)
        return base::make_error(Reason::kBadCells,
                                "{} slopes at {} nodes, {} apart, and {} rows of cells for "
                                "{} rows: give whole cells and one a row",
                                cells.slopes.size(), cells.nodes, cells.step,
                                cells.cell_of_row.size(), rows);
    const size_t count = cells.slopes.size() / cells.nodes;
    const bool placed = std::all_of(cells.cell_of_row.begin(), cells.cell_of_row.end(),
                                    [&](uint32_t cell) { return cell < count; });
    const bool finite = std::all_of(cells.slopes.begin(), cells.slopes.end(),
                                    [](double slope) { return std::isfinite(slope); });
    if (placed && finite) return base::ok();
    return base::make_error(Reason::kBadCells, "a row's cell is none of {}, or a slope not finite",
                            count);
}

base::Status check_targets(const OracleQuestion& question) {
    const bool counts = question.task == OracleTask::kPoisson;
    const bool shares =
        question.task == OracleTask::kCrossEntropy || question.task == OracleTask::kClassification;
    const double lo = counts || shares ? 0 : -kLargestTarget, hi = shares ? 1 : kLargestTarget;
    for (size_t row = 0; row < question.targets.size(); ++row)
        if (!(question.targets[row] >= lo && question.targets[row] <= hi))
            return base::make_error(gbdt::Reason::kBadTarget,
                                    "row {}: target {}; allowed are {} to {}", row,
                                    question.targets[row], lo, hi);
    return base::ok();
}

}  // namespace

base::Status validate(const OracleQuestion& question, size_t rows) {
    const bool cells = question.task == OracleTask::kCells;
    if (question.targets.size() != (cells ? 0 : rows) ||
        (!question.weights.empty() && question.weights.size() != rows))
        return base::make_error(base::Reason::kBadSize, "{} targets and {} weights for {} rows",
                                question.targets.size(), question.weights.size(), rows);
    for (size_t row = 0; row < question.weights.size(); ++row)
        if (!(question.weights[row] > 0) || !std::isfinite(question.weights[row]))
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a finite number above 0", row,
                                    question.weights[row]);
    const double p = question.parameter;
    if ((question.task == OracleTask::kQuantile && !(p > 0 && p < 1)) ||
        (question.task == OracleTask::kHuber && !(p > 0 && std::isfinite(p))))
        return base::make_error(Reason::kBadParameter,
                                "the parameter is {}; an order lies between 0 and 1, a width "
                                "above 0",
                                p);
    if (!cells) return check_targets(question);
    if (question.cells == nullptr)
        return base::make_error(Reason::kBadCells, "the task asks for cells and there are none");
    return check_cells(*question.cells, rows);
}

CellLoss::Slope CellLoss::slope(size_t row, double score) const {
    const double* const at = slopes.data() + cell_of_row[row] * nodes;
    const double place = std::clamp((score - first) / step, 0.0, static_cast<double>(nodes - 1));
    const size_t left = std::min(static_cast<size_t>(place), nodes - 2);
    const double rise = at[left + 1] - at[left];
    return {at[left] + (place - static_cast<double>(left)) * rise,
            std::max(least_curvature, rise / step)};
}

OracleModel affine(OracleModel model, double intercept, double slope) {
    if (auto* ensemble = std::get_if<model::Ensemble>(&model)) {
        ensemble->base_score = intercept + slope * ensemble->base_score;
        for (auto& tree : ensemble->trees)
            for (auto& node : tree.nodes) node.value *= slope;
    } else if (auto* linear = std::get_if<model::LinearModel>(&model)) {
        linear->intercept = intercept + slope * linear->intercept;
        for (double& s : linear->slope) s *= slope;
        for (auto& codes : linear->category)
            for (double& s : codes) s *= slope;
    }
    return model;
}

std::vector<double> predict(const OracleModel& model, const dataset::Dataset& data,
                            base::ThreadPool* pool) {
    if (const auto* linear = std::get_if<model::LinearModel>(&model)) return linear->predict(data);
    const auto* ensemble = std::get_if<model::Ensemble>(&model);
    RAMPART_CHECK(ensemble != nullptr, "an oracle of one's own has to predict for itself");
    std::vector<double> out(data.rows());
    model::BatchEngine(*ensemble).predict_raw(model::TableView::of(data), out, pool);
    return out;
}

}  // namespace rampart::reductions
