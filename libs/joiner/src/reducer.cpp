#include "reducer.hpp"

#include <algorithm>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::joiner {
namespace {

using base::Error;
using base::Result;
using base::TimePoint;
using MaybeError = std::optional<Error>;

/// A record may leave its schema out; if it says one it has to be the topic's.
base::Status check_schema(const streaming::Record& record, std::string_view expected) {
    for (const auto& [name, value] : record.headers) {
        if (name == wire::kSchemaHeader && value != expected) {
            return base::invalid_argument(
                "unknown_schema", "the record's schema is '{}', the topic's '{}'", value, expected);
        }
    }
    return base::ok();
}

Result<bool> is_approved(const JoinState& state) {
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    return decision.action == domain::Action::kApprove;
}

size_t versions_of(const JoinState& state, std::string_view measure) {
    return static_cast<size_t>(
        std::count_if(state.versions.begin(), state.versions.end(),
                      [&](const Version& v) { return v.measure == measure; }));
}

bool has_report(const JoinState& state, std::string_view measure) {
    return std::any_of(state.reports.begin(), state.reports.end(),
                       [&](const Report& r) { return r.measure == measure; });
}

}  // namespace

Result<domain::Outcome> decode_outcome(const domain::Product& product,
                                       const streaming::Record& record) {
    RAMPART_RETURN_IF_ERROR(check_schema(record, wire::kOutcomeSchema));
    RAMPART_TRY(auto outcome, wire::decode_outcome(record.value));
    RAMPART_RETURN_IF_ERROR(domain::check_outcome(product, outcome));
    return outcome;
}

Result<domain::Decision> Reducer::decode(const streaming::Record& record) const {
    RAMPART_RETURN_IF_ERROR(check_schema(record, wire::kDecisionSchema));
    RAMPART_TRY(auto decision, wire::decode_decision(record.value));
    const auto home = streaming::partition_of(decision.id.value(), partitions_);
    if (home == partition_) return decision;
    return base::invalid_argument("wrong_partition",
                                  "decision '{}' belongs to partition {} of {}, not to {}; write it "
                                  "with the partitioner murmur2 and its id as key",
                                  decision.id, home, partitions_, partition_);
}

Result<MaybeError> Reducer::decision(JoinBatch& batch, const streaming::Record& record,
                                     TimePoint known_from) const {
    Counts& counts = batch.counts();
    const auto mark = wire::writer_mark(record);
    if (mark && mark->fence) {
        batch.raise_fence(mark->epoch);
        return MaybeError();
    }
    if (mark && mark->epoch < batch.fence()) {
        ++counts.fenced;
        return MaybeError();
    }
    if (!mark) {
        ++counts.undecodable;
        return MaybeError(mark.error());
    }
    return admitted_decision(batch, record, known_from);
}

Result<MaybeError> Reducer::admitted_decision(JoinBatch& batch, const streaming::Record& record,
                                              TimePoint known_from) const {
    Counts& counts = batch.counts();
    const auto decision = decode(record);
    if (!decision) {
        ++counts.undecodable;
        return MaybeError(decision.error());
    }
    const std::string& id = decision->id.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    switch (add_decision(*state, record.value, known_from)) {
        case Applied::kDuplicate:
            ++counts.duplicate_decisions;
            return MaybeError();
        case Applied::kConflict:
        case Applied::kTooMany:
            ++counts.conflicting_decisions;
            return MaybeError(base::already_exists("conflicting_decision",
                                                   "decision '{}' is known with other "
                                                   "content; the first one stays",
                                                   id));
        case Applied::kNew:
            break;
    }
    ++counts.decisions;
    batch.touch(id);
    const TimePoint event_time = decision->application.event_time;
    batch.put(kByTime, time_key(event_time, id));
    for (const auto& measure : product_.all_measures()) {
        batch.put_pending({measure.maturity(event_time), measure.name, id});
    }
    if (!state->reports.empty()) {
        counts.dangling -= state->reports.size();
        batch.erase(kDangling, id);
    }
    return MaybeError();
}

Result<MaybeError> Reducer::outcome(JoinBatch& batch, const domain::Outcome& report,
                                    TimePoint known_from) const {
    Counts& counts = batch.counts();
    const std::string& id = report.decision.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    const bool reported_before = has_report(*state, report.measure);
    const Version* last = latest(*state, report.measure);
    const std::optional<Version> before = last == nullptr ? std::nullopt : std::optional(*last);
    switch (add_report(*state, report, known_from)) {
        case Applied::kDuplicate:
            ++counts.duplicate_outcomes;
            return MaybeError();
        case Applied::kConflict:
            ++counts.conflicting_outcomes;
            return MaybeError(
                base::already_exists("conflicting_outcome",
                                     "decision '{}', measure '{}', revision "
                                     "{} is known with other content; the first one stays; send "
                                     "corrections with a higher revision",
                                     id, report.measure, report.revision));
        case Applied::kTooMany:
            ++counts.undecodable;
            return MaybeError(base::out_of_range(
                "too_many_reports", "decision '{}' has {} outcomes already", id, kMaxReports));
        case Applied::kNew:
            break;
    }
    ++counts.outcomes;
    batch.touch(id);
    if (reported_before) ++counts.corrections;
    if (state->decision.empty()) {
        ++counts.dangling;
        batch.put(kDangling, id);
    }
    if (!before) return MaybeError();
    ++counts.late_outcomes;
    if (latest(*state, report.measure)->version > before->version) ++counts.corrected;
    if (before->value) return MaybeError();
    RAMPART_TRY(const bool was_overdue, is_approved(*state));
    if (was_overdue) {
        --counts.overdue;
        batch.erase(kOverdue, maturity_key({before->matured_at, report.measure, id}));
    }
    return MaybeError();
}

base::Status Reducer::matured(JoinBatch& batch, const MaturityKey& key) const {
    RAMPART_TRY(JoinState * state, batch.load(key.id));
    batch.erase(kPending, maturity_key(key));
    Counts& counts = batch.counts();
    counts.late_outcomes += mature(*state, key.measure, key.maturity);
    batch.touch(key.id);
    ++counts.matured;
    counts.corrected += versions_of(*state, key.measure) - 1;
    if (latest(*state, key.measure)->value) return base::ok();
    RAMPART_TRY(const bool overdue, is_approved(*state));
    if (overdue) {
        ++counts.overdue;
        batch.put(kOverdue, maturity_key(key));
    }
    return base::ok();
}

}  // namespace rampart::joiner
