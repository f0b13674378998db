#include "rampart/attribution/waterfall.hpp"

#include <algorithm>

namespace rampart::attribution {
namespace {

using model::LearnedLink;
using model::Link;

/// Evaluates a policy of some of the links.
base::Result<model::PolicyOutput> evaluated(const model::Policy& policy, std::vector<Link> links,
                                            std::span<const float> row,
                                            std::optional<size_t> group) {
    const bool aware = std::any_of(links.begin(), links.end(), [](const Link& link) {
        const auto* learned = std::get_if<LearnedLink>(&link);
        return learned != nullptr && learned->group_aware();
    });
    RAMPART_TRY(
        const auto part,
        model::Policy::create(policy.schema(), std::move(links),
                              aware ? policy.group_names() : std::vector<std::string>(), {}));
    return part.evaluate(row, group);
}

}  // namespace

base::Result<std::vector<LinkStep>> waterfall(const model::Policy& policy,
                                              std::span<const float> row,
                                              std::optional<size_t> group) {
    std::vector<LinkStep> steps;
    std::vector<Link> before;
    for (const auto& link : policy.links()) {
        LinkStep step{.link = steps.size() + 1};
        // alone it is a first link, which has no trust region
        RAMPART_TRY(const auto alone, evaluated(policy, {link}, row, group));
        step.score = alone.score;
        step.rule = alone.exploit;
        step.explored = alone.approve;
        const auto* learned = std::get_if<LearnedLink>(&link);
        step.bootstrap = learned == nullptr;
        step.reads_group = learned != nullptr && learned->group_aware();
        if (learned != nullptr && !steps.empty()) {
            const double s = steps.back().approve;
            const double reach = learned->kappa * std::min(s, 1 - s);
            step.lo = std::max(0.0, s - reach);
            step.hi = std::min(1.0, s + reach);
        }
        before.push_back(link);
        RAMPART_TRY(const auto after, evaluated(policy, before, row, group));
        step.approve = after.approve;
        step.exploit = after.exploit;
        steps.push_back(step);
    }
    return steps;
}

}  // namespace rampart::attribution
