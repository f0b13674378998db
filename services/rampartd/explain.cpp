#include "services/rampartd/explain.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <queue>

#include "rampart/attribution/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::rampartd {

using attribution::Probability;
using attribution::ReferenceSet;
using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using domain::Decision;

namespace {

constexpr uint64_t kManyHeld = 10'000;                 // decisions that take a while to look at
constexpr auto kReadAgain = std::chrono::seconds(60);  // those, where the pool may have doubled

/// Fails where people were to decide about all, whatever the policy said.
Status check_drawn(const Decision& decision) {
    if (decision.p_refer < 1) return base::ok();
    return base::make_error(attribution::Reason::kReferredToPeople,
                            "decision {}: people were to decide about all at that time (the stop "
                            "refer-all), so its P(approve) is 0 whatever the applicant's features",
                            decision.id);
}

}  // namespace

/// The applicants with whom a policy's decisions of a month are compared.
struct Explainer::Pool {
    std::shared_ptr<const model::LoadedPolicy> loaded;
    std::shared_ptr<const model::BatchPolicy> batch;  // `loaded`, laid out for many rows
    std::string month;
    bool all = false;   // before the month there are too few: of all that are held
    uint64_t held = 0;  // then, as many as were held
    const std::chrono::steady_clock::time_point read_at = std::chrono::steady_clock::now();
    std::vector<domain::PersonId> persons{};
    std::vector<float> rows{};  // [persons][features]

    using Key = std::pair<std::optional<size_t>, bool>;  // group, whether it explores
    std::mutex mutex{};
    std::map<Key, std::shared_ptr<const ReferenceSet>> sets{};

    /// Returns the rows of other persons.
    std::vector<float> others(const domain::PersonId& own) const {
        const size_t width = loaded->policy.schema().size();
        std::vector<float> out;
        out.reserve(rows.size());
        for (size_t i = 0; i < persons.size(); ++i) {
            const auto row = std::span(rows).subspan(i * width, width);
            if (persons[i] != own) out.insert(out.end(), row.begin(), row.end());
        }
        return out;
    }
    /// Returns whether it is as good as one read anew, where so many are held by now; or nearly,
    /// and to read all of them again so soon would cost too much.
    bool lasts(uint64_t held_now) const {
        if (!all) return true;
        const uint64_t doubled = persons.size() < 2 * kLeastPool                ? 1
                                 : persons.size() < attribution::kReferencePool ? persons.size()
                                                                                : held;
        if (held_now >= held && held_now - held < doubled) return true;
        return held >= kManyHeld && std::chrono::steady_clock::now() - read_at < kReadAgain;
    }
    bool has(const domain::PersonId& person) const {
        return std::find(persons.begin(), persons.end(), person) != persons.end();
    }

    /// Returns the set by the P of a decision. What is of a month's pool is the same for all of the
    /// same group and exploration.
    Result<std::shared_ptr<const ReferenceSet>> set_for(const Decision& decision, const Key& key,
                                                        const Probability& p) {
        const auto choose = [&]() -> Result<std::shared_ptr<const ReferenceSet>> {
            RAMPART_TRY(auto chosen,
                        attribution::choose_reference_set(p, loaded->policy.schema(),
                                                          others(decision.application.person)));
            return std::make_shared<const ReferenceSet>(std::move(chosen));
        };
        if (all || has(decision.application.person)) return choose();
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
    Drawing(const model::LoadedPolicy& loaded, const dataset::ServedSchema& served,
            std::optional<base::TimePoint> before, const std::function<bool()>& stopping)
        : loaded_(loaded), served_(served), before_(before), stopping_(stopping) {}

    base::Status read(const DecisionIndex& index) {
        return index.visit_ids([&](const auto& id, bool erased) {
            if (stopping_ && stopping_())
                return base::Status(
                    base::make_error(joiner::Reason::kReadingInterrupted, "the node is stopping"));
            return erased ? base::ok() : take(index, id);
        });
    }
    size_t size() const { return drawn_.size(); }

    void put_into(Pool& pool) && {
        std::vector<Drawn> by_number;
        for (; !drawn_.empty(); drawn_.pop()) by_number.push_back(drawn_.top());
        std::reverse(by_number.begin(), by_number.end());
        for (auto& one : by_number) {
            pool.persons.push_back(std::move(one.person));
            pool.rows.insert(pool.rows.end(), one.row.begin(), one.row.end());
        }
    }

  private:
    struct Drawn {
        double number;
        domain::PersonId person;
        std::vector<float> row;
        bool operator<(const Drawn& other) const { return number < other.number; }
    };

    base::Status take(const DecisionIndex& index, const domain::DecisionId& id) {
        const double number = base::keyed_uniform(loaded_.id.value(), id.value());
        const bool full = drawn_.size() == attribution::kReferencePool;
        if (full && number >= drawn_.top().number) return base::ok();
        const auto other = index.find(id);
        if (!other) {  // it may have been erased meanwhile; store check names what cannot be read
            const bool passes = other.error().is(decision_log::Reason::kErased) ||
                                other.error().is(wire::Reason::kNotAMessage);
            return passes ? base::ok() : base::Status(other.error());
        }
        if (!*other || (before_ && (*other)->decided_at >= *before_)) return base::ok();
        auto row = decision::encode_row((*other)->application, loaded_.policy.schema(), served_);
        if (!row) return base::ok();  // it has another schema
        if (full) drawn_.pop();
        drawn_.push({number, (*other)->application.person, *std::move(row)});
        return base::ok();
    }

    const model::LoadedPolicy& loaded_;
    const dataset::ServedSchema& served_;
    const std::optional<base::TimePoint> before_;
    const std::function<bool()>& stopping_;
    std::priority_queue<Drawn> drawn_;
};

Explainer::~Explainer() = default;

/// Returns the indices of all partitions that are held. Errors: the status of one that does not
/// decide: it may not be whole, and what is chosen would depend on when.
Result<std::vector<DecisionIndex*>> Explainer::indices() const {
    std::vector<DecisionIndex*> out;
    for (const auto& view : deps_.decisions.partitions()) {
        auto* index = deps_.decisions.index_of(view.partition);
        if (index == nullptr) continue;  // another node's by now
        if (!view.status)
            return view.status.error().with_context(
                "the applicants with whom it is compared are not all there");
        out.push_back(index);
    }
    return out;
}

uint64_t Explainer::held() const {
    uint64_t held = 0;
    for (const auto& view : deps_.decisions.partitions()) held += view.counts.decisions;
    return held;
}

void Explainer::forget() {
    const std::lock_guard lock(mutex_);
    pools_.clear();
    ++forgotten_;
}

/// `before`: a pool of the same policy, whose model need not be read again; nullptr: none.
Result<std::shared_ptr<Explainer::Pool>> Explainer::read_pool(
    const Decision& decision, const std::string& month, const std::shared_ptr<Pool>& before,
    const std::function<bool()>& stopping) {
    RAMPART_TRY(const auto all, indices());
    const auto pool = std::make_shared<Pool>();
    pool->month = month;
    if (before) {
        pool->loaded = before->loaded;
        pool->batch = before->batch;
    } else {
        RAMPART_TRY(auto loaded, deps_.load_model(decision.policy));
        pool->loaded = std::make_shared<const model::LoadedPolicy>(std::move(loaded));
        pool->batch = std::make_shared<const model::BatchPolicy>(pool->loaded->policy);
    }
    // once too few, always too few
    if (!before || before->month != month || !before->all) {
        RAMPART_TRY(const auto begin, base::parse_iso8601(month + "-01"));
        Drawing drawing(*pool->loaded, deps_.served, begin, stopping);
        for (const auto* index : all) RAMPART_RETURN_IF_ERROR(drawing.read(*index));
        if (drawing.size() >= kFewDecisions) {
            std::move(drawing).put_into(*pool);
            return pool;
        }
    }
    pool->all = true;
    pool->held = held();
    Drawing drawing(*pool->loaded, deps_.served, std::nullopt, stopping);
    for (const auto* index : all) RAMPART_RETURN_IF_ERROR(drawing.read(*index));
    std::move(drawing).put_into(*pool);
    return pool;
}

/// Returns the pool of the decision's policy and month, and puts it first; else another one of its
/// policy, whose model need not be read again; nullptr: there is none.
std::shared_ptr<Explainer::Pool> Explainer::known(const Decision& decision,
                                                  const std::string& month) {
    const std::lock_guard lock(mutex_);
    const auto of_policy = [&](const auto& pool) { return pool->loaded->id == decision.policy; };
    const auto it = std::find_if(pools_.begin(), pools_.end(), [&](const auto& pool) {
        return of_policy(pool) && pool->month == month;
    });
    if (it != pools_.end()) {
        std::rotate(pools_.begin(), it, it + 1);
        return pools_.front();
    }
    const auto other = std::find_if(pools_.begin(), pools_.end(), of_policy);
    return other == pools_.end() ? nullptr : *other;
}

Result<std::shared_ptr<Explainer::Pool>> Explainer::pool_for(
    const Decision& decision, const std::function<bool()>& stopping) {
    const auto month = base::month_of(decision.decided_at);
    const auto serves = [&](const std::shared_ptr<Pool>& pool) {
        return pool && pool->month == month && pool->lasts(held());
    };
    if (const auto pool = known(decision, month); serves(pool)) return pool;
    const std::lock_guard reading(reading_);
    const auto before = known(decision, month);  // another may have read it meanwhile
    if (serves(before)) return before;
    uint64_t forgotten = 0;
    {
        const std::lock_guard lock(mutex_);
        forgotten = forgotten_;
    }
    RAMPART_TRY(auto pool, read_pool(decision, month, before, stopping));
    const std::lock_guard lock(mutex_);
    if (forgotten != forgotten_) return pool;  // it may have who was erased since
    if (before && before->month == month) std::erase(pools_, before);
    pools_.insert(pools_.begin(), pool);
    if (pools_.size() > kMostPools) pools_.pop_back();
    return pool;
}

Result<DecisionExplanation> Explainer::explain(Decision decision,
                                               std::span<const attribution::FeatureGroup> groups,
                                               const std::function<bool()>& stopping) {
    RAMPART_RETURN_IF_ERROR(check_drawn(decision));
    RAMPART_TRY(const auto pool, pool_for(decision, stopping));
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
    RAMPART_TRY(out.row, decision::encode_row(out.decision.application, schema, deps_.served));
    RAMPART_TRY(const auto p, attribution::probability_of(out.decision, {policy, pool->batch.get()},
                                                          out.row, group));
    out.group_read = group.has_value();
    RAMPART_TRY(out.steps, attribution::waterfall(policy, out.row, group));
    RAMPART_TRY(out.units, attribution::units_of(policy, groups));
    // as probability_of() has it: P with exploration
    const bool explores = !out.decision.exploration_spent &&
                          std::bit_cast<uint64_t>(policy.evaluate(out.row, group).approve) ==
                              std::bit_cast<uint64_t>(out.decision.p_approve);
    RAMPART_TRY(const auto set, pool->set_for(out.decision, {group, explores}, p));
    if (set->pool < kLeastPool || set->lowest == 0)
        return base::make_error(attribution::Reason::kNoReferenceSet,
                                "of other applicants with these features {} are held, and the "
                                "highest P(approve) among them is {}{:.4f}: {} are needed, and one "
                                "whom this policy could approve",
                                set->pool, set->size() < set->pool ? "at least " : "", set->lowest,
                                kLeastPool);
    out.reference = *set;
    const auto nearest = out.reference.row(attribution::nearest(out.reference, schema, out.row));
    out.nearest.assign(nearest.begin(), nearest.end());
    const auto mac = [&](const base::Digest& digest) {
        return base::hmac_sha256(deps_.draw_key.secret, "reference rows " + digest.hex());
    };
    out.draw_key_id = deps_.draw_key.id;
    out.nearest_mac = mac(attribution::digest_of_rows(schema, out.nearest));
    out.reference_mac = mac(out.reference.digest);
    out.values = attribution::shapley_values(p, out.row, out.reference, out.units, 0);
    if (out.decision.action == domain::Action::kDecline)
        out.cited = attribution::cited_reasons(p, out.row, out.nearest, out.units, out.values,
                                               out.decision.p_exploit, out.decision.draw);
    return out;
}

}  // namespace rampart::rampartd
