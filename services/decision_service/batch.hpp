#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "services/decision_service/decision_service.hpp"

/// What is on its way through the decision service; of its sources only.
namespace rampart::decision_service {

/// already_exists "application_differs" unless it is the application that was decided.
base::Status check_same(const domain::Application& application, const domain::Decision& stored);

/// In a batch, the error says which.
inline base::Error at(std::string_view what, size_t i, size_t size, const base::Error& error) {
    return size == 1 ? error : error.with_context(fmt::format("{}[{}]", what, i));
}

/// One application on its way: either decided before, or decided now as things stood.
struct DecisionService::Candidate {
    const domain::Application* application = nullptr;
    OwnedPartition* partition = nullptr;
    std::vector<float> row;
    std::optional<size_t> group;
    bool explore_allowed = false;
    domain::Decision decision;
    bool stored = false;               // `decision` is what the index has
    std::optional<base::Error> error;  // it is not decided
};

struct DecisionService::Batch {
    std::shared_ptr<const decision::PolicyInForce> policy;
    std::vector<Candidate> candidates;
    bool whole = true;          // one error refuses all candidates
    std::function<void()> job;  // instead: a job to run while no batch is committed
    bool done = false;

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
};

/// Decisions that are going to be appended, in order, and what they add to each day's exploration.
struct DecisionService::Additions {
    using Day = std::pair<const OwnedPartition*, int64_t>;
    std::vector<std::pair<OwnedPartition*, domain::Decision>> decisions;
    std::map<domain::DecisionId, size_t> by_id;  // -> position in decisions
    std::map<Day, uint64_t> explored;

    const domain::Decision* find(const domain::DecisionId& id) const {
        const auto it = by_id.find(id);
        return it == by_id.end() ? nullptr : &decisions[it->second].second;
    }
    uint64_t explored_on(const Day& day) const {
        const auto it = explored.find(day);
        return it == explored.end() ? 0 : it->second;
    }
    void add(OwnedPartition* partition, domain::Decision decision) {
        const Day day(partition, base::day_of(decision.decided_at));
        if (decision.explored) ++explored[day];
        by_id.emplace(decision.id, decisions.size());
        decisions.emplace_back(partition, std::move(decision));
    }
};

/// The result of an append.
struct DecisionService::Landing {
    std::map<domain::DecisionId, base::Error> refused;    // by the log, for what they are
    std::map<const OwnedPartition*, base::Error> failed;  // nothing is known
    std::map<const OwnedPartition*, base::Error> fenced;  // what is not in `earlier` does not count
    std::map<domain::DecisionId, domain::Decision>
        earlier;  // decisions that count where another writer wrote as well
};

}  // namespace rampart::decision_service
