#include "starting_point.hpp"

#include "rampart/learning/reasons.hpp"

namespace rampart::training {
namespace {

/// Returns how many trees the learner has grown: those of P(group | features) are the rule's.
size_t trees_of(const model::LearnedLink& link) {
    size_t sum = link.ensemble.trees.size();
    for (const auto& other : link.additional_ensembles) sum += other.trees.size();
    return sum;
}

}  // namespace

StartingPoint starting_point(const CandidateInputs& in) {
    StartingPoint out;
    const Recipe& recipe = in.recipe;
    if (recipe.start != Start::kChampion) return out;
    const auto* link = std::get_if<model::LearnedLink>(&in.champion.links().back());
    if (!in.champion_settings || link == nullptr) {
        out.why_scratch = "the champion's last link is not of this service's training";
    } else if (*in.champion_settings != settings_digest(recipe)) {
        out.why_scratch =
            "the champion's last link was made by another recipe or other settings, so that it "
            "may have other options, and may have learnt from persons held out now";
    } else if (trees_of(*link) + static_cast<size_t>(recipe.more_trees) >
               static_cast<size_t>(recipe.most_trees)) {
        out.why_scratch = fmt::format(
            "the champion's last link has {} trees, and {} more are beyond most_trees "
            "= {}",
            trees_of(*link), recipe.more_trees, recipe.most_trees);
    } else {
        out.policy = &in.champion;
        out.id = in.champion_id;
        out.trees = trees_of(*link);
        out.more = recipe.more_trees;
    }
    return out;
}

base::Result<learning::Learned> fit_from(const StartingPoint& start, const ChosenLearner& chosen,
                                         learning::Task task,
                                         std::map<std::string, std::string>& figures) {
    auto why = start.why_scratch;
    if (start.policy != nullptr) {
        task.start = start.policy;
        auto options = chosen.options;
        RAMPART_RETURN_IF_ERROR(
            options.set("trees", static_cast<int64_t>(start.trees) + start.more));
        auto learned = learning::fit(*chosen.learner, task, options);
        if (!learned && !learned.error().is(learning::Reason::kCannotResume))
            return learned.error();
        if (learned) {
            const size_t trees = trees_of(learned->link);
            figures["started_from"] = start.id;
            figures["trees_of_start"] = fmt::format("{}", start.trees);
            figures["trees_added"] =
                fmt::format("{}", static_cast<int64_t>(trees) - static_cast<int64_t>(start.trees));
            return learned;
        }
        task.start = nullptr;
        why = learned.error().message;
    }
    if (!why.empty()) figures["started_from"] = fmt::format("scratch: {}", why);
    return learning::fit(*chosen.learner, task, chosen.options);
}

}  // namespace rampart::training
