#include "frame/mixture_text.hpp"

#include <fmt/format.h>

namespace rampart::cli {

std::string mixture_text(const model::LearnedLink& link) {
    if (link.members.empty()) return {};
    const size_t ensembles = 1 + link.additional_ensembles.size();
    auto text =
        fmt::format("a mixture of {} members over {} ensemble{} with {} trees", link.members.size(),
                    ensembles, ensembles == 1 ? "" : "s", link.trees());
    if (!link.linears.empty())
        text += fmt::format(" and {} linear model{}", link.linears.size(),
                            link.linears.size() == 1 ? "" : "s");
    return text;
}

std::string score_text(const model::LearnedLink& link) {
    std::string text;
    if (link.scale.kind == model::ScoreScale::Kind::kUnit)
        return link.scale.levels == 0 ? std::string("on the unit scale")
                                      : fmt::format("on the unit scale, one of {} levels, drawn",
                                                    link.scale.levels + 1);
    if (!link.calibrations.empty())
        text = link.calibrations.size() > 1 ? "calibrated by group" : "calibrated";
    if (!link.adjustments.empty())
        text += fmt::format("{}less what the features tell of the group", text.empty() ? "" : ", ");
    return text;
}

std::string main_ensemble_note(const model::LearnedLink& link) {
    const bool unit = link.scale.kind == model::ScoreScale::Kind::kUnit;
    if (const auto score = score_text(link); !score.empty() && !unit)
        return fmt::format("the link's score is {}: this is about the score before that", score);
    if (link.members.empty()) return {};
    return fmt::format(
        "the link is {}: this is about the score of its first ensemble, all {} trees of it, and "
        "not about the mean that decides",
        mixture_text(link), link.ensemble.trees.size());
}

}  // namespace rampart::cli
