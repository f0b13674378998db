#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "frame/reasons.hpp"
#include "learn/train_options.hpp"

namespace rampart::cli {
namespace {

boost::json::value json_of(double value) {
    return std::isfinite(value) ? boost::json::value(value) : boost::json::value(nullptr);
}

base::Result<double> positive_class_weight(const BudroSettings& settings, const BudroTask& task) {
    if (settings.class_weight == "none") return task.favourable_weight;
    double sums[2] = {0, 0};
    for (size_t i = 0; i < task.train.rows(); ++i)
        sums[task.train.label[i]] += static_cast<double>(task.train.weight_of(i));
    return task.favourable_weight * sums[0] / sums[1];
}

}  // namespace

void add_budro_options(CLI::App& command, BudroSettings& s) {
    const auto keep = [&](CLI::Option* option) {
        s.options.push_back(option->group("BuDRO (budro)"));
    };
    keep(command
             .add_option("--attack", s.attack,
                         "how the worst transport of the rows is found in each round: exact, sgd, "
                         "entropic or bisection")
             ->check(CLI::IsMember({"exact", "sgd", "entropic", "bisection"}))
             ->capture_default_str());
    keep(command
             .add_option("--entropic-gamma", s.params.transport.entropic.gamma,
                         "--attack entropic: strength of the entropy term")
             ->capture_default_str());
    keep(command
             .add_option("--sgd-steps", s.params.transport.sgd.steps,
                         "--attack sgd: steps in each round")
             ->capture_default_str());
    keep(command
             .add_option("--class-weight", s.class_weight,
                         "balanced: both labels have the same total weight in the trees")
             ->check(CLI::IsMember({"none", "balanced"}))
             ->capture_default_str());
    keep(command.add_flag("--weighted-attack", s.params.weighted_attack,
                          "class weights count in the attack as well"));
    keep(command
             .add_option("--first-tree", s.first_tree,
                         "what is grown before the first attack: a tree on the data, a tree on "
                         "both labels of each row, or none")
             ->check(CLI::IsMember({"data", "both-labels", "none"}))
             ->capture_default_str());
    keep(command
             .add_option("--select", s.select,
                         "the model to keep: the last one, or the one with the least robust loss "
                         "or the largest balanced accuracy on the validation rows")
             ->check(CLI::IsMember({"last", "robust-loss", "balanced-accuracy"}))
             ->capture_default_str());
    keep(command.add_flag("--paper-scale", s.params.paper_scale,
                          "l1, l2 and --min-hessian-in-leaf are for weights of sum 1, as in the "
                          "paper"));
    keep(command.add_option("--attack-memory", s.memory_mib, "memory limit of the attack in MiB")
             ->check(CLI::Range(16, 1 << 20))
             ->capture_default_str());
    keep(command.add_option("--counterfactual", s.counterfactuals,
                            "FEATURE=VALUE,VALUE or FEATURE*FEATURE: report the share of rows with "
                            "the same decision for all these values; may be repeated"));
}

base::Result<budro::BudroParams> budro_params(const BudroSettings& settings,
                                              const BudroTask& task) {
    auto params = settings.params;
    params.learner = task.learner;
    RAMPART_TRY(params.transport.method, budro::parse_transport_method(settings.attack));
    RAMPART_TRY(params.first_tree, budro::parse_first_tree(settings.first_tree));
    RAMPART_TRY(params.selection, budro::parse_model_selection(settings.select));
    if (task.epsilon) params.transport.epsilon = *task.epsilon;
    params.transport.memory_budget = settings.memory_mib << 20;
    params.transport.moves = false;
    params.transport.sgd.seed = task.learner.seed;
    RAMPART_TRY(params.positive_class_weight, positive_class_weight(settings, task));
    if (params.selection == budro::ModelSelection::kMostBalancedAccuracy &&
        task.validation.rows() == 0)
        return base::make_error(Reason::kNoValidationRows,
                                "--select balanced-accuracy looks at validation rows, and the "
                                "split leaves none: try 60/20/20");
    if (task.constraints != nullptr) {
        fairgbm::FairGbmParams groups;
        RAMPART_RETURN_IF_ERROR(apply(*task.constraints, groups));
        params.constraints = groups.constraints;
        params.lagrangian = groups.lagrangian;
    }
    RAMPART_RETURN_IF_ERROR(validate(params));
    return params;
}

base::Result<budro::BudroResult> learn_budro(
    const BudroTask& task, const budro::BudroParams& params, const budro::FairMetric& metric,
    base::ThreadPool& pool, const std::function<bool(const budro::BudroRound&)>& progress) {
    RAMPART_TRY(const auto points, metric.embed(task.train));
    budro::Points others;
    budro::BudroOptions how{.progress = progress};
    if (task.validation.rows() > 0 && params.selection != budro::ModelSelection::kLast) {
        how.validation = &task.validation;
        RAMPART_TRY(others, metric.embed(task.validation));
        if (params.selection == budro::ModelSelection::kLeastRobustLoss)
            how.validation_points = &others;
    }
    return budro::train_budro(task.train, points, params, &pool, how);
}

model::LearnedLink budro_link(const budro::BudroResult& result) {
    model::LearnedLink link;
    link.ensemble = result.ensemble;
    const double share = model::sigmoid(result.threshold);
    link.ramp.thresholds = {std::clamp(link.score_slope * share + link.score_intercept, -1.0, 1.0)};
    return link;
}

std::string budro_text(const budro::BudroParams& params) {
    auto text = fmt::format(
        " epsilon={} attack={} positive_class_weight={} first_tree={} select={}",
        params.transport.epsilon, to_string(params.transport.method), params.positive_class_weight,
        to_string(params.first_tree), to_string(params.selection));
    if (params.weighted_attack) text += " weighted_attack";
    if (params.paper_scale) text += " paper_scale";
    if (params.constraints) text += fmt::format(" constraints={}", to_string(*params.constraints));
    return text;
}

report::Table budro_table(const budro::BudroResult& result) {
    report::Table table{
        {"", "trees", "loss", "robust loss", "gap to the dual", "price", "distance"}};
    const auto add = [&](const char* name, const budro::BudroRound& round) {
        table.push_back({name, std::to_string(round.trees), fmt::format("{:.6f}", round.loss),
                         fmt::format("{:.6f}", round.robust_loss), fmt::format("{:.1e}", round.gap),
                         fmt::format("{:.4g}", round.eta), fmt::format("{:.4g}", round.cost)});
    };
    if (result.rounds.empty()) return table;
    add("first", result.rounds.front());
    add("last", result.rounds.back());
    add("kept", result.rounds[result.selected_round]);
    return table;
}

boost::json::object budro_json(const budro::BudroResult& result, const budro::BudroParams& params) {
    boost::json::array rounds;
    for (const auto& round : result.rounds)
        rounds.push_back({{"trees", round.trees},
                          {"loss", round.loss},
                          {"robust_loss", round.robust_loss},
                          {"dual", json_of(round.dual)},
                          {"gap", json_of(round.gap)},
                          {"eta", json_of(round.eta)},
                          {"cost", round.cost}});
    return {{"epsilon", params.transport.epsilon},
            {"attack", std::string(to_string(params.transport.method))},
            {"positive_class_weight", params.positive_class_weight},
            {"kept", result.selected_round},
            {"threshold", model::sigmoid(result.threshold)},
            {"rounds", std::move(rounds)}};
}

std::string budro_note(const budro::BudroResult& result) {
    if (result.rounds.empty()) return {};
    const auto& kept = result.rounds[result.selected_round];
    if (!kept.violation || *kept.violation <= 0) return {};
    return fmt::format(
        "a constraint is missed: the model that was kept is over its group constraints "
        "by {:.4f} on the training rows; try a larger --tolerance or --multiplier-step, or more "
        "--trees",
        *kept.violation);
}

}  // namespace rampart::cli
