#include "rampart/attribution/probability.hpp"

#include <bit>

#include "rampart/decision/reasons.hpp"

namespace rampart::attribution {
namespace {

bool same_bits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// P of many rows by a policy that is laid out for them.
struct Outputs {
    const model::BatchPolicy& batch;
    size_t width;
    std::optional<size_t> group;
    bool explores;

    void of_rows(std::span<const float> rows, std::span<double> out) const {
        std::vector<model::PolicyOutput> outputs(out.size());
        const std::vector<size_t> groups(group ? out.size() : 0, group.value_or(0));
        batch.evaluate(model::TableView::row_major(rows, width), groups, outputs);
        take(outputs, out);
    }
    void of_between(const model::TwoRows& two, std::span<double> out) const {
        std::vector<model::PolicyOutput> outputs(out.size());
        batch.evaluate_between(two, group, outputs);
        take(outputs, out);
    }
    void take(const std::vector<model::PolicyOutput>& outputs, std::span<double> out) const {
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = explores ? outputs[i].approve : outputs[i].exploit;
    }
};

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

std::vector<double> Probability::between(const model::TwoRows& two) const {
    if (!of_between_) return of(two.rows(), two.row.size());
    std::vector<double> out(two.count());
    of_between_(two, out);
    return out;
}

Probability served_probability(const ServedPolicy& served, std::optional<size_t> group,
                               bool explores) {
    const auto of_row = [&policy = served.policy, group, explores](std::span<const float> row) {
        const auto output = policy.evaluate(row, group);
        return explores ? output.approve : output.exploit;
    };
    if (served.batch == nullptr) return of_row;
    const Outputs outputs{*served.batch, served.policy.schema().size(),
                          served.policy.group_aware() ? group : std::nullopt, explores};
    return {of_row,
            [outputs](std::span<const float> rows, std::span<double> out) {
                outputs.of_rows(rows, out);
            },
            [outputs](const model::TwoRows& two, std::span<double> out) {
                outputs.of_between(two, out);
            }};
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
