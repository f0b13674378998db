#include "option_search.hpp"

#include <fmt/format.h>

#include "next_link.hpp"
#include "rule_fit.hpp"

namespace rampart::training {
namespace {

using base::Result;

/// Returns what a search of the recipe learns from and values. The table must outlive it.
tuning::ValuationInputs inputs_of(const CandidateInputs& in, const ScoreMap& map,
                                  const ChosenLearner& chosen, const ChosenPostprocessor& post,
                                  const training_set::TrainingTable& table,
                                  const dataset::Dataset& rows) {
    tuning::ValuationInputs out{.rows = rows,
                                .persons = {},
                                .learner = chosen.learner,
                                .options = chosen.options,
                                .postprocessor = post.postprocessor,
                                .postprocess = post.values,
                                .validation = in.recipe.validation_fraction,
                                .slope = map.slope,
                                .intercept = map.intercept,
                                .attributes = attributes_in(in.development.cell_names),
                                .seed = in.recipe.seed};
    if (in.host != nullptr) out.stopped = in.host->stopped;
    for (const uint32_t row : table.rows) {
        const auto& of = in.development.rows[row];
        if (!is_held_out(of, in.recipe)) out.persons.push_back(of.person.value());
    }
    return out;
}

/// Puts the table of the search into the figures. Seconds are in it: it is for people, and part of
/// no digest.
void note_search(const tuning::Valuation& valuation, const tuning::Found& found,
                 std::map<std::string, std::string>& figures) {
    figures["search"] = tuning::describe(valuation, found);
    for (size_t i = 0; i < found.trials.size(); ++i)
        figures[fmt::format("search.{:04}", i + 1)] =
            fmt::format("setting {}: {}", found.trials[i].setting,
                        describe(found.trials[i], valuation.resource(), valuation.score()));
}

}  // namespace

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

Result<Candidate> make_by_search(const CandidateInputs& in) {
    RAMPART_TRY(const ScoreMap map, score_map(in.development, in.impact));
    RAMPART_RETURN_IF_ERROR(validate(in.recipe));
    RAMPART_TRY(const auto chosen, chosen_at(in.recipe, map));
    RAMPART_TRY(const auto post, chosen_postprocessor(in.recipe));
    const auto can = chosen.learner->capabilities(chosen.options);
    const bool groups = can.groups || can.attributes || post.needs().groups;
    RAMPART_TRY(const auto table,
                training_set::to_dataset(
                    in.development, {in.recipe.ipw_cap, groups ? training_set::GroupBy::kCells
                                                               : training_set::GroupBy::kNone}));
    std::vector<uint32_t> learnt_from;
    for (uint32_t i = 0; i < table.rows.size(); ++i)
        if (!is_held_out(in.development.rows[table.rows[i]], in.recipe)) learnt_from.push_back(i);
    const auto rows = table.data.subset(learnt_from);
    const auto& plan = *in.recipe.search;
    const tuning::Valuation valuation(inputs_of(in, map, chosen, post, table, rows), plan);
    RAMPART_TRY(const auto found,
                tuning::search(valuation, in.host != nullptr ? *in.host : tuning::Host{}, in.pool));
    Recipe recipe = in.recipe;
    recipe.search.reset();
    recipe.options = chosen.options;
    recipe.postprocess = post.values;
    RAMPART_RETURN_IF_ERROR(tuning::apply(plan, found.setting, recipe.options, recipe.postprocess));
    RAMPART_TRY(auto candidate,
                make_candidate({in.development, in.impact, in.champion, in.champion_id, recipe,
                                in.pool, in.gate, in.host}));
    note_search(valuation, found, candidate.figures);
    return candidate;
}

}  // namespace rampart::training
