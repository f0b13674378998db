#include "rampart/attribution/probability.hpp"

#include <bit>

#include "rampart/decision/reasons.hpp"

namespace rampart::attribution {
namespace {

bool same_bits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

}  // namespace

std::vector<double> Probability::of(std::span<const float> rows, size_t width) const {
    std::vector<double> out(rows.size() / width);
    if (of_rows_) {
        of_rows_(rows, out);
        return out;
    }
    for (size_t i = 0; i < out.size(); ++i) out[i] = of_row_(rows.subspan(i * width, width));
    return out;
}

Probability served_probability(const ServedPolicy& served, std::optional<size_t> group,
                               bool explores) {
    const auto of_row = [&policy = served.policy, group, explores](std::span<const float> row) {
        const auto output = policy.evaluate(row, group);
        return explores ? output.approve : output.exploit;
    };
    if (served.batch == nullptr) return of_row;
    const size_t width = served.policy.schema().size();
    const auto kept = served.policy.group_aware() ? group : std::nullopt;
    const auto of_rows = [batch = served.batch, width, kept, explores](std::span<const float> rows,
                                                                       std::span<double> out) {
        std::vector<model::PolicyOutput> outputs(out.size());
        const std::vector<size_t> groups(kept ? out.size() : 0, kept.value_or(0));
        batch->evaluate(model::TableView::row_major(rows, width), groups, outputs);
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = explores ? outputs[i].approve : outputs[i].exploit;
    };
    return {of_row, of_rows};
}

base::Result<Probability> probability_of(const domain::Decision& decision,
                                         const ServedPolicy& served, std::span<const float> row,
                                         std::optional<size_t> group) {
    const auto& policy = served.policy;
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
    return served_probability(served, group, explores);
}

}  // namespace rampart::attribution
