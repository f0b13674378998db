#include "services/decision_service/champion.hpp"

#include "rampart/registry/model_registry.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using registry::ModelRegistry;

base::Status ChampionFollower::follow_stops(const ModelRegistry& registry) {
    serving::Stops stops;
    base::Status loaded;
    const auto on_record = registry.stops();
    for (const auto& stop : on_record) {
        if (stop.period.to) continue;
        if (stop.period.kind == domain::StopKind::kExplorationOff) stops.exploration = true;
        if (stop.period.kind == domain::StopKind::kReferAll) stops.refer = true;
        if (stop.period.kind != domain::StopKind::kRulesOnly) continue;
        if (rules_ == nullptr) {
            auto first = registry.load_model(registry.promotions().front().policy);
            if (first) {
                rules_ = std::make_shared<const model::LoadedPolicy>(*std::move(first));
            } else {
                loaded = first.error().with_context("the first policy, which rules-only needs");
            }
        }
        stops.rules = rules_;
        stops.deciding = rules_ == nullptr;  // nothing is decided
    }
    RAMPART_RETURN_IF_ERROR(service_.set_stops(stops));
    return loaded;
}

base::Status ChampionFollower::refresh() {
    RAMPART_TRY(const auto registry,
                ModelRegistry::open(registry_, ModelRegistry::Mode::kReadOnly));
    const auto champion = registry->champion();
    if (!champion) {
        return base::make_error(Reason::kNoChampion,
                                "{} has no champion yet; promote a policy there",
                                registry_.string());
    }
    RAMPART_RETURN_IF_ERROR(follow_stops(*registry));  // before another champion decides
    if (sequence_ == champion->sequence) return base::ok();
    RAMPART_TRY(auto loaded, registry->load_model(champion->policy));
    RAMPART_RETURN_IF_ERROR(service_.set_policy(
        std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified()));
    sequence_ = champion->sequence;
    return base::ok();
}

}  // namespace rampart::decision_service
