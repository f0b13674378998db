#include <boost/json.hpp>
#include <cmath>

#include "learners.hpp"
#include "rampart/budro/audit.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/learning/fair_metric.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/report/text_table.hpp"
#include "rate_options.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using budro::BudroParams;
using budro::BudroResult;

/// Returns how far rows may be moved, in training and in the audit, and what that may do.
std::vector<Option> budget_options() {
    return {
        {"epsilon",
         BudroParams().transport.epsilon,
         "budget of the attack: the mean squared fair distance by which rows may be moved",
         0,
         1e12,
         {},
         {},
         true},
        {"gap_at_most",
         1.0,
         "bound on what answers of similar people, within `epsilon`, may add to P(decided against "
         "the label), for those held out (budro's performance gap of decisions); 1: it is computed "
         "and bounds nothing",
         0,
         1,
         {},
         {},
         true},
    };
}

std::vector<Option> attack_options() {
    const BudroParams p;
    const auto& t = p.transport;
    return {
        {"attack",
         std::string(to_string(t.method)),
         "how the worst transport of the rows is found in each round",
         0,
         0,
         {"exact", "sgd", "entropic", "bisection"}},
        {"entropic_gamma",
         t.entropic.gamma,
         "attack entropic: strength of the entropy term",
         1e-12,
         1e6,
         {},
         "attack=entropic"},
        {"sgd_steps",
         int64_t{t.sgd.steps},
         "attack sgd: steps in each round",
         1,
         1e6,
         {},
         "attack=sgd"},
        {"class_weight",
         std::string("none"),
         "balanced: both labels have the same total weight in the trees",
         0,
         0,
         {"none", "balanced"}},
        {"weighted_attack",
         p.weighted_attack,
         "class weights count in the attack as well",
         0,
         0,
         {},
         "class_weight!=none|favourable_weight!=1"},
        {"first_tree",
         std::string(to_string(p.first_tree)),
         "what is grown before the first attack: a tree on the data, a tree on both labels of each "
         "row, or none",
         0,
         0,
         {"data", "both-labels", "none"}},
        {"select",
         std::string(to_string(p.selection)),
         "the model to keep: the last one, or the one with the least robust loss or the largest "
         "balanced accuracy on the validation rows",
         0,
         0,
         {"last", "robust-loss", "balanced-accuracy"}},
        {"paper_scale", p.paper_scale,
         "l1, l2 and min_hessian_in_leaf are for weights of sum 1, as in the paper"},
        {"attack_memory", int64_t{1024}, "memory limit of the attack in MiB", 16, 1 << 20},
    };
}

double positive_class_weight(const dataset::Dataset& train, const OptionValues& values) {
    const double weight = values.number("favourable_weight");
    if (values.text("class_weight") == "none") return weight;
    double sums[2] = {0, 0};
    for (size_t i = 0; i < train.rows(); ++i)
        sums[train.label[i]] += static_cast<double>(train.weight_of(i));
    return sums[1] > 0 ? weight * sums[0] / sums[1] : weight;
}

boost::json::value json_of(double value) {
    return std::isfinite(value) ? boost::json::value(value) : boost::json::value(nullptr);
}

boost::json::object figures_of(const BudroResult& result, const BudroParams& params) {
    boost::json::array rounds;
    for (const auto& round : result.rounds)
        rounds.push_back({{"trees", round.trees},
                          {"loss", round.loss},
                          {"robust_loss", round.robust_loss},
                          {"dual", json_of(round.dual)},
                          {"gap", json_of(round.gap)},
                          {"eta", json_of(round.eta)},
                          {"cost", round.cost}});
    return {{"trees", result.ensemble.trees.size()},
            {"epsilon", params.transport.epsilon},
            {"attack", std::string(to_string(params.transport.method))},
            {"positive_class_weight", params.positive_class_weight},
            {"kept", result.selected_round},
            {"threshold", model::sigmoid(result.threshold)},
            {"rounds", std::move(rounds)}};
}

/// Returns the first and the last round, and the one that was kept.
std::string report_of(const BudroResult& result) {
    if (result.rounds.empty()) return {};
    report::Table table{
        {"", "trees", "loss", "robust loss", "gap to the dual", "price", "distance"}};
    const auto add = [&](const char* name, const budro::BudroRound& round) {
        table.push_back({name, std::to_string(round.trees), fmt::format("{:.6f}", round.loss),
                         fmt::format("{:.6f}", round.robust_loss), fmt::format("{:.1e}", round.gap),
                         fmt::format("{:.4g}", round.eta), fmt::format("{:.4g}", round.cost)});
    };
    add("first", result.rounds.front());
    add("last", result.rounds.back());
    add("kept", result.rounds[result.selected_round]);
    return fmt::format("the attack on the training rows:\n{}", report::align(table));
}

/// Returns by how much the constraints on rates are exceeded on the training rows; 0: kept, or none
/// were asked for.
double excess(const BudroResult& result) {
    if (result.rounds.empty()) return 0;
    return std::max(0.0, result.rounds[result.selected_round].violation.value_or(0));
}

base::Result<BudroParams> params_of(const OptionValues& values) {
    BudroParams params;
    auto& transport = params.transport;
    RAMPART_TRY(transport.method, budro::parse_transport_method(values.text("attack")));
    transport.epsilon = values.number("epsilon");
    transport.entropic.gamma = values.number("entropic_gamma");
    transport.sgd.steps = values.integer("sgd_steps");
    transport.memory_budget = static_cast<size_t>(values.integer("attack_memory")) << 20;
    transport.moves = false;
    RAMPART_TRY(params.first_tree, budro::parse_first_tree(values.text("first_tree")));
    RAMPART_TRY(params.selection, budro::parse_model_selection(values.text("select")));
    params.weighted_attack = values.flag("weighted_attack");
    params.paper_scale = values.flag("paper_scale");
    RAMPART_TRY(const auto rates, rate_settings(values));
    if (asks_for_rates(values)) params.constraints = rates.constraints;
    RAMPART_TRY(params.lagrangian, lagrangian_params(values, rates.operating_point));
    RAMPART_RETURN_IF_ERROR(validate(params));
    return params;
}

/// Audits the decisions by the model's fair metric. Returns how much worse they get at most,
/// measured against the labels, when similar people's answers take their place.
base::Result<double> alike_gap(const DecidedRows& decided, const OptionValues& values) {
    RAMPART_TRY(const auto metric, budro::FairMetric::decode(decided.fair_metric));
    RAMPART_TRY(const auto points, metric.embed(decided.rows));
    const auto& weight = decided.rows.weight;
    const std::vector<double> weights(weight.begin(), weight.end());
    budro::IndividualAuditParams params{
        .transport = {}, .loss = budro::AuditLoss::kDecision, .most_pairs = 0};
    params.transport.epsilon = values.number("epsilon");
    RAMPART_TRY(const auto audit, budro::audit_individual({.points = &points,
                                                           .labels = decided.rows.label,
                                                           .answers = decided.approve,
                                                           .weights = weights},
                                                          params, decided.pool));
    return audit.gap_at_most();
}

/// Returns the audit's gap in words, against its bound; of one that fails and bounds nothing, why.
base::Result<Kept> alike_kept(const DecidedRows& decided, const OptionValues& values) {
    const double bound = values.number("gap_at_most");
    const auto gap = alike_gap(decided, values);
    if (!gap && bound < 1) return gap.error().with_context("individual audit");
    if (!gap) return Kept{.not_measured = fmt::format("individual audit: {}", gap.error().message)};
    return Kept{*gap, *gap - bound,
                fmt::format("answers of similar people add at most {:.4f} to P(decided against the "
                            "label), epsilon {} (computed, without confidence)",
                            *gap, values.number("epsilon"))};
}

/// Says in the state what the decisions of the rows that judge exceed `gap_at_most` by.
base::Status judge_alike(const Task& task, double threshold, const OptionValues& values,
                         Learned& out) {
    if (!(values.number("gap_at_most") < 1)) return base::ok();
    const auto& judging = task.validation != nullptr ? *task.validation : task.train;
    std::vector<double> approve(judging.rows());
    model::BatchEngine(out.link.ensemble)
        .predict_raw(model::TableView::of(judging), approve, task.pool);
    for (double& one : approve) one = one >= threshold ? 1 : 0;
    RAMPART_TRY(const auto kept,
                alike_kept({judging, approve, out.state.fair_metric, task.pool}, values));
    if (kept.beyond <= 0) return base::ok();
    auto& missed = out.state.constraints_missed;
    missed += fmt::format("{}{}, {} is allowed", missed.empty() ? "" : "; ", kept.text,
                          values.number("gap_at_most"));
    out.excess = std::max(out.excess, kept.beyond);
    out.missed += fmt::format(
        "{}{}, `gap_at_most` is {}: try more `trees`, a larger `epsilon` in "
        "training, or a wider bound",
        out.missed.empty() ? "" : "; ", kept.text, values.number("gap_at_most"));
    return base::ok();
}

class Budro : public Learner {
  public:
    std::string_view name() const override { return "budro"; }
    std::string_view summary() const override {
        return "trees whose loss is bounded when rows are replaced by similar ones (individual "
               "fairness)";
    }
    std::string_view source() const override {
        return "Vargo et al. 2021, Individually Fair Gradient Boosting, Algorithms 1 and 3";
    }
    std::vector<Option> options() const override {
        auto options = tree_options();
        options.push_back(early_stopping_option(0));
        options.back().only_with = "select!=last";
        options.push_back(favourable_weight_option());
        for (auto* more : {&budget_options, &attack_options, &metric_options})
            for (auto& option : more()) options.push_back(std::move(option));
        for (auto& option : lagrangian_options()) options.push_back(std::move(option));
        for (auto& option : rate_options({})) options.push_back(std::move(option));
        return options;
    }
    Capabilities capabilities(const OptionValues& values) const override {
        return {.groups = asks_for_rates(values),
                .attributes = true,
                .constrained = asks_for_rates(values) || values.number("gap_at_most") < 1};
    }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        const auto params = params_of(values);
        return params ? base::ok() : params.error();
    }

    base::Result<Kept> measure(const DecidedRows& decided,
                               const OptionValues& values) const override {
        RAMPART_TRY(const auto rates, rates_kept(decided.rows, decided.approve, values));
        RAMPART_TRY(const auto alike, alike_kept(decided, values));
        return both(rates, alike);
    }

  protected:
    base::Result<Learned> learn(const Task& task, const OptionValues& values) const override;
};

base::Result<Learned> Budro::learn(const Task& task, const OptionValues& values) const {
    RAMPART_TRY(auto params, params_of(values));
    RAMPART_TRY(params.learner, tree_params(values, task));
    if (params.selection == budro::ModelSelection::kLast) params.learner.early_stopping_rounds = 0;
    params.transport.sgd.seed = task.seed;
    params.positive_class_weight = positive_class_weight(task.train, values);
    if (params.selection == budro::ModelSelection::kMostBalancedAccuracy &&
        task.validation == nullptr)
        return base::make_error(Reason::kBadOption,
                                "`select` is 'balanced-accuracy': it needs validation rows");
    RAMPART_TRY(const auto metric, fair_metric(task, values));
    RAMPART_TRY(const auto points, metric.embed(task.train));
    budro::Points others;
    budro::BudroOptions how{.progress = [&](const budro::BudroRound& round) {
        return task.progress({round.trees, static_cast<size_t>(params.learner.trees) + 1, "trees"});
    }};
    if (task.validation != nullptr && params.selection != budro::ModelSelection::kLast) {
        how.validation = task.validation;
        RAMPART_TRY(others, metric.embed(*task.validation));
        if (params.selection == budro::ModelSelection::kLeastRobustLoss)
            how.validation_points = &others;
    }
    RAMPART_TRY(const auto result, budro::train_budro(task.train, points, params, task.pool, how));
    Learned out;
    out.link.ensemble = result.ensemble;
    // constraints on rates have decided the operating point; P(favourable) is as weighted
    double threshold = result.threshold;
    if (!params.constraints) {
        RAMPART_TRY(threshold,
                    threshold_on(params.lagrangian.operating_point, out.link.ensemble, task));
    }
    out.link.ramp = rule_at(threshold);
    out.figures = boost::json::serialize(figures_of(result, params));
    out.report = report_of(result);
    out.state.fair_metric = metric.encode();
    if (const double over = excess(result); over > 0) {
        out.state.constraints_missed = fmt::format("{} is exceeded by {:.4f} on the training rows",
                                                   to_string(*params.constraints), over);
        out.excess = over;
        out.missed = fmt::format(
            "a constraint is missed: the model that was kept is over its group constraints by "
            "{:.4f} on the training rows; try a larger `tolerance` or `multiplier_step`, or more "
            "`trees`",
            over);
    }
    RAMPART_RETURN_IF_ERROR(judge_alike(task, threshold, values, out));
    return out;
}

}  // namespace

const Learner& budro_learner() {
    static const Budro learner;
    return learner;
}

}  // namespace rampart::learning
