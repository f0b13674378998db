#include "fault/chaos/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::chaos {
namespace {

constexpr size_t kMaxViolations = 10;  // the first one matters

/// Returns the value of a header that is a decimal number; 0: there is none.
uint64_t number_in(const streaming::Record& record, std::string_view name) {
    for (const auto& header : record.headers) {
        if (header.name != name) continue;
        uint64_t value = 0;
        std::from_chars(header.value.data(), header.value.data() + header.value.size(), value);
        return value;
    }
    return 0;
}

}  // namespace

DecisionLog::DecisionLog(const std::string& bootstrap_servers, const std::string& topic,
                         int32_t partitions, bool sealed)
    : log_(bootstrap_servers, topic), sealed_(sealed), places_(static_cast<size_t>(partitions)) {}

void DecisionLog::refresh() {
    for (size_t p = 0; p < places_.size(); ++p) {
        Place& place = places_[p];
        const streaming::PartitionId partition(static_cast<int32_t>(p));
        for (const auto& stored : log_.read(partition, streaming::Offset(place.next))) {
            take(stored, place);
        }
    }
}

/// Whether it is a decision, in its partition.
bool DecisionLog::counts(const streaming::StoredRecord& stored) const {
    const auto home =
        streaming::partition_of(stored.record.key, static_cast<int32_t>(places_.size()));
    if (home != stored.partition) return false;
    if (!sealed_) return wire::decode_decision(stored.record.value).has_value();
    return std::any_of(stored.record.headers.begin(), stored.record.headers.end(),
                       [](const auto& header) { return header.value.ends_with("+sealed/1"); });
}

void DecisionLog::take(const streaming::StoredRecord& stored, Place& place) {
    place.next = stored.offset.value() + 1;
    if (const uint64_t fence = number_in(stored.record, "fence"); fence > 0) {
        place.fence = std::max(place.fence, fence);
        place.least = place.counts;
        return;
    }
    if (wire::is_erasure(stored.record)) return;  // counts whatever its writer has lost
    if (number_in(stored.record, "epoch") < place.fence) {
        ++place.counts.fenced;
        return;
    }
    if (!counts(stored)) return;  // undecodable records
    auto& counting = decisions_[stored.record.key];
    if (counting.records++ > 0) {
        ++place.counts.repeats;
        return;
    }
    ++place.counts.decisions;
    place.least = place.counts;
    if (!sealed_) counting.bytes = stored.record.value;
}

DecisionLog::Counts DecisionLog::totals() const {
    Counts totals;
    for (const auto& place : places_) {
        totals.decisions += place.counts.decisions;
        totals.repeats += place.counts.repeats;
        totals.fenced += place.counts.fenced;
    }
    return totals;
}

uint64_t DecisionLog::records() const {
    return std::accumulate(
        places_.begin(), places_.end(), uint64_t{0},
        [](uint64_t sum, const Place& place) { return sum + static_cast<uint64_t>(place.next); });
}

void Oracle::acknowledged(const domain::Decision& decision) {
    const std::lock_guard lock(mutex_);
    auto bytes = wire::encode(decision);
    const auto [it, first] = bytes_.emplace(decision.id.value(), bytes);
    if (first) {
        acknowledged_.emplace(decision.id.value(), decision);
        must_be_decided_.insert(decision.id.value());
        if (last_.empty()) return;
        const auto home =
            streaming::partition_of(decision.id.value(), static_cast<int32_t>(last_.size()));
        const auto now = std::chrono::steady_clock::now();
        auto& last = last_.at(static_cast<size_t>(home.value()));
        const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(now - last);
        longest_pause_ = std::max(longest_pause_, pause);
        last = now;
    } else if (it->second != bytes) {
        violation_locked("two answers for one application differ: " + decision.id.value());
    }
}

void Oracle::must_be_decided(const domain::DecisionId& decision) {
    const std::lock_guard lock(mutex_);
    must_be_decided_.insert(decision.value());
}

void Oracle::reported(const domain::Outcome& outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.emplace(outcome.decision.value(), outcome.measure, outcome.revision);
}

void Oracle::violation(std::string what) {
    const std::lock_guard lock(mutex_);
    violation_locked(std::move(what));
}

void Oracle::violation_locked(std::string what) {
    if (violations_.size() < kMaxViolations) violations_.push_back(std::move(what));
}

void Oracle::check(const DecisionLog& log) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, bytes] : bytes_) {
        const auto it = log.decisions().find(id);
        if (it == log.decisions().end()) {
            lost_.insert(id);
            violation_locked("an acknowledged decision is lost: " + id);
        } else if (!it->second.bytes.empty() && it->second.bytes != bytes) {
            violation_locked("what was acknowledged is not what counts: " + id);
        }
    }
}

bool Oracle::all_decided(const DecisionLog& log, std::string& missing) const {
    const std::lock_guard lock(mutex_);
    const auto it =
        std::find_if(must_be_decided_.begin(), must_be_decided_.end(),
                     [&](const std::string& id) { return !log.decisions().contains(id); });
    if (it != must_be_decided_.end()) missing = *it;
    return it == must_be_decided_.end();
}

size_t Oracle::acknowledgements() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_.size();
}

size_t Oracle::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_.size();
}

void Oracle::may_be_erased(const domain::DecisionId& decision) {
    const std::lock_guard lock(mutex_);
    may_be_erased_.insert(decision.value());
}

void Oracle::watch_pauses(int32_t partitions) {
    const std::lock_guard lock(mutex_);
    last_.assign(static_cast<size_t>(partitions), std::chrono::steady_clock::now());
    longest_pause_ = {};
}

std::chrono::milliseconds Oracle::longest_pause() const {
    const std::lock_guard lock(mutex_);
    auto longest = longest_pause_;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& last : last_)
        longest =
            std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(now - last));
    return longest;
}

size_t Oracle::expected_decisions() const {
    const std::lock_guard lock(mutex_);
    return must_be_decided_.size();
}

size_t Oracle::expected_outcomes() const {
    const std::lock_guard lock(mutex_);
    return outcomes_.size();
}

std::vector<domain::Decision> Oracle::sample(uint64_t seed, size_t count) const {
    const std::lock_guard lock(mutex_);
    std::vector<domain::Decision> found;
    if (acknowledged_.empty()) return found;
    base::Random random(seed);
    // from some id on: ids are hashes, so their order is random
    const auto start = random.below(acknowledged_.size());
    auto it = std::next(acknowledged_.begin(), static_cast<std::ptrdiff_t>(start));
    const size_t wanted = std::min(count, acknowledged_.size() - may_be_erased_.size());
    for (; found.size() < wanted; ++it) {
        if (it == acknowledged_.end()) it = acknowledged_.begin();
        if (!may_be_erased_.contains(it->first)) found.push_back(it->second);
    }
    return found;
}

bool Oracle::sound() const {
    const std::lock_guard lock(mutex_);
    return violations_.empty();
}

std::vector<std::string> Oracle::violations() const {
    const std::lock_guard lock(mutex_);
    return violations_;
}

}  // namespace rampart::chaos
