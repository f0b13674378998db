// Challengers of the node that trains: what people start and end.
#include "rampart/registry/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "services/rampartd/loop.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;

namespace {

constexpr std::string_view kProposeChallenger = "propose_challenger";  // action of the audit log

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

/// Checks what the service will of each challenger, before the start is on record: that the file is
/// there and undamaged, that it reads no group where the service may not, and that its features are
/// those that are served.
Status check_decides(const registry::ModelRegistry& registry, const Settings& settings,
                     const domain::Assignment& assignment) {
    for (size_t i = 1; i < assignment.arms.size(); ++i) {
        const auto& name = assignment.arms[i].policy;
        RAMPART_TRY(const auto loaded, registry.load_model(name));
        if (loaded.policy.group_aware() && !settings.training.group_aware)
            return base::make_error(serving::Reason::kGroupBlindService,
                                    "challenger {} reads the applicant's group, and "
                                    "decision.protected_attributes is group_blind here",
                                    name);
        if (settings.schema.features().size() == 0) continue;
        const auto fits = settings.schema.check_grown_from(loaded.policy.schema());
        if (!fits) return fits.error().with_context(fmt::format("challenger {}", name));
    }
    return base::ok();
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
    RAMPART_RETURN_IF_ERROR(check_decides(registry, deps_.settings, assignment));
    if (training.on_certified == retraining::OnCertified::kPropose) {
        RAMPART_TRY(auto made, registry.propose_challenger(std::move(assignment), training.terms,
                                                           current, now, actor));
        RAMPART_RETURN_IF_ERROR(registry.record_operation(
            now, actor, kProposeChallenger,
            {{"assignment", made.assignment},
             {std::string(registry::ProposalLog::kNumber), std::to_string(made.number)},
             {"reason", std::string(reason)}}));
        return Started(std::move(made));
    }
    RAMPART_TRY(auto period,
                registry.start_assignment(std::move(assignment), current, now, actor, reason));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    RAMPART_RETURN_IF_ERROR(deps_.champion.check());  // it decides when this returns
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
