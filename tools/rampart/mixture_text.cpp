#include "mixture_text.hpp"

#include <fmt/format.h>

namespace rampart::cli {

std::string mixture_text(const model::LearnedLink& link) {
    if (link.members.empty()) return {};
    const size_t ensembles = 1 + link.others.size();
    return fmt::format("a mixture of {} members over {} ensemble{} with {} trees",
                       link.members.size(), ensembles, ensembles == 1 ? "" : "s", link.trees());
}

std::string main_ensemble_note(const model::LearnedLink& link) {
    if (link.members.empty()) return {};
    return fmt::format(
        "the link is {}: this is about the score of its first ensemble, all {} trees of it, and "
        "not about the mean that decides",
        mixture_text(link), link.ensemble.trees.size());
}

}  // namespace rampart::cli
