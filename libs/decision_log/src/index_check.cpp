#include "index_keys.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"

/// What does not fit in an index.
namespace rampart::decision_log {

using base::Result;

namespace {

constexpr size_t kMaxProblems = 100;  // more say nothing new

}  // namespace

Result<std::vector<std::string>> DecisionIndex::check() const {
    std::vector<std::string> problems;
    const auto problem = [&](std::string text) {
        if (problems.size() < kMaxProblems) problems.push_back(std::move(text));
    };
    uint64_t decisions = 0, erased = 0;
    struct Explored {
        uint64_t decisions = 0;
        std::set<domain::PersonId> persons;
    };
    std::map<int64_t, Explored> explored;
    const auto one = [&](std::string_view id, std::string_view value) -> Result<bool> {
        if (value.empty()) {  // nothing is left of it but that it was there
            ++erased;
            return true;
        }
        ++decisions;
        const auto decision = wire::decode_decision(value);
        if (!decision) {
            problem(fmt::format("decision '{}': {}", id, decision.error().message));
            return true;
        }
        if (decision->id.value() != id) {
            problem(fmt::format("decision '{}' stands under '{}'", decision->id, id));
        }
        const auto home = streaming::partition_of(id, options_.partitions);
        if (home != options_.partition) {
            problem(fmt::format("decision '{}' belongs to partition {}", id, home));
        }
        if (decision->explored) {
            auto& day = explored[base::day_of(decision->decided_at)];
            ++day.decisions;
            day.persons.insert(decision->application.person);
        }
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kDecisions, storage::KeyRange::all(), one));
    RAMPART_RETURN_IF_ERROR(check_explanations(problem));
    const uint64_t counted = counts().decisions;
    if (decisions > counted || decisions + erased < counted) {
        problem(fmt::format("{} decisions are counted, {} are there", counted, decisions));
    }
    for (const auto& [day, found] : explored) {
        RAMPART_TRY(const uint64_t stored, explored_on(day));
        const size_t persons = found.persons.size();
        // earlier releases counted decisions
        if (persons > stored || (erased == 0 && stored > found.decisions)) {
            problem(
                fmt::format("of day {}, {} persons with explored approvals are counted, {} are "
                            "there",
                            day, stored, persons));
        }
    }
    return problems;
}

}  // namespace rampart::decision_log
