#include "mirror.hpp"

#include <algorithm>

#include "measure.hpp"

namespace rampart::certification {
namespace {

GroupPlan mirrored(GroupPlan group) {
    const double lo = group.lo;
    group.lo = -group.hi;
    group.hi = -lo;
    group.q_approve = -group.q_approve;
    group.q_decline = -group.q_decline;
    group.q_refer = -group.q_refer;
    return group;
}

}  // namespace

GateConfig mirrored(GateConfig config) {
    const double lo = config.impact_lo;
    config.impact_lo = -config.impact_hi;
    config.impact_hi = -lo;
    if (config.declined_impact) config.declined_impact = -*config.declined_impact;
    if (config.at_least) config.at_least = -*config.at_least;
    config.margin = -config.margin;
    return config;
}

base::Result<RunPlan> mirrored(const RunPlan& plan, const VaultSource& vault) {
    RunPlan out = plan;
    out.config = mirrored(plan.config);
    for (GroupPlan& group : out.groups) group = mirrored(group);
    if (const double records = plan.config.records_per_person; records > 0) {
        for (GroupPlan& group : out.groups) {
            const double least = widest_loss(out.config, group.against);
            group.lo = std::min(group.lo, records * std::min(least + out.config.margin, least));
        }
        return out;
    }
    VaultMeasure measure(out.config, vault.names(), out.groups);
    RAMPART_RETURN_IF_ERROR(measure.read(MirroredVault(vault)));
    for (size_t g = 0; g < out.groups.size(); ++g) measure.group(g).finish(out.groups[g]);
    return out;
}

base::Status MirroredVault::read(const See& see) const {
    return vault_->read([&](std::span<const VaultRecord> block) {
        std::vector<VaultRecord> copy(block.begin(), block.end());
        for (VaultRecord& record : copy) {
            record.impact = -record.impact;
            if (auto& own = record.control_variates) *own = {-own->approve, -own->decline};
        }
        return see(copy);
    });
}

}  // namespace rampart::certification
