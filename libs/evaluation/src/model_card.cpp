#include "rampart/evaluation/model_card.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/dataset/read_table.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "rampart/explain/reasons.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::evaluation {
namespace {

constexpr size_t kCalibrationBins = 10;
constexpr size_t kExplainedRows = 10'000, kExplainedRowsByReference = 1'000;
constexpr size_t kCurveRows = 1'000;
constexpr size_t kCurvePoints = 25;
constexpr size_t kDirectionSteps = 512;
constexpr uint64_t kSampleSeed = 0;

/// Bins of about as many rows each, cut only between different scores.
std::vector<CalibrationBin> calibration_of(const std::vector<double>& score,
                                           const dataset::Dataset& data) {
    std::vector<uint32_t> order(score.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return score[a] < score[b]; });
    std::vector<CalibrationBin> bins;
    const size_t n = order.size();
    for (size_t from = 0, k = 1; from < n; ++k) {
        size_t to = std::max(from + 1, n * k / kCalibrationBins);
        while (to < n && score[order[to]] == score[order[to - 1]]) ++to;
        CalibrationBin bin;
        for (size_t i = from; i < to; ++i) {
            const double weight = data.weight_of(order[i]);
            bin.favourable.add(weight, data.label[order[i]]);
            bin.mean_score += weight * score[order[i]];
        }
        bin.mean_score /= bin.favourable.weight;
        bins.push_back(bin);
        from = to;
    }
    return bins;
}

double calibration_error(const std::vector<CalibrationBin>& bins) {
    double sum = 0, total = 0;
    for (const auto& bin : bins) {
        sum += bin.favourable.weight * std::abs(bin.mean_score - bin.favourable.rate().value_or(0));
        total += bin.favourable.weight;
    }
    return sum / total;
}

/// Log loss of one score for all: the rows' share of favourable labels.
double mean_label_log_loss(const dataset::Dataset& data, const Evaluation& evaluation) {
    const std::vector<double> score(data.rows(), evaluation.overall.base.rate().value_or(0));
    return stats::log_loss({.label = data.label, .score = score, .weight = data.weight});
}

std::vector<GroupQuality> groups_of(const std::vector<double>& score,
                                    const dataset::Dataset& data) {
    std::vector<GroupQuality> groups(data.group_names.size());
    for (size_t g = 0; g < groups.size(); ++g) {
        std::vector<uint8_t> label;
        std::vector<double> scores;
        std::vector<float> weight;
        double sum = 0, total = 0;
        for (size_t i = 0; i < data.rows(); ++i) {
            if (static_cast<size_t>(data.group[i]) != g) continue;
            label.push_back(data.label[i]);
            scores.push_back(score[i]);
            weight.push_back(data.weight_of(i));
            sum += weight.back() * score[i];
            total += weight.back();
        }
        const stats::ScoredRows rows{.label = label, .score = scores, .weight = weight};
        groups[g].auc = stats::auc(rows);
        groups[g].log_loss = label.empty() ? 0 : stats::log_loss(rows);
        groups[g].mean_score = label.empty() ? 0 : sum / total;
    }
    return groups;
}

void measure_trees(ModelCard& card) {
    for (const auto& tree : card.learned().ensemble.trees) {
        std::vector<size_t> depth(tree.nodes.size());
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            const auto& node = tree.nodes[i];
            if (node.feature < 0) {
                ++card.leaves;
                card.depth = std::max(card.depth, depth[i]);
                continue;
            }
            for (const int32_t child : {node.left, node.right}) {
                depth[static_cast<size_t>(child)] = depth[i] + 1;
            }
        }
    }
}

/// By paths, or against training rows for a model that does not say how many rows went where.
base::Result<Explainer> explainer_for(const ModelCard& card,
                                      const std::optional<model::TrainingRecord>& record,
                                      const dataset::Dataset& table) {
    ExplainerOptions options;
    auto explainer = make_explainer(options, card.names, card.policy, record, card.schema, table);
    if (explainer || !explainer.error().is(explain::Reason::kNoCover)) return explainer;
    options.interventional = true;
    return make_explainer(options, card.names, card.policy, record, card.schema, table);
}

double missing_share(const dataset::Dataset& data, size_t feature) {
    double missing = 0, total = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        total += data.weight_of(i);
        if (std::isnan(data.columns[feature][i])) missing += data.weight_of(i);
    }
    return missing / total;
}

base::Status put_features(ModelCard& card, const explain::TreeShap& shap,
                          const dataset::Dataset& rows, const dataset::Dataset& few,
                          base::ThreadPool& pool) {
    const auto most = card.variant == "interventional" ? kExplainedRowsByReference : kExplainedRows;
    const auto sample = rows.subset(sample_rows(rows.rows(), most, kSampleSeed));
    card.explained_rows = sample.rows();
    RAMPART_TRY(const auto mean, explain::mean_absolute_contributions(shap, sample, &pool));
    const auto& ensemble = card.learned().ensemble;
    const auto splits = explain::split_importance(ensemble, mean.size());
    const model::BatchEngine engine(ensemble);
    for (size_t f = 0; f < mean.size(); ++f) {
        FeatureCard feature{.feature = f,
                            .mean_absolute_contribution = mean[f],
                            .splits = splits[f],
                            .missing = missing_share(rows, f),
                            .direction = std::nullopt};
        const bool numeric =
            card.policy.schema().features()[f].kind == dataset::FeatureKind::kNumeric;
        if (numeric && splits[f].splits > 0) {
            const auto all = explain::step_grid(ensemble, f, explain::kMaxGridPoints);
            const auto grid = explain::step_grid(ensemble, f, kDirectionSteps);
            feature.steps = grid.values.size();
            feature.all_steps = grid.values.size() == all.values.size();
            RAMPART_TRY(feature.direction, explain::direction_of(engine, few, grid, &pool));
        }
        card.features.push_back(feature);
    }
    std::stable_sort(card.features.begin(), card.features.end(),
                     [](const FeatureCard& a, const FeatureCard& b) {
                         return a.mean_absolute_contribution > b.mean_absolute_contribution;
                     });
    return base::ok();
}

/// Shares of rows at each value of a category's grid, missing among them; empty for numbers.
std::vector<double> shares_of(const dataset::Dataset& rows, const explain::Grid& grid) {
    const auto& spec = rows.schema.features()[grid.feature];
    const bool numeric = spec.kind == dataset::FeatureKind::kNumeric;
    std::vector<double> share(grid.values.size());
    double total = 0;
    for (size_t i = 0; i < rows.rows(); ++i) {
        const float x = rows.columns[grid.feature][i];
        const double weight = rows.weight_of(i);
        total += weight;
        if (std::isnan(x)) {
            share.back() += weight;  // the grid ends with missing where a row is
        } else if (!numeric) {
            share[static_cast<size_t>(x)] += weight;
        }
    }
    for (double& s : share) s /= total;
    return share;
}

base::Result<DependenceCard> dependence_of(const model::BatchEngine& engine,
                                           const dataset::Dataset& rows,
                                           const dataset::Dataset& few, size_t feature,
                                           base::ThreadPool& pool) {
    DependenceCard card;
    RAMPART_TRY(card.grid, explain::grid_of(rows, feature, kCurvePoints));
    const auto scale = explain::Scale::kProbability;
    RAMPART_TRY(card.mean, explain::partial_dependence(engine, few, card.grid, scale, &pool));
    RAMPART_TRY(const auto curves,
                explain::individual_curves(engine, few, card.grid, scale, &pool));
    card.share = shares_of(rows, card.grid);
    const size_t n = few.rows(), points = card.grid.values.size();
    std::vector<double> at(n);
    for (size_t k = 0; k < points; ++k) {
        for (size_t i = 0; i < n; ++i) at[i] = curves[i * points + k];
        std::sort(at.begin(), at.end());
        card.low.push_back(at[(n - 1) / 10]);
        card.high.push_back(at[(n - 1) - (n - 1) / 10]);
    }
    return card;
}

/// The rows to measure on: those asked for, else the test rows if the table has any.
base::Result<dataset::Dataset> rows_for(ModelCard& card, std::string split,
                                        const dataset::Dataset& table,
                                        const std::optional<model::TrainingRecord>& record) {
    const bool own = is_training_table(table, record);
    if (split.empty()) {
        split = "all";
        if (own && part_of(card.names, "test", table, record)) split = "test";
    }
    card.learned_from = split == "train" || split == "validation" || (split == "all" && own);
    card.rows_of =
        fmt::format("{} rows of {}", split == "all" ? "all" : "the " + split, card.names.data);
    return part_of(card.names, split, table, record);
}

}  // namespace

base::Result<ModelCard> make_model_card(const ModelCardOptions& options) {
    RAMPART_TRY(auto loaded, model::load_model_file(options.names.model));
    const auto record = loaded.policy.state().training;
    RAMPART_TRY(auto schema, schema_for(options.names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(options.names.data, schema));
    RAMPART_RETURN_IF_ERROR(require_labels(table, options.names));
    ModelCard card{.names = options.names,
                   .id = loaded.id.value(),
                   .policy = std::move(loaded.policy),
                   .schema = std::move(schema)};
    card.data_sha256 = digest_of(table).hex();
    RAMPART_TRY(const auto explainer, explainer_for(card, record, table));
    card.link = explainer.link_number;
    card.variant = explainer.variant;
    card.reference = explainer.reference;
    card.reference_sha256 = explainer.reference_sha256;
    measure_trees(card);

    RAMPART_TRY(const auto rows, rows_for(card, options.split, table, record));
    RAMPART_TRY(const auto answers, policy_answers(card.policy, rows, std::nullopt));
    RAMPART_TRY(card.evaluation, evaluate_answers(answers, rows));
    card.mean_label_log_loss = mean_label_log_loss(rows, card.evaluation);
    card.calibration = calibration_of(answers.score, rows);
    card.calibration_error = calibration_error(card.calibration);
    if (!rows.group.empty()) card.groups = groups_of(answers.score, rows);

    base::ThreadPool pool(options.threads);
    const auto few = rows.subset(sample_rows(rows.rows(), kCurveRows, kSampleSeed));
    card.curve_rows = few.rows();
    RAMPART_RETURN_IF_ERROR(put_features(card, explainer.shap, rows, few, pool));
    const model::BatchEngine engine(card.learned().ensemble);
    for (const auto& feature : card.features) {
        if (card.dependence.size() == options.plots || feature.splits.splits == 0) break;
        RAMPART_TRY(auto dependence, dependence_of(engine, rows, few, feature.feature, pool));
        card.dependence.push_back(std::move(dependence));
    }
    return card;
}

}  // namespace rampart::evaluation
