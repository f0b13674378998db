#include "services/rampartd/explain.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <queue>

#include "rampart/base/digest.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/decision_log/reasons.hpp"

namespace rampart::rampartd {

using attribution::Probability;
using attribution::ReferenceSet;
using base::Result;
using decision_log::DecisionIndex;
using domain::Decision;

/// The applicants with whom a policy's decisions of a month are compared.
struct Explainer::Pool {
    std::shared_ptr<const model::LoadedPolicy> loaded;
    std::string month;
    bool all = false;   // before the month there are too few: of all that are held
    uint64_t held = 0;  // then, as many as were held
    std::vector<domain::DecisionId> ids{};
    std::vector<float> rows{};  // [ids][features]

    using Key = std::pair<std::optional<size_t>, bool>;  // group, whether it explores
    std::mutex mutex{};
    std::map<Key, std::shared_ptr<const ReferenceSet>> sets{};

    /// Returns the rows without that of the decision itself.
    std::vector<float> others(const domain::DecisionId& own) const {
        auto out = rows;
        const auto it = std::find(ids.begin(), ids.end(), own);
        if (it == ids.end()) return out;
        const size_t width = loaded->policy.schema().size();
        const auto at = out.begin() + (it - ids.begin()) * static_cast<ptrdiff_t>(width);
        out.erase(at, at + static_cast<ptrdiff_t>(width));
        return out;
    }

    /// Returns the set by the P of a decision. What is of a month's pool is the same for all of the
    /// same group and exploration.
    Result<std::shared_ptr<const ReferenceSet>> set_for(const Decision& decision, const Key& key,
                                                        const Probability& p) {
        const auto choose = [&]() -> Result<std::shared_ptr<const ReferenceSet>> {
            RAMPART_TRY(auto chosen, attribution::choose_reference_set(p, loaded->policy.schema(),
                                                                       others(decision.id)));
            return std::make_shared<const ReferenceSet>(std::move(chosen));
        };
        if (all) return choose();
        {
            const std::lock_guard lock(mutex);
            if (const auto it = sets.find(key); it != sets.end()) return it->second;
        }
        RAMPART_TRY(auto chosen, choose());
        const std::lock_guard lock(mutex);
        return sets.emplace(key, std::move(chosen)).first->second;
    }
};

/// The applicants with the smallest numbers, those of the smallest first.
class Explainer::Drawing {
  public:
    /// `before`: of decisions made before it; nullopt: of all.
    Drawing(const model::LoadedPolicy& loaded, std::optional<base::TimePoint> before)
        : loaded_(loaded), before_(before) {}

    base::Status read(const DecisionIndex& index) {
        return index.visit_ids(
            [&](const auto& id, bool erased) { return erased ? base::ok() : take(index, id); });
    }
    size_t size() const { return drawn_.size(); }

    void put_into(Pool& pool) && {
        std::vector<Drawn> by_number;
        for (; !drawn_.empty(); drawn_.pop()) by_number.push_back(drawn_.top());
        std::reverse(by_number.begin(), by_number.end());
        for (auto& one : by_number) {
            pool.ids.push_back(std::move(one.id));
            pool.rows.insert(pool.rows.end(), one.row.begin(), one.row.end());
        }
    }

  private:
    struct Drawn {
        double number;
        domain::DecisionId id;
        std::vector<float> row;
        bool operator<(const Drawn& other) const { return number < other.number; }
    };

    base::Status take(const DecisionIndex& index, const domain::DecisionId& id) {
        const double number = base::keyed_uniform(loaded_.id.value(), id.value());
        const bool full = drawn_.size() == attribution::kReferencePool;
        if (full && number >= drawn_.top().number) return base::ok();
        const auto other = index.find(id);
        if (!other)  // it may have been erased meanwhile
            return other.error().is(decision_log::Reason::kErased) ? base::ok()
                                                                   : base::Status(other.error());
        if (!*other || (before_ && (*other)->decided_at >= *before_)) return base::ok();
        auto row = decision::encode_row((*other)->application, loaded_.policy.schema());
        if (!row) return base::ok();  // it has another schema
        if (full) drawn_.pop();
        drawn_.push({number, id, *std::move(row)});
        return base::ok();
    }

    const model::LoadedPolicy& loaded_;
    const std::optional<base::TimePoint> before_;
    std::priority_queue<Drawn> drawn_;
};

Explainer::~Explainer() = default;

std::vector<DecisionIndex*> Explainer::indices() const {
    std::vector<DecisionIndex*> out;
    for (const auto& view : deps_.decisions.partitions())
        if (auto* index = deps_.decisions.index_of(view.partition)) out.push_back(index);
    return out;
}

uint64_t Explainer::held() const {
    uint64_t held = 0;
    for (const auto* index : indices()) held += index->counts().decisions;
    return held;
}

void Explainer::forget() {
    const std::lock_guard lock(mutex_);
    pools_.clear();
    ++forgotten_;
}

/// `before`: a pool of the same policy, whose model need not be read again; nullptr: none.
Result<std::shared_ptr<Explainer::Pool>> Explainer::read_pool(const Decision& decision,
                                                              const std::string& month,
                                                              const std::shared_ptr<Pool>& before) {
    const auto pool = std::make_shared<Pool>();
    pool->month = month;
    if (before) {
        pool->loaded = before->loaded;
    } else {
        RAMPART_TRY(auto loaded, deps_.registry.load_model(decision.policy));
        pool->loaded = std::make_shared<const model::LoadedPolicy>(std::move(loaded));
    }
    // once too few, always too few
    if (!before || before->month != month || !before->all) {
        RAMPART_TRY(const auto begin, base::parse_iso8601(month + "-01"));
        Drawing drawing(*pool->loaded, begin);
        for (const auto* index : indices()) RAMPART_RETURN_IF_ERROR(drawing.read(*index));
        if (drawing.size() >= kFewDecisions) {
            std::move(drawing).put_into(*pool);
            return pool;
        }
    }
    pool->all = true;
    pool->held = held();
    Drawing drawing(*pool->loaded, std::nullopt);
    for (const auto* index : indices()) RAMPART_RETURN_IF_ERROR(drawing.read(*index));
    std::move(drawing).put_into(*pool);
    return pool;
}

Result<std::shared_ptr<Explainer::Pool>> Explainer::pool_for(const Decision& decision) {
    const auto month = base::month_of(decision.decided_at);
    std::shared_ptr<Pool> known;
    uint64_t forgotten = 0;
    {
        const std::lock_guard lock(mutex_);
        forgotten = forgotten_;
        const auto of_policy = [&](const auto& pool) {
            return pool->loaded->id == decision.policy;
        };
        auto it = std::find_if(pools_.begin(), pools_.end(), [&](const auto& pool) {
            return of_policy(pool) && pool->month == month;
        });
        if (it == pools_.end()) it = std::find_if(pools_.begin(), pools_.end(), of_policy);
        if (it != pools_.end()) known = *it;
    }
    const bool of_month = known && known->month == month;
    if (of_month && (!known->all || held() < 2 * std::max<uint64_t>(known->held, 1))) return known;
    RAMPART_TRY(auto pool, read_pool(decision, month, known));
    const std::lock_guard lock(mutex_);
    if (forgotten != forgotten_) return pool;  // it may have who was erased since
    if (of_month) std::erase(pools_, known);
    pools_.insert(pools_.begin(), pool);
    if (pools_.size() > kMostPools) pools_.pop_back();
    return pool;
}

Result<DecisionExplanation> Explainer::explain(Decision decision,
                                               std::span<const attribution::FeatureGroup> groups) {
    RAMPART_TRY(const auto pool, pool_for(decision));
    const auto& policy = pool->loaded->policy;
    const auto& schema = policy.schema();
    DecisionExplanation out;
    out.decision = std::move(decision);
    out.features = schema.features();
    std::optional<size_t> group;
    if (policy.group_aware()) {
        RAMPART_TRY(const auto membership,
                    deps_.attributes.membership_at(out.decision.application.person,
                                                   out.decision.decided_at));
        if (membership.cell) group = static_cast<size_t>(*membership.cell);
    }
    RAMPART_TRY(out.row, decision::encode_row(out.decision.application, schema));
    RAMPART_TRY(const auto p, attribution::probability_of(out.decision, policy, out.row, group));
    out.group_read = group.has_value();
    RAMPART_TRY(out.steps, attribution::waterfall(policy, out.row, group));
    RAMPART_TRY(out.units, attribution::units_of(policy, groups));
    // as probability_of() has it: P with exploration
    const bool explores = !out.decision.exploration_spent &&
                          std::bit_cast<uint64_t>(policy.evaluate(out.row, group).approve) ==
                              std::bit_cast<uint64_t>(out.decision.p_approve);
    RAMPART_TRY(const auto set, pool->set_for(out.decision, {group, explores}, p));
    out.reference = *set;
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
