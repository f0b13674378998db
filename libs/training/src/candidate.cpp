#include "rampart/training/candidate.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "rampart/base/digest.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/ramp/solver.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using training_set::DevelopmentSet;

/// f = slope * p + intercept: expected impact of an approval less that of a decline, in units of
/// the largest difference that one outcome can make.
struct ScoreMap {
    double slope = 2, intercept = -1;
    /// Returns the P(favourable) at which both are worth the same, within (0, 1).
    double break_even() const {
        return slope > 0 ? std::clamp(-intercept / slope, 1e-6, 1 - 1e-6) : 0.5;
    }
};

/// Returns the map from the mean impacts of an approval by label: the declared ones or, for a
/// reported impact, those in the development set.
Result<ScoreMap> score_map(const DevelopmentSet& development, const domain::Impact& impact) {
    double favourable = impact.favourable, unfavourable = impact.unfavourable;
    if (impact.measure) {
        double sum[2] = {0, 0}, count[2] = {0, 0};
        for (const auto& row : development.rows) {
            if (!row.is_training_example() || !row.impact) continue;
            const int y = *row.label == 1 ? 1 : 0;
            sum[y] += *row.impact / row.p_approve;
            count[y] += 1 / row.p_approve;
        }
        if (count[0] == 0 || count[1] == 0) {
            return base::make_error(
                Reason::kNoImpacts,
                "the reported impact is known for one label only; wait for more outcomes");
        }
        favourable = sum[1] / count[1];
        unfavourable = sum[0] / count[0];
    }
    const double up = favourable - impact.declined, down = unfavourable - impact.declined;
    const double scale = std::max({std::abs(up), std::abs(down), 1e-12});
    return ScoreMap{(up - down) / scale, down / scale};
}

/// Returns whether the row's person is held out of the fit.
bool is_held_out(const training_set::Row& row, const Recipe& recipe) {
    return base::keyed_uniform(fmt::format("validation {}", recipe.seed), row.person.value()) <
           recipe.validation_fraction;
}

struct Halves {
    dataset::Dataset train, validation;
};

/// Splits off a part of the persons; all rows of a person are on one side. `table` may be a part of
/// the set.
Halves hold_out(const DevelopmentSet& development, const training_set::TrainingTable& table,
                const Recipe& recipe) {
    std::vector<uint32_t> train, validation;
    for (uint32_t i = 0; i < table.rows.size(); ++i) {
        const bool held = is_held_out(development.rows[table.rows[i]], recipe);
        (held ? validation : train).push_back(i);
    }
    return {table.data.subset(train), table.data.subset(validation)};
}

/// Notes what was learnt from, and what was left out.
void note_rows(const training_set::TrainingTable& table, const Halves& halves,
               std::map<std::string, std::string>& figures) {
    const auto note = [&](const char* name, size_t count) {
        figures[name] = fmt::format("{}", count);
    };
    note("rows", table.data.rows());
    note("rows_held_out", halves.validation.rows());
    note("rows_without_outcome", table.left_out_unlabelled);
    note("rows_censored", table.left_out_censored);
    note("rows_repeated", table.left_out_repeats);
    note("rows_overridden", table.left_out_overridden);
    if (table.left_out_referred > 0) note("rows_referred", table.left_out_referred);
    if (!table.data.group.empty()) note("rows_without_group", table.left_out_without_group);
    if (!table.empty_groups.empty())
        figures["groups_without_rows"] = fmt::format("{}", fmt::join(table.empty_groups, "; "));
    note("weights_capped", table.capped_weights);
}

/// Notes the learner's own figures that are one value each.
void note_learner(const learning::Learned& learned, std::map<std::string, std::string>& figures) {
    const boost::json::value parsed = boost::json::parse(learned.figures);
    for (const auto& [name, value] : parsed.as_object()) {
        if (value.is_bool())
            figures[name] = value.as_bool() ? "yes" : "no";
        else if (value.is_double())
            figures[name] = fmt::format("{:.4f}", value.as_double());
        else if (value.is_number())
            figures[name] = fmt::format("{}", value.to_number<int64_t>());
        else if (value.is_string() && !value.as_string().empty())
            figures[name] = value.as_string().c_str();
    }
    figures.erase("missed");
    if (!learned.state.constraints_missed.empty())
        figures[std::string(kMissedConstraints)] = learned.state.constraints_missed;
}

/// Returns the attributes of cells like "sex=F,age=low". A comma within a value is followed by no
/// '=' of its own, so that it makes no attribute.
std::vector<std::string> attributes_in(const std::vector<std::string>& cells) {
    std::vector<std::string> out;
    if (cells.empty()) return out;
    std::string_view rest = cells.front();
    while (!rest.empty()) {
        const auto equals = rest.find('=');
        if (equals == std::string_view::npos) break;
        const auto comma = rest.rfind(',', equals);
        out.emplace_back(rest.substr(comma == std::string_view::npos ? 0 : comma + 1,
                                     equals - (comma == std::string_view::npos ? 0 : comma + 1)));
        rest.remove_prefix(equals + 1);
    }
    return out;
}

/// Fits the recipe's learner to the rows with a label. It decides from the P(favourable) on from
/// which an approval is expected to be worth more than a decline, unless the recipe says otherwise.
Result<learning::Learned> fit(const DevelopmentSet& development, const Recipe& recipe,
                              const ScoreMap& map, base::ThreadPool* pool,
                              std::map<std::string, std::string>& figures) {
    RAMPART_TRY(auto chosen, chosen_learner(recipe));
    const auto can = chosen.learner->capabilities(chosen.options);
    const bool groups = can.groups || can.attributes;
    RAMPART_TRY(const auto table,
                training_set::to_dataset(development,
                                         {recipe.ipw_cap, groups ? training_set::GroupBy::kCells
                                                                 : training_set::GroupBy::kNone}));
    const Halves halves = hold_out(development, table, recipe);
    note_rows(table, halves, figures);
    RAMPART_RETURN_IF_ERROR(dataset::validate(halves.train));
    RAMPART_RETURN_IF_ERROR(dataset::validate(halves.validation));
    if (chosen.options.has("threshold")) chosen.options.set_fallback("threshold", map.break_even());
    RAMPART_TRY(auto learned, learning::fit(*chosen.learner,
                                            {.train = halves.train,
                                             .validation = &halves.validation,
                                             .attributes = attributes_in(development.cell_names),
                                             .seed = recipe.seed,
                                             .pool = pool},
                                            chosen.options));
    note_learner(learned, figures);
    return learned;
}

/// Returns medians of numbers and the most frequent categories: reason codes compare applicants
/// with this row.
std::vector<float> reference_row(const DevelopmentSet& development) {
    std::vector<float> reference(development.schema.size());
    std::vector<float> values;
    for (size_t j = 0; j < reference.size(); ++j) {
        values.clear();
        for (size_t i = 0; i < development.rows.size(); ++i) {
            const float v = development.features_of(i)[j];
            if (!std::isnan(v)) values.push_back(v);
        }
        if (values.empty()) {
            reference[j] = std::nanf("");
            continue;
        }
        std::sort(values.begin(), values.end());
        reference[j] = values[values.size() / 2];
        if (development.schema.features()[j].kind != dataset::FeatureKind::kCategorical) continue;
        size_t best = 0;
        for (size_t from = 0; from < values.size();) {
            const size_t to = static_cast<size_t>(
                std::upper_bound(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                                 values[from]) -
                values.begin());
            if (to - from > best) {
                best = to - from;
                reference[j] = values[from];
            }
            from = to;
        }
    }
    return reference;
}

/// Returns f of every row by one ensemble.
std::vector<double> scores_of(const DevelopmentSet& development, const model::Ensemble& ensemble,
                              const ScoreMap& map) {
    std::vector<double> scores(development.rows.size());
    model::BatchEngine(ensemble).predict_raw(
        model::TableView::row_major(development.features, development.schema.size()), scores);
    for (double& score : scores)
        score = std::clamp(map.slope * model::sigmoid(score) + map.intercept, -1.0, 1.0);
    return scores;
}

ramp::RampParams parity_params(const Recipe& recipe, double gamma) {
    ramp::RampParams params;
    params.gamma = gamma;
    params.epsilon = recipe.approval_tolerance;
    return params;
}

/// Returns the rows of the set whose index `takes` accepts.
template <class Takes>
DevelopmentSet part_of(const DevelopmentSet& development, const Takes& takes) {
    DevelopmentSet part;
    part.as_known_at = development.as_known_at;
    part.schema = development.schema;
    part.group_names = development.group_names;
    part.cell_names = development.cell_names;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        if (!takes(i)) continue;
        const auto features = development.features_of(i);
        part.rows.push_back(development.rows[i]);
        part.features.insert(part.features.end(), features.begin(), features.end());
    }
    return part;
}

/// Returns f of every row by an ensemble that did not learn from the row's person, for the search.
Result<std::vector<double>> out_of_fold_scores(const DevelopmentSet& development,
                                               const Recipe& recipe, const ScoreMap& map,
                                               base::ThreadPool* pool) {
    const std::string key = fmt::format("fold {}", recipe.seed);
    const auto folds = static_cast<size_t>(recipe.selection_folds);
    std::vector<size_t> fold_of;
    for (const auto& row : development.rows) {
        const double u = base::keyed_uniform(key, row.person.value());
        fold_of.push_back(std::min(folds - 1, static_cast<size_t>(u * static_cast<double>(folds))));
    }
    std::vector<double> scores(development.rows.size());
    for (size_t fold = 0; fold < folds; ++fold) {
        const auto rest = part_of(development, [&](size_t i) { return fold_of[i] != fold; });
        std::map<std::string, std::string> unused;
        RAMPART_TRY(const auto learned, fit(rest, recipe, map, pool, unused));
        const auto all = scores_of(development, learned.link.ensemble, map);
        for (size_t i = 0; i < all.size(); ++i) {
            if (fold_of[i] == fold) scores[i] = all[i];
        }
    }
    return scores;
}

/// Returns P(approve) of every row; 0 where the policy needs a cell that the row has not (these are
/// not used).
std::vector<double> approvals_of(const DevelopmentSet& development, const model::Policy& policy) {
    std::vector<double> out;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        const auto& cell = development.rows[i].cell;
        const auto group = cell ? std::optional<size_t>(*cell) : std::nullopt;
        const bool undecided = policy.group_aware() && !cell;
        out.push_back(undecided ? 0 : policy.evaluate(development.features_of(i), group).approve);
    }
    return out;
}

/// Returns whether the link is a probability with a threshold, on which any ramp may be put.
bool gives_probability(const learning::Learned& learned) {
    const auto& link = learned.link;
    return link.members.empty() && link.scale.kind == model::ScoreScale::Kind::kLogOdds;
}

/// Returns where on the map of scores the learner's own threshold lies.
double threshold_on(const ScoreMap& map, const learning::Learned& learned) {
    const double p = (learned.link.ramp.thresholds.front() + 1) / 2;
    const double f = map.slope * p + map.intercept;
    return std::abs(f) < 1e-9 ? 0 : std::clamp(f, -1.0, 1.0);
}

/// Search for the parameters of the next link.
struct LinkSearch {
    const CandidateInputs& in;
    const std::vector<model::Link>& links;  // before the new one
    const ScoreMap& map;
    const model::Ensemble& ensemble;  // the new link's
    LinkParameters begin;
};

Result<SearchedParameters> search(const LinkSearch& next) {
    const model::Policy& champion = next.in.champion;
    const Recipe& recipe = next.in.recipe;
    // a few values need no ensembles of their own: the persons held out of the fit are enough
    const bool grid = recipe.selection == Selection::kGrid;
    const DevelopmentSet& all = next.in.development;
    const auto held =
        part_of(all, [&](size_t i) { return grid && is_held_out(all.rows[i], recipe); });
    const DevelopmentSet& development = grid ? held : all;
    const bool parity = recipe.criterion == Criterion::kStatisticalParity;
    SearchRows rows;
    if (grid) {
        rows.score = scores_of(development, next.ensemble, next.map);
    } else {
        RAMPART_TRY(rows.score, out_of_fold_scores(development, recipe, next.map, next.in.pool));
    }
    for (size_t i = 0; i < rows.score.size(); ++i) {
        if (parity && !development.rows[i].cell) rows.score[i] = std::nan("");
    }
    rows.reference = approvals_of(development, champion);
    RAMPART_TRY(const auto before,
                model::Policy::create(development.schema, next.links, champion.group_names(), {}));
    rows.before = approvals_of(development, before);
    const auto params = parity_params(recipe, recipe.gamma);
    const SearchInputs inputs{.development = development,
                              .rows = rows,
                              .champion = champion,
                              .begin = next.begin,
                              .exploration = recipe.exploration.mode,
                              .parity = parity ? &params : nullptr,
                              .gate = *next.in.gate,
                              .limits = {static_cast<size_t>(recipe.selection_evaluations),
                                         recipe.selection_power, recipe.seed}};
    return grid ? search_grid(inputs) : search_parameters(inputs);
}

/// Returns the parameters that the search finds or, where nothing can be predicted, the recipe's;
/// notes in `figures` which.
Result<LinkParameters> selected_parameters(const CandidateInputs& in,
                                           const std::vector<model::Link>& links,
                                           const ScoreMap& map, const learning::Learned& learned,
                                           std::map<std::string, std::string>& figures) {
    const Recipe& recipe = in.recipe;
    const bool probability = gives_probability(learned);
    const LinkParameters begin{probability ? threshold_on(map, learned) : 0, recipe.gamma,
                               recipe.exploration.epsilon, recipe.kappa};
    if (recipe.selection == Selection::kNone) return begin;
    if (!probability) {
        figures["selection"] = "as given: the learner decides by a rule of its own";
        return begin;
    }
    if (in.gate == nullptr) {
        return base::make_error(
            Reason::kBadSelection,
            "selection is {}, and nothing is known of the gate: give its forecast's inputs",
            to_string(recipe.selection));
    }
    const auto found = search({in, links, map, learned.link.ensemble, begin});
    if (!found && found.error().is(Reason::kBadSelection)) return found.error();
    if (!found) {
        figures["selection"] = fmt::format("as given: {}", found.error().message);
        return begin;
    }
    const auto& p = found->parameters;
    figures["selection"] =
        fmt::format("{}, {} evaluations", to_string(recipe.selection), found->evaluations);
    figures["selected_threshold"] = fmt::format("{:.4f}", p.threshold);
    figures["selected_gamma"] = fmt::format("{:.4f}", p.gamma);
    figures["selected_epsilon"] = fmt::format("{:.4f}", p.epsilon);
    figures["selected_kappa"] = fmt::format("{:.4f}", p.kappa);
    figures["predicted_gain"] = fmt::format("{:.4f}", found->predicted_gain);
    figures["predicted_to_pass"] = found->predicted_to_pass ? "yes" : "no";
    figures["predicted_chance"] = fmt::format("{:.4f}", found->chance);
    return p;
}

/// Fails if the candidate misses the constraints of its training and the recipe does not allow it.
base::Status check_constraints(const Recipe& recipe,
                               const std::map<std::string, std::string>& figures) {
    const auto missed = figures.find(std::string(kMissedConstraints));
    if (missed == figures.end() || recipe.allow_infeasible) return base::ok();
    return base::make_error(
        Reason::kConstraintsMissed,
        "no candidate keeps the training's constraints, so none was taken to the gate: {}; widen "
        "training.tolerance, take other training.constraints, or let the gate alone decide with "
        "training.allow_infeasible = true",
        missed->second);
}

/// Returns parameters for distillation: the teacher's probabilities have no noise to overfit, so
/// the student is large, to be close to the teacher everywhere.
gbdt::LearnerParams student_params(uint64_t seed) {
    gbdt::LearnerParams params;
    params.trees = 400;
    params.leaves = 63;
    params.learning_rate = 0.15;
    params.min_rows_in_leaf = 5;
    params.seed = seed;
    return params;
}

/// Returns the provenance of the model file, with the figures of the training but what is state.
std::map<std::string, std::string> provenance_of(
    const CandidateInputs& in, const std::string& parameters,
    const std::map<std::string, std::string>& figures) {
    std::map<std::string, std::string> provenance{
        {"learner", in.recipe.learner},
        {"parameters", parameters},
        {"criterion", std::string(to_string(in.recipe.criterion))},
        {"seed", fmt::format("{}", in.recipe.seed)},
        {"parent", in.champion_id},
        {"as_known_at", base::to_iso8601(in.development.as_known_at)},
        {"development_set", in.development.digest.hex()},
    };
    for (const auto& [name, value] : figures)
        if (name != kMissedConstraints) provenance["training." + name] = value;
    return provenance;
}

/// Returns the learner's state and the row with which reasons compare.
model::PolicyState state_of(const CandidateInputs& in, model::PolicyState state) {
    state.reasons = {model::ReasonMethod::kShapley, reference_row(in.development)};
    return state;
}

}  // namespace

Result<model::LearnedLink> distil(const DevelopmentSet& development, const model::Policy& champion,
                                  const Recipe& recipe, base::ThreadPool* pool) {
    dataset::Dataset data;
    data.schema = development.schema;
    data.columns.resize(development.schema.size());
    std::vector<double> targets;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        const auto& cell = development.rows[i].cell;
        if (champion.group_aware() && !cell) continue;
        const auto row = development.features_of(i);
        for (size_t j = 0; j < row.size(); ++j) data.columns[j].push_back(row[j]);
        targets.push_back(
            champion.evaluate(row, cell ? std::optional<size_t>(*cell) : std::nullopt).approve);
        data.label.push_back(targets.back() >= 0.5 ? 1 : 0);
    }
    RAMPART_TRY(auto objective, gbdt::SoftCrossEntropy::create(std::move(targets), {}));
    const gbdt::LearnerParams params = student_params(recipe.seed);
    model::LearnedLink link;
    RAMPART_TRY(link.ensemble, gbdt::train(data, objective, params, pool));
    // with gamma 2 and offset 1/2 the ramp is the identity: q = (2p - 1) / 2 + 1/2 = p
    link.ramp = {2.0, 0.5, {0.0}, {1.0}};
    link.exploration = recipe.exploration;
    link.kappa = recipe.kappa;
    return link;
}

Result<Candidate> make_candidate(const CandidateInputs& in) {
    const DevelopmentSet& development = in.development;
    const Recipe& recipe = in.recipe;
    std::map<std::string, std::string> figures;
    RAMPART_TRY(const ScoreMap map, score_map(development, in.impact));
    RAMPART_RETURN_IF_ERROR(validate(recipe));
    RAMPART_TRY(auto learned, fit(development, recipe, map, in.pool, figures));
    RAMPART_RETURN_IF_ERROR(check_constraints(recipe, figures));
    std::vector<model::Link> links = in.champion.links();
    const bool long_chain = links.size() >= static_cast<size_t>(recipe.max_links);
    if (long_chain) {
        RAMPART_TRY(auto student, distil(development, in.champion, recipe, in.pool));
        links = {std::move(student)};
    }
    figures["distilled"] = long_chain ? "yes" : "no";
    RAMPART_TRY(const auto chosen, chosen_learner(recipe));
    RAMPART_TRY(const auto parameters, selected_parameters(in, links, map, learned, figures));
    const bool probability = gives_probability(learned);
    auto& link = learned.link;
    link.exploration = {recipe.exploration.mode, parameters.epsilon};
    link.kappa = parameters.kappa;
    link.exploit_chain = true;
    const bool parity = recipe.criterion == Criterion::kStatisticalParity;
    if (probability) {  // other outputs decide by their own rule
        link.score_slope = map.slope;
        link.score_intercept = map.intercept;
        link.ramp = {parameters.gamma, 0.5, {parameters.threshold}, {1.0}};
    }
    if (parity) {
        RAMPART_TRY(link.ramp, solve_parity(development, scores_of(development, link.ensemble, map),
                                            parity_params(recipe, parameters.gamma)));
    }
    links.emplace_back(std::move(link));
    RAMPART_TRY(auto policy,
                model::Policy::create(development.schema, std::move(links),
                                      parity ? development.cell_names : std::vector<std::string>{},
                                      provenance_of(in, chosen.options.canonical(), figures),
                                      state_of(in, std::move(learned.state))));
    return Candidate{std::move(policy), std::move(figures), long_chain};
}

}  // namespace rampart::training
