#include <algorithm>

#include "application_lanes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/wire/record_codec.hpp"

/// A round of the consumer of applications: reads, decides, sorts out, and puts down how far.
namespace rampart::serving {

using base::Duration;
using base::ErrorCode;
using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using domain::Application;
using streaming::PartitionId;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("serving");

bool is_elsewhere(const base::Error& error) {
    return error.is(decision_log::Reason::kNotOwner) || error.is(decision_log::Reason::kFenced);
}

}  // namespace

bool is_about_the_record(const base::Error& error) {
    switch (error.code) {
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kOutOfRange:
        case ErrorCode::kAlreadyExists:
            return true;
        case ErrorCode::kFailedPrecondition:
            return error.is(decision::Reason::kGroupUnknown);  // the applicant's group
        case ErrorCode::kNotFound:
        case ErrorCode::kResourceExhausted:
        case ErrorCode::kPermissionDenied:
        case ErrorCode::kUnavailable:
        case ErrorCode::kDataLoss:
        case ErrorCode::kInternal:
            return false;
    }
    return false;
}

/// Reads up to a batch from all sources; one that cannot be read is left out.
Status ApplicationConsumer::gather(Round& round) {
    const auto& next = round.lanes.front()->next;
    for (int32_t i = 0; i < sources_ && round.records < options_.batch; ++i) {
        const PartitionId source((turn_ + i) % sources_);
        const auto from = next.find(source);
        if (from == next.end()) continue;
        size_t room = options_.batch - round.records;
        const auto limit = round.limit.find(source);
        if (limit != round.limit.end()) {
            const int64_t left = limit->second.value() - from->second.value();
            if (left <= 0) continue;
            room = std::min(room, static_cast<size_t>(left));
        }
        auto read = deps_.reader.read(options_.applications_topic, source, from->second, room);
        if (!read) {
            if (decision_log::is_gap(read.error())) return read.error();
            wait_for(source, read.error());
            continue;
        }
        auto& records = *read;
        if (limit != round.limit.end()) {
            std::erase_if(records, [&](const auto& one) { return one.offset >= limit->second; });
        }
        if (records.empty()) continue;
        round.records += records.size();
        round.marks[source] = streaming::bookmark_after(records.back());
        for (auto& record : records) {
            auto pending = to_pending(round, std::move(record));
            if (pending.lane != nullptr) round.pending.push_back(std::move(pending));
        }
    }
    return base::ok();
}

ApplicationConsumer::Pending ApplicationConsumer::to_pending(const Round& round,
                                                             StoredRecord stored) const {
    auto application = wire::decode_application(stored.record);
    const PartitionId home =
        application ? deps_.decisions.partition_of(application->id)
                    : PartitionId(stored.partition.value() % deps_.decisions.partition_count());
    const auto lane = std::find_if(round.lanes.begin(), round.lanes.end(),
                                   [&](const Lane* one) { return one->id == home; });
    return {std::move(stored), lane == round.lanes.end() ? nullptr : *lane, std::move(application)};
}

/// Decides what was read and sorts out what could not be.
Status ApplicationConsumer::decide(Round& round) {
    std::vector<Application> applications;
    std::vector<const Pending*> asked;
    for (auto& pending : round.pending) {
        if (!pending.application) {
            round.quarantined[pending.lane].push_back(wire::quarantine(
                options_.applications_topic, pending.stored, pending.application.error()));
            continue;
        }
        applications.push_back(*std::move(pending.application));
        asked.push_back(&pending);
    }
    if (applications.empty()) return base::ok();
    RAMPART_TRY(const auto results, deps_.decisions.decide_each(applications));
    for (size_t i = 0; i < results.size(); ++i) {
        if (results[i]) {
            instruments_->decided.add();
        } else {
            sort_out(*asked[i], results[i].error(), round);
        }
    }
    return base::ok();
}

void ApplicationConsumer::sort_out(const Pending& pending, const base::Error& error, Round& round) {
    if (error.is(decision_log::Reason::kErased)) {
        // it came again after it was to be forgotten: not into quarantine either
        kLog.info("msg=\"erased application passed over\" source={} offset={}",
                  pending.stored.partition, pending.stored.offset);
    } else if (is_elsewhere(error)) {
        round.elsewhere.insert(pending.lane);
    } else if (is_about_the_record(error)) {
        round.quarantined[pending.lane].push_back(
            wire::quarantine(options_.applications_topic, pending.stored, error));
    } else {
        round.failed.emplace(pending.lane, error);
    }
}

/// Puts down how far a partition has come.
void ApplicationConsumer::finish(Round& round, Lane& lane) {
    if (round.elsewhere.contains(&lane)) return;  // the new owner reads it again
    if (const auto failed = round.failed.find(&lane); failed != round.failed.end()) {
        return fail(lane, failed->second);
    }
    const auto& quarantined = round.quarantined[&lane];
    if (!quarantined.empty()) {
        std::vector<streaming::Record> records;
        for (const auto& one : quarantined) records.push_back(wire::to_record(one));
        const auto published = deps_.writer.append(options_.quarantine_topic, records);
        if (!published) return fail(lane, published.error());
    }
    DecisionIndex* index = deps_.decisions.index_of(lane.id);
    if (index == nullptr) return;
    const auto written = index->put_progress(options_.applications_topic, round.marks, quarantined);
    if (!written) return fail(lane, written.error());
    for (const auto& one : quarantined) {
        kLog.warning("msg=\"application quarantined\" source={} offset={} reason={}", one.partition,
                     one.offset, one.reason);
    }
    instruments_->quarantined.add(quarantined.size());
    for (const auto& [source, mark] : round.marks) lane.next[source] = mark.next;
    lane.trouble = base::ok();
    lane.delay = Duration();
}

}  // namespace rampart::serving
