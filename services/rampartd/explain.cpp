#include "services/rampartd/explain.hpp"

#include <queue>

#include "rampart/base/digest.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/serving/reasons.hpp"

namespace rampart::rampartd {
namespace {

using base::Result;
using decision_log::DecisionIndex;
using domain::Decision;

std::vector<DecisionIndex*> indices_of(Node& node) {
    std::vector<DecisionIndex*> indices;
    for (const auto& view : node.decisions().partitions())
        if (auto* index = node.decisions().index_of(view.partition)) indices.push_back(index);
    return indices;
}

Result<Decision> find(Node& node, const std::string& id) {
    for (auto* index : indices_of(node)) {
        RAMPART_TRY(auto decision, index->find(domain::DecisionId(id)));
        if (decision) return *std::move(decision);
    }
    return base::make_error(serving::Reason::kUnknownDecision, "no decision '{}' is held here", id);
}

/// The other applicants with the smallest numbers, those of the smallest first.
class Pool {
  public:
    Pool(const Decision& decision, const dataset::FeatureSchema& schema, bool later)
        : decision_(decision), schema_(schema), later_(later) {}

    base::Status read(const DecisionIndex& index) {
        return index.visit_ids([&](const auto& id, bool erased) {
            return erased || id == decision_.id ? base::ok() : take(index, id);
        });
    }
    size_t size() const { return drawn_.size(); }

    /// Returns the rows, [size()][features].
    std::vector<float> rows() && {
        std::vector<std::vector<float>> by_number(drawn_.size());
        for (size_t i = by_number.size(); i > 0; drawn_.pop()) by_number[--i] = drawn_.top().row;
        std::vector<float> out;
        for (const auto& row : by_number) out.insert(out.end(), row.begin(), row.end());
        return out;
    }

  private:
    struct Drawn {
        double number;
        std::vector<float> row;
        bool operator<(const Drawn& other) const { return number < other.number; }
    };

    base::Status take(const DecisionIndex& index, const domain::DecisionId& id) {
        const double number = base::keyed_uniform(decision_.policy.value(), id.value());
        const bool full = drawn_.size() == attribution::kReferencePool;
        if (full && number >= drawn_.top().number) return base::ok();
        RAMPART_TRY(const auto other, index.find(id));
        if (!other || (!later_ && other->decided_at > decision_.decided_at)) return base::ok();
        auto row = decision::encode_row(other->application, schema_);
        if (!row) return base::ok();  // it has another schema
        if (full) drawn_.pop();
        drawn_.push({number, *std::move(row)});
        return base::ok();
    }

    const Decision& decision_;
    const dataset::FeatureSchema& schema_;
    const bool later_;
    std::priority_queue<Drawn> drawn_;
};

Result<std::vector<float>> pool_for(Node& node, const Decision& decision,
                                    const dataset::FeatureSchema& schema) {
    for (const bool later : {false, true}) {
        Pool pool(decision, schema, later);
        for (auto* index : indices_of(node)) RAMPART_RETURN_IF_ERROR(pool.read(*index));
        if (later || pool.size() >= kFewDecisions) return std::move(pool).rows();
    }
    return std::vector<float>();
}

}  // namespace

Result<DecisionExplanation> explain_decision(Node& node, const std::string& id,
                                             std::span<const attribution::FeatureGroup> groups) {
    RAMPART_TRY(auto decision, find(node, id));
    RAMPART_TRY(const auto loaded, node.registry().load_model(decision.policy));
    const auto& policy = loaded.policy;
    const auto& schema = policy.schema();
    DecisionExplanation out;
    out.decision = std::move(decision);
    out.features = schema.features();
    std::optional<size_t> group;
    if (policy.group_aware()) {
        RAMPART_TRY(const auto membership,
                    node.attributes().membership_at(out.decision.application.person,
                                                    out.decision.decided_at));
        if (membership.cell) group = static_cast<size_t>(*membership.cell);
    }
    RAMPART_TRY(out.row, decision::encode_row(out.decision.application, schema));
    RAMPART_TRY(const auto p, attribution::probability_of(out.decision, policy, out.row, group));
    out.group_read = group.has_value();
    RAMPART_TRY(out.steps, attribution::waterfall(policy, out.row, group));
    RAMPART_TRY(out.units, attribution::units_of(policy, groups));
    RAMPART_TRY(const auto pool, pool_for(node, out.decision, schema));
    RAMPART_TRY(out.reference, attribution::choose_reference_set(p, schema, pool));
    const auto nearest = out.reference.row(attribution::nearest(out.reference, schema, out.row));
    out.nearest.assign(nearest.begin(), nearest.end());
    out.nearest_digest = attribution::digest_of_rows(schema, out.nearest);
    out.values = attribution::shapley_values(p, out.row, out.reference, out.units, 0);
    if (out.decision.action == domain::Action::kDecline)
        out.cited = attribution::cited_reasons(p, out.row, out.nearest, out.units, out.values,
                                               out.decision.p_exploit, out.decision.draw);
    return out;
}

}  // namespace rampart::rampartd
