#include "services/decision_service/champion.hpp"

#include "rampart/registry/model_registry.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

base::Status ChampionFollower::refresh() {
    using registry::ModelRegistry;
    RAMPART_TRY(const auto registry,
                ModelRegistry::open(registry_, ModelRegistry::Mode::kReadOnly));
    const auto champion = registry->champion();
    if (!champion) {
        return base::make_error(Reason::kNoChampion,
                                "{} has no champion yet; promote a policy there",
                                registry_.string());
    }
    if (sequence_ == champion->sequence) return base::ok();
    RAMPART_TRY(auto loaded, registry->load_model(champion->policy));
    RAMPART_RETURN_IF_ERROR(service_.set_policy(
        std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified()));
    sequence_ = champion->sequence;
    return base::ok();
}

}  // namespace rampart::decision_service
