#include "starting_point.hpp"

#include <algorithm>
#include <charconv>

#include "development_rows.hpp"
#include "link_features.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/training/reasons.hpp"
#include "rule_fit.hpp"

namespace rampart::training {
namespace {

constexpr std::string_view kBySeed = " by seed ";

/// Returns the number that is the whole text.
template <class T>
std::optional<T> number_of(std::string_view text) {
    T value{};
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

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
    } else if (const auto retired = retired_feature_read(*link, in.development); !retired.empty()) {
        out.why_scratch = fmt::format(
            "the champion's last link reads the feature '{}', which is retired since", retired);
    } else {
        out.policy = &in.champion;
        out.id = in.champion_id;
        out.trees = trees_of(*link);
        out.more = recipe.more_trees;
        out.held_out = fmt::format("{}{}{}", recipe.validation_fraction, kBySeed,
                                   recipe.split_seed.value_or(recipe.seed));
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
            figures[kHeldOutOfStart] = start.held_out;
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

base::Result<std::optional<training_set::DevelopmentSet>> rows_held_out_of_start(
    const training_set::DevelopmentSet& development, std::string_view figure) {
    std::optional<training_set::DevelopmentSet> out;
    if (figure.empty()) return out;
    const size_t at = std::min(figure.find(kBySeed), figure.size());
    const auto share = number_of<double>(figure.substr(0, at));
    const auto seed = at == figure.size() ? std::nullopt
                                          : number_of<uint64_t>(figure.substr(at + kBySeed.size()));
    if (!share || !seed)
        return base::make_error(Reason::kBadHeldOut, "{} is '{}', not like '0.2{}11'",
                                kHeldOutOfStart, figure, kBySeed);
    Recipe recipe;
    recipe.validation_fraction = *share;
    recipe.split_seed = *seed;
    out = part_of(development, [&](size_t i) { return is_held_out(development.rows[i], recipe); });
    return out;
}

}  // namespace rampart::training
