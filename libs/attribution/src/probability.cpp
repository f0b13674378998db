#include "rampart/attribution/probability.hpp"

#include <bit>

#include "rampart/decision/reasons.hpp"

namespace rampart::attribution {
namespace {

bool same_bits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

}  // namespace

Probability served_probability(const model::Policy& policy, std::optional<size_t> group,
                               bool explores) {
    return [&policy, group, explores](std::span<const float> row) {
        const auto output = policy.evaluate(row, group);
        return explores ? output.approve : output.exploit;
    };
}

base::Result<Probability> probability_of(const domain::Decision& decision,
                                         const model::Policy& policy, std::span<const float> row,
                                         std::optional<size_t> group) {
    if (policy.group_aware() && (!group || *group >= policy.group_names().size()))
        return base::make_error(decision::Reason::kGroupUnknown,
                                "decision {}: its policy reads the applicant's group, which is "
                                "not known",
                                decision.id);
    // earlier releases did not record whether exploration was spent
    const auto output = policy.evaluate(row, group);
    const bool explores =
        !decision.exploration_spent && same_bits(decision.p_approve, output.approve);
    const double p = explores ? output.approve : output.exploit;
    if (!same_bits(p, decision.p_approve))
        return base::make_error(decision::Reason::kReplayMismatch,
                                "decision {}: P(approve) is recorded as {} and the policy gives {}",
                                decision.id, decision.p_approve, p);
    return served_probability(policy, group, explores);
}

}  // namespace rampart::attribution
