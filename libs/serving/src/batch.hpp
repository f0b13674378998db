#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "rampart/serving/decision_service.hpp"
#include "rampart/serving/reasons.hpp"

/// What is on its way through the decision service.
namespace rampart::serving {

/// already_exists "application_differs" unless it is the application that was decided.
base::Status check_same(const domain::Application& application, const domain::Decision& stored);

/// out_of_range "bad_batch" unless it has 1 to limits::kMaxBatch.
base::Status check_batch(std::string_view what, size_t size);

/// In a batch, the error says which.
inline base::Error at(std::string_view what, size_t i, size_t size, const base::Error& error) {
    return size == 1 ? error : error.with_context(fmt::format("{}[{}]", what, i));
}

/// What decides: the champion, or the arms of an assignment, unless people have stopped them. Never
/// changed: one batch is decided as one of these says.
struct DecisionService::Policies {
    /// Returns the policy that decides about the person, and their arm.
    std::pair<const decision::PolicyInForce*, std::optional<domain::Arm>> of(
        const decision::ArmKey& key, const domain::PersonId& person) const {
        if (rules != nullptr) return {rules.get(), std::nullopt};
        if (!assignment) return {arms.front().get(), std::nullopt};
        auto arm = decision::arm_for(key, *assignment, person);
        const auto* policy = arms[arm.number].get();
        return {policy, std::move(arm)};
    }

    /// unavailable "no_policy": nothing may decide.
    base::Status check() const {
        if (!stops.deciding) return base::ok();
        return base::make_error(Reason::kNoPolicy,
                                "people let rules alone decide, and these cannot be loaded here: "
                                "GET /v1/stops says who and why");
    }

    std::vector<std::shared_ptr<const decision::PolicyInForce>> arms;  // the champion first
    std::optional<domain::Assignment> assignment{};
    Stops stops{};
    std::shared_ptr<const decision::PolicyInForce> rules{};  // those of the stops
};

/// One application on its way: either decided before, or decided now as things stood.
struct DecisionService::Candidate {
    const domain::Application* application = nullptr;
    decision_log::OwnedPartition* partition = nullptr;
    const decision::PolicyInForce* policy = nullptr;  // that of the person's arm
    std::optional<domain::Arm> arm;
    std::string request_id;
    std::vector<float> row;
    std::optional<size_t> group;
    bool explore_allowed = false;
    domain::Decision decision;
    bool stored = false;               // `decision` is what the index has
    std::optional<base::Error> error;  // it is not decided

    /// Decides it, as of `now`. `refer`: people decide about all.
    base::Status decide(const decision::DrawKey& key, const decision::CoolOff& cool_off,
                        bool explores, bool refer, base::TimePoint now) {
        explore_allowed = explores;
        RAMPART_TRY(decision, decision::decide(*policy, *application, row, group, key, cool_off,
                                               explores, now));
        if (refer) decision::refer_to_people(decision);
        decision.arm = arm;
        decision.request_id = request_id;
        return base::ok();
    }
};

/// Applications that are decided by the same policies. `whole`: one error is the whole batch's.
class DecisionService::Batch final : public decision_log::Batch {
  public:
    Batch(const decision_log::DecisionLog& log, const decision::DrawKey& draw_key,
          const decision::CoolOff& cool_off, bool all_or_none)
        : whole(all_or_none), log_(log), draw_key_(draw_key), cool_off_(cool_off) {}

    size_t size() const override { return candidates.size(); }
    void add_partitions(std::set<decision_log::OwnedPartition*>& partitions) const override;
    /// Appends nothing of a whole batch if there is an error.
    void finalise(decision_log::PendingDecisions& pending) override;
    void finish(const decision_log::AppendResult& result) override;

    const Candidate* first_error() const {
        const auto it = std::find_if(candidates.begin(), candidates.end(),
                                     [](const Candidate& c) { return c.error.has_value(); });
        return it == candidates.end() ? nullptr : &*it;
    }
    /// Returns the error of the first candidate that was not decided.
    base::Error error() const {
        const Candidate* failed = first_error();
        return at("applications", static_cast<size_t>(failed - candidates.data()),
                  candidates.size(), *failed->error);
    }

    std::shared_ptr<const Policies> policies;
    std::vector<Candidate> candidates;
    const bool whole;

  private:
    base::Status finalise_one(Candidate& candidate, decision_log::PendingDecisions& own,
                              const decision_log::PendingDecisions& before) const;

    const decision_log::DecisionLog& log_;
    const decision::DrawKey& draw_key_;
    const decision::CoolOff& cool_off_;
};

}  // namespace rampart::serving
