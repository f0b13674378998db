#include "rampart/training/candidate.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "development_rows.hpp"
#include "held_out.hpp"
#include "link_features.hpp"
#include "next_link.hpp"
#include "option_search.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/learning/option_text.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/training/reasons.hpp"
#include "rule_fit.hpp"
#include "starting_point.hpp"

namespace rampart::training {
namespace {

using base::Result;
using training_set::DevelopmentSet;

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
    if (table.data.numeric()) note("rows_without_impact", table.left_out_without_impact);
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
    if (!learned.notes.empty())
        figures["notes"] = fmt::format("{}", fmt::join(learned.notes, "; "));
}

/// What a fit works with, and who may end it.
struct Means {
    base::ThreadPool* pool;
    const tuning::Host* host;

    bool goes_on() const { return host == nullptr || !host->stopped || !host->stopped(); }
};

/// Fits the recipe's learner to the rows with a label or, as the recipe says, an impact. It decides
/// from the P(favourable) or the impact on from which an approval is expected to be worth more than
/// a decline, unless the recipe says otherwise.
Result<learning::Learned> fit(const DevelopmentSet& development, const Recipe& recipe,
                              const ScoreMap& map, const Means& means,
                              std::map<std::string, std::string>& figures,
                              const StartingPoint& start = {}) {
    RAMPART_TRY(const auto chosen, chosen_at(recipe, map));
    const auto can = chosen.learner->capabilities(chosen.options);
    const bool groups = can.groups || can.attributes;
    const bool impact = recipe.label == Label::kImpact;
    RAMPART_TRY(
        const auto table,
        training_set::to_dataset(
            development,
            {recipe.ipw_cap, groups ? training_set::GroupBy::kCells : training_set::GroupBy::kNone,
             impact ? training_set::LearnFrom::kImpact : training_set::LearnFrom::kLabel}));
    const Halves halves = hold_out(development, table, recipe);
    note_rows(table, halves, figures);
    for (const auto* half : {&halves.train, &halves.validation})
        RAMPART_RETURN_IF_ERROR(half->numeric() ? dataset::validate_numeric(*half)
                                                : dataset::validate(*half));
    const learning::Task task{.train = halves.train,
                              .validation = &halves.validation,
                              .attributes = attributes_in(development.cell_names),
                              .label_lo = impact ? map.impact_lo : 0,
                              .label_hi = impact ? map.impact_hi : 1,
                              .seed = recipe.seed,
                              .pool = means.pool,
                              .progress = [&](const auto&) { return means.goes_on(); }};
    RAMPART_TRY(auto learned, fit_from(start, chosen, task, figures));
    note_learner(learned, figures);
    return learned;
}

/// Returns P(favourable) of every row by one ensemble.
std::vector<double> probabilities_of(const DevelopmentSet& development,
                                     const model::Ensemble& ensemble) {
    std::vector<double> p(development.rows.size());
    model::BatchEngine(ensemble).predict_raw(
        model::TableView::row_major(development.features, development.schema.size()), p);
    for (double& one : p) one = model::sigmoid(one);
    return p;
}

/// Returns P(favourable) of every row by an ensemble that did not learn from the row's person, for
/// the search.
Result<std::vector<double>> out_of_fold_probabilities(const DevelopmentSet& development,
                                                      const Recipe& recipe, const ScoreMap& map,
                                                      const Means& means) {
    const std::string key = fmt::format("fold {}", recipe.seed);
    const auto folds = static_cast<size_t>(recipe.selection_folds);
    std::vector<size_t> fold_of;
    for (const auto& row : development.rows) {
        const double u = base::keyed_uniform(key, row.person.value());
        fold_of.push_back(std::min(folds - 1, static_cast<size_t>(u * static_cast<double>(folds))));
    }
    std::vector<double> out(development.rows.size());
    for (size_t fold = 0; fold < folds; ++fold) {
        const auto rest = part_of(development, [&](size_t i) { return fold_of[i] != fold; });
        std::map<std::string, std::string> unused;
        RAMPART_TRY(const auto learned, fit(rest, recipe, map, means, unused));
        const auto all = probabilities_of(development, learned.link.ensemble);
        for (size_t i = 0; i < all.size(); ++i) {
            if (fold_of[i] == fold) out[i] = all[i];
        }
    }
    return out;
}

/// Returns whether the learner gives a probability, on which any ramp may be put; otherwise it
/// decides by a rule of its own.
bool gives_probability(const Recipe& recipe) {
    const auto chosen = chosen_learner(recipe);
    return chosen &&
           chosen->learner->capabilities(chosen->options).output == learning::Output::kProbability;
}

/// Returns where a rule is put on the learner's score: about the recipe's operating point; where it
/// names none, about 0: an approval is worth as much as a decline, or always more, or always less.
Result<postprocessing::Setting> setting_of(const ScoreMap& map, const learning::Learned& learned,
                                           const Recipe& recipe) {
    RAMPART_TRY(const auto chosen, chosen_learner(recipe));
    return postprocessing::setting_on(learned.link, chosen.options, map.slope, map.intercept);
}

/// Returns what a rule on scores of the rows is fitted from.
RuleInputs rule_inputs(const CandidateInputs& in, const postprocessing::Setting& setting,
                       std::vector<double> p, bool cross_fitted) {
    return {.development = in.development,
            .recipe = in.recipe,
            .setting = setting,
            .p = std::move(p),
            .cross_fitted = cross_fitted,
            .pool = in.pool};
}

/// Returns the recipe's rule on the learner's score, not yet fitted; nullopt: it names none, and no
/// rate is to be met.
Result<std::optional<RuleFit>> rule_of(const CandidateInputs& in,
                                       const postprocessing::Setting& setting,
                                       const learning::Learned& learned) {
    RAMPART_TRY(const auto post, chosen_postprocessor(in.recipe));
    const bool moves = setting.moves() && gives_probability(in.recipe);
    if (!post.needs().any() && !moves) return std::optional<RuleFit>();
    RAMPART_TRY(auto rule,
                RuleFit::create(rule_inputs(
                    in, setting, probabilities_of(in.development, learned.link.ensemble), false)));
    return std::optional(std::move(rule));
}

/// Puts the fitted rule on the link; notes where its operating point has put its threshold, how far
/// those of the folds keep the criterion on the persons held out, and in the state what they miss.
base::Status put_rule(const CandidateInputs& in, const RuleFit& rule, const FoldRules& folds,
                      const LinkParameters& parameters, learning::Learned& learned,
                      std::map<std::string, std::string>& figures) {
    RAMPART_TRY(const auto fitted, rule.fit(parameters.gamma));
    fitted.rule.put_on(learned.link, rule.group_model());
    if (rule.moves()) {
        figures["learner_threshold"] = fmt::format("{:.4f}", parameters.threshold);
        figures["selected_threshold"] = fmt::format("{:.4f}", fitted.threshold);
    }
    RAMPART_TRY(const auto kept, rule.kept(folds));
    if (kept.text.empty()) return base::ok();
    figures["criterion_held_out"] = kept.text;
    figures["criterion_gap"] = fmt::format("{:.4f}", kept.most);
    figures["criterion_kept"] = kept.beyond <= 0 ? "yes" : "no";
    if (kept.beyond <= 0) return base::ok();
    auto& missed = learned.state.constraints_missed;
    missed += fmt::format("{}criterion {}: {}, {:.4f} beyond the tolerance (persons held out)",
                          missed.empty() ? "" : "; ", in.recipe.criterion, kept.text, kept.beyond);
    figures[std::string(kMissedConstraints)] = missed;
    return base::ok();
}

/// Search for the parameters of the next link.
struct LinkSearch {
    const CandidateInputs& in;
    const std::vector<model::Link>& links;  // before the new one
    const ScoreMap& map;
    const postprocessing::Setting& setting;
    const model::Ensemble& ensemble;  // the new link's
    LinkParameters begin;
    const RuleFit* rule;  // rule on the ensemble's scores; nullptr: none
};

Result<SearchedParameters> search(const LinkSearch& next) {
    const model::Policy& champion = next.in.champion;
    const Recipe& recipe = next.in.recipe;
    // a few values need no ensembles of their own: the persons held out of the fit are enough
    const bool grid = recipe.selection == Selection::kGrid;
    const DevelopmentSet& all = next.in.development;
    std::vector<size_t> place;  // index of each row that is searched over
    for (size_t i = 0; i < all.rows.size(); ++i)
        if (!grid || is_held_out(all.rows[i], recipe)) place.push_back(i);
    const auto held =
        part_of(all, [&](size_t i) { return grid && is_held_out(all.rows[i], recipe); });
    const DevelopmentSet& development = grid ? held : all;
    std::vector<double> p;
    if (grid) {
        p = probabilities_of(development, next.ensemble);
    } else {
        RAMPART_TRY(p, out_of_fold_probabilities(development, recipe, next.map,
                                                 {next.in.pool, next.in.host}));
    }
    std::optional<RuleFit> cross_fitted;
    if (next.rule != nullptr && !grid) {
        RAMPART_TRY(cross_fitted, RuleFit::create(rule_inputs(next.in, next.setting, p, true)));
    }
    const RuleFit* rule = cross_fitted ? &*cross_fitted : next.rule;
    SearchRows rows;
    for (const double one : p) rows.score.push_back(next.map.value(one));
    rows.reference = approvals_of(development, champion);
    RAMPART_TRY(const auto before,
                model::Policy::create(development.schema, next.links, champion.group_names(), {}));
    rows.before = approvals_of(development, before);
    SearchInputs inputs{.development = development,
                        .rows = rows,
                        .champion = champion,
                        .begin = next.begin,
                        .exploration = recipe.exploration.mode,
                        .gate = *next.in.gate,
                        .limits = {static_cast<size_t>(recipe.selection_evaluations),
                                   recipe.selection_power, recipe.seed}};
    if (rule != nullptr)
        inputs.rule = [&](double gamma) -> Result<std::vector<double>> {
            RAMPART_TRY(const auto folds, rule->fit_folds(gamma));
            const auto values = rule->values(folds);
            std::vector<double> out;
            for (const size_t i : place) out.push_back(values[i]);
            return out;
        };
    return grid ? search_grid(inputs) : search_parameters(inputs);
}

/// Returns the parameters that the search finds or, where nothing can be predicted, the recipe's;
/// notes in `figures` which.
Result<LinkParameters> selected_parameters(const CandidateInputs& in,
                                           const std::vector<model::Link>& links,
                                           const ScoreMap& map,
                                           const postprocessing::Setting& setting,
                                           const learning::Learned& learned, const RuleFit* rule,
                                           std::map<std::string, std::string>& figures) {
    const Recipe& recipe = in.recipe;
    const bool probability = gives_probability(recipe);
    const LinkParameters begin{probability ? setting.threshold : 0, gamma_of(recipe),
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
    const auto found = search({in, links, map, setting, learned.link.ensemble, begin, rule});
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
    const auto post = chosen_postprocessor(in.recipe);
    std::map<std::string, std::string> provenance{
        {"learner", in.recipe.learner},
        {"parameters", parameters},
        {"criterion", in.recipe.criterion},
        {"postprocess", post ? post->values.canonical() : std::string()},
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
        for (size_t j = 0; j < row.size(); ++j) data.columns[j].push_back(development.learnt(i, j));
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
    if (in.recipe.search) return make_by_search(in);
    const DevelopmentSet& development = in.development;
    const Recipe& recipe = in.recipe;
    std::map<std::string, std::string> figures;
    RAMPART_TRY(const ScoreMap map, score_map(development, in.impact));
    RAMPART_RETURN_IF_ERROR(validate(recipe));
    RAMPART_TRY(auto learned,
                fit(development, recipe, map, {in.pool, in.host}, figures, starting_point(in)));
    RAMPART_TRY(auto before, links_before(development, in.champion, recipe, in.pool));
    auto& links = before.links;
    figures["distilled"] = before.distilled ? "yes" : "no";
    if (recipe.label == Label::kImpact)
        figures["label"] =
            fmt::format("impact, {} to {} {}", in.impact.lo, in.impact.hi, in.impact.units);
    RAMPART_TRY(const auto chosen, chosen_at(recipe, map));
    RAMPART_TRY(const auto setting, setting_of(map, learned, recipe));
    RAMPART_TRY(const auto rule, rule_of(in, setting, learned));
    RAMPART_TRY(const auto parameters, selected_parameters(in, links, map, setting, learned,
                                                           rule ? &*rule : nullptr, figures));
    const bool probability = gives_probability(recipe);
    auto& link = learned.link;
    link.exploration = {recipe.exploration.mode, parameters.epsilon};
    link.kappa = parameters.kappa;
    link.exploit_chain = true;
    if (probability) {  // other outputs decide by their own rule
        link.score_slope = map.slope;
        link.score_intercept = map.intercept;
        link.ramp = {parameters.gamma, 0.5, {parameters.threshold}, {1.0}};
    }
    FoldRules folds;
    if (rule) {
        RAMPART_TRY(folds, rule->fit_folds(parameters.gamma));
        RAMPART_RETURN_IF_ERROR(put_rule(in, *rule, folds, parameters, learned, figures));
    }
    RAMPART_RETURN_IF_ERROR(check_not_retired(link, development));
    const bool aware = link.group_aware();
    links.emplace_back(std::move(link));
    const auto missed = learned.state.constraints_missed;
    RAMPART_TRY(
        auto policy,
        model::Policy::create(development.schema, std::move(links),
                              aware ? development.cell_names : std::vector<std::string>{},
                              provenance_of(in, learning::effective_text(chosen.options), figures),
                              state_of(in, std::move(learned.state))));
    RAMPART_RETURN_IF_ERROR(
        judge_constraints(in, chosen, {policy, rule ? &*rule : nullptr, folds, missed}, figures));
    return Candidate{std::move(policy), std::move(figures), before.distilled};
}

}  // namespace rampart::training
