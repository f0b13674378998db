// Challengers of the node that trains: what people start and end.
#include "rampart/registry/reasons.hpp"
#include "services/rampartd/loop.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

/// Puts the champion in front, with the share that is left, where it has no arm.
Result<domain::Assignment> with_champion(const registry::ModelRegistry& registry,
                                         domain::Assignment assignment) {
    const auto champion = registry.champion();
    if (!champion)
        return base::make_error(registry::Reason::kNoChampion, "the registry has no champion");
    double rest = 1;
    for (const auto& [policy, share] : assignment.arms) {
        if (policy == champion->policy) return assignment;
        rest -= share;
    }
    assignment.arms.insert(assignment.arms.begin(), {champion->policy, rest});
    return assignment;
}

}  // namespace

Result<Loop::Started> Loop::start_assignment(domain::Assignment assignment, std::string_view actor,
                                             std::string_view reason) {
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());  // else nothing says whether a certificate holds
    auto& registry = deps_.stores.registry();
    const auto& training = deps_.settings.training;
    const auto current = deps_.keys.signing.public_key();
    const auto now = deps_.clock.now();
    RAMPART_TRY(assignment, with_champion(registry, std::move(assignment)));
    if (training.on_certified == retraining::OnCertified::kPropose)
        return registry
            .propose_challenger(std::move(assignment), training.terms, current, now, actor)
            .map([](auto&& made) { return Started(std::move(made)); });
    RAMPART_TRY(auto period,
                registry.start_assignment(std::move(assignment), current, now, actor, reason));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    return Started(std::move(period));
}

Result<registry::AssignmentPeriod> Loop::end_assignment(const std::string& id,
                                                        std::string_view actor,
                                                        std::string_view reason) {
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_TRY(auto period,
                deps_.stores.registry().end_assignment(deps_.clock.now(), actor, id, reason));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    return period;
}

}  // namespace rampart::rampartd
