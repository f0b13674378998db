#include "rampart/data_retention/erasure.hpp"

#include <algorithm>
#include <set>

#include "erased_records.hpp"
#include "findings.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/data_retention/person_places.hpp"
#include "rampart/data_retention/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::data_retention {

using base::Result;
using base::Status;
using base::TimePoint;
using domain::DecisionId;
using streaming::Offset;
using streaming::PartitionId;

namespace {

constexpr size_t kReadBatch = 1000;

/// Returns the decisions that were made after the erasure was begun.
std::vector<DecisionId> decided_since(const privacy::PendingErasure& pending,
                                      const std::vector<DecisionId>& ids) {
    std::set<std::string> known;
    for (const auto& one : pending.decisions) known.insert(one.id);
    std::vector<DecisionId> later;
    for (const auto& id : ids)
        if (!known.contains(id.value())) later.push_back(id);
    return later;
}

std::string iso_day(TimePoint time) { return base::to_iso8601(time).substr(0, 10); }

Status check_allowed(const ErasureDeps& deps, const ErasureRequest& request,
                     const std::vector<joiner::PersonDecision>& decisions) {
    RAMPART_TRY(const auto holds,
                deps.list.in_force(deps.keys.tag_of(request.person), request.now));
    if (!holds.empty()) {
        const auto& hold = holds.front();
        return base::make_error(Reason::kOnHold,
                                "the matter '{}' forbids it until {}: {} ({} of {})", hold.matter,
                                hold.until ? iso_day(*hold.until) : "the hold is removed",
                                hold.reason, hold.actor, iso_day(hold.since));
    }
    if (deps.retention_months == 0) return base::ok();
    for (const auto& one : decisions) {
        const TimePoint until = base::add_months(one.decided_at, deps.retention_months);
        if (until <= request.now) continue;
        return base::make_error(
            Reason::kRetention,
            "decision '{}' of {} has to be kept until {} (privacy.retention_months = {})",
            one.decision, iso_day(one.decided_at), iso_day(until), deps.retention_months);
    }
    return base::ok();
}

/// Decisions among these that the log holds unsealed. It is read only where it has both kinds.
Result<size_t> count_in_clear(const ErasureDeps& deps, const std::vector<DecisionId>& ids) {
    RAMPART_TRY(const bool noted, deps.list.clear_log());
    // others may write to a broker's topic as they like
    if (!noted && !deps.log.shared) return size_t{0};
    std::map<PartitionId, std::set<std::string>> homes;
    for (const auto& id : ids) {
        homes[streaming::partition_of(id.value(), deps.log.partitions)].insert(id.value());
    }
    size_t count = 0;
    for (const auto& [home, wanted] : homes) {
        const auto counts = deps.joiner.counts_of(home);
        if (counts && counts->in_clear == 0) continue;
        RAMPART_TRY(Offset from, deps.sealed_log.begin_offset(deps.log.decisions_topic, home));
        if (counts && counts->sealed == 0 && from == Offset(0)) {  // all of them, and all are there
            count += wanted.size();
            continue;
        }
        std::set<std::string> in_clear;
        while (true) {
            RAMPART_TRY(const auto records,
                        deps.sealed_log.read(deps.log.decisions_topic, home, from, kReadBatch));
            if (records.empty()) break;
            for (const auto& stored : records) {
                const auto& record = stored.record;
                if (wanted.contains(record.key) && !record.value.empty() &&
                    wire::check_schema(record, wire::kDecisionSchema))
                    in_clear.insert(record.key);
            }
            from = Offset(records.back().offset.value() + 1);
        }
        count += in_clear.size();
    }
    return count;
}

std::vector<std::string> what_remains(const ErasureDeps& deps, size_t in_clear) {
    std::vector<std::string> remains{
        "models: what they learnt from the person's loans; they hold no record of anybody",
        "certificates: figures of all together; and their evidence, of a person in the vault: "
        "action, probabilities, impact, label and groups of each record under a keyed hash, which "
        "who has keys/evidence and the person's id can compute (`rampart person export` does)",
        "the tally of erased records: how many of a month, side of the split and drawn action are "
        "gone, with their groups where 20 others or more are left in the same cell; no id, time or "
        "feature; the gate counts them at the worst",
        "the log's outcomes: values under decision ids that identify no person any more",
        "backups made before this moment: remove them, or let them run out"};
    for (const auto& folder : deps.set_aside) {
        remains.push_back("partitions/" + folder +
                          ": a damaged database that was set aside; delete the folder");
    }
    if (in_clear > 0) {
        remains.push_back(fmt::format(
            "the log: {} of the decisions lie there in the clear, from before privacy.encrypt_log "
            "was true; they are ignored whenever the log is read",
            in_clear));
    }
    if (!deps.log.shared) return remains;
    remains.push_back(
        "the topics applications (30 days) and quarantine (365 days), as producers wrote them");
    remains.push_back(
        "the topic person-keys: the destroyed key, wrapped, until the broker has "
        "compacted it (a day)");
    if (deps.feed != nullptr) {
        remains.push_back(
            "the topic protected-attributes: the person's id, and what other systems wrote there, "
            "until the broker has compacted it (a day)");
    } else {
        remains.push_back(
            "protected attributes: this node has none; ask the node that trains as well");
    }
    const auto& held = deps.log.held;
    std::string elsewhere;
    for (int32_t p = 0; p < deps.log.partitions; ++p) {
        if (std::find(held.begin(), held.end(), PartitionId(p)) != held.end()) continue;
        elsewhere += fmt::format("{}{}", elsewhere.empty() ? "" : ", ", p);
    }
    if (!elsewhere.empty()) {
        remains.push_back(
            fmt::format("partitions {}: held by other nodes; ask there as well", elsewhere));
    }
    if (deps.log.other_nodes) {
        remains.push_back(
            "other nodes' files: they forget when they read the log, within seconds; their old "
            "bytes go within two days where they only decide, and within a week otherwise");
        remains.push_back(
            "quarantines of applications at other nodes that decide: look there (GET "
            "/v1/quarantine), or let them run out");
    }
    return remains;
}

Status drop_quarantined(const ErasureDeps& deps, const domain::PersonId& person,
                        const Findings& found) {
    const About about(person, found);
    RAMPART_RETURN_IF_ERROR(deps.joiner.drop_quarantined_if(about));
    return deps.applications.drop_quarantined_if(about);
}

Status audit(const ErasureDeps& deps, const ErasureRequest& request, std::string_view action,
             size_t decisions, size_t quarantined) {
    return deps.registry.record_operation(
        request.now, request.actor, action,
        {{"person", base::to_hex(deps.keys.tag_of(request.person).value())},
         {"decisions", std::to_string(decisions)},
         {"quarantined", std::to_string(quarantined)},
         {"reason", request.reason}});
}

/// Who was refused is on record too.
Status refuse(const ErasureDeps& deps, const ErasureRequest& request, const base::Error& why) {
    RAMPART_RETURN_IF_ERROR(deps.registry.record_operation(
        request.now, request.actor, "erase_refused",
        {{"person", base::to_hex(deps.keys.tag_of(request.person).value())},
         {"why", why.reason},
         {"reason", request.reason}}));
    return why;
}

/// Does what fails while a reader's snapshot keeps old bytes, again until it succeeds or takes too
/// long.
Status patiently(const ErasureDeps& deps, const std::function<Status()>& work) {
    while (true) {
        const Status status = work();
        if (status || !status.error().is(storage::Reason::kSnapshotHeld) || !deps.wait())
            return status;
    }
}

/// Takes away all that can be read of the person; each step may be repeated. Returns the number of
/// keys. With `reading` and `counting` held.
Result<size_t> forget(const ErasureDeps& deps, const ErasureRequest& request, Findings& found) {
    RAMPART_TRY(const size_t keys, deps.keys.destroy(request.person));
    // What was joined is in `found`. What was sealed with these keys and was not joined yet is in
    // the log after erase(), and reads as an erasure, which the joiner hands on to the index. What
    // is decided from now on has a key of its own: it is a new person's, and stays.
    RAMPART_RETURN_IF_ERROR(
        patiently(deps, [&] { return deps.decisions.erase(found.ids, request.now); }));
    RAMPART_RETURN_IF_ERROR(deps.catch_up());
    RAMPART_RETURN_IF_ERROR(deps.decisions.all_whole());
    RAMPART_RETURN_IF_ERROR(count_quarantined(deps, request.person, found));
    RAMPART_RETURN_IF_ERROR(drop_quarantined(deps, request.person, found));
    return keys;
}

/// What was forgotten, and has its bytes removed.
struct Forgotten {
    const ErasureRequest& request;
    const Findings& found;
    bool resumed;  // some of it before a crash, and it is not handed on to the index again
};

/// Removes the bytes of what was forgotten from the files of one place.
Status remove_bytes_at(PersonPlace place, const ErasureDeps& deps, const Forgotten& gone) {
    const auto& [request, found, resumed] = gone;
    switch (place) {
        case PersonPlace::kPersonKeys:  // destroyed with their bytes before all else
            return base::ok();
        case PersonPlace::kDecisionIndex:
            return resumed ? deps.decisions.compact_erased() : base::ok();
        case PersonPlace::kAttributesTopic:
            return deps.feed != nullptr ? deps.feed->publish_erasure(request.person, request.now)
                                        : base::ok();
        case PersonPlace::
            kLog:  // no record of a log can be changed: what_remains() says what stays
            return base::ok();
        case PersonPlace::kQuarantineTopic:
            return deps.erase_published ? deps.erase_published(About(request.person, found))
                                        : base::ok();
        case PersonPlace::kAttributes:
            return deps.attributes.erase(request.person);
        case PersonPlace::kJoinedState:
            return deps.joiner.compact_erased(request.person, found.ids, found.decisions);
        case PersonPlace::kIndexQuarantine:
            return deps.applications.compact_erased();
        case PersonPlace::kRegister:  // Register::finish() ends the erasure; holds stay
        case PersonPlace::kJobs:      // the queue forgets a request that has ended
        case PersonPlace::kEvidence:  // what a certificate has signed: what_remains() says it
        case PersonPlace::kAudit:     // has tags, and is never changed
            return base::ok();
    }
    return base::ok();
}

/// Removes the bytes of what was forgotten from all files.
Status remove_bytes(const ErasureDeps& deps, const Forgotten& gone) {
    for (const auto place : kPersonPlaces)
        RAMPART_RETURN_IF_ERROR(
            patiently(deps, [&] { return remove_bytes_at(place, deps, gone); }));
    return base::ok();
}

/// not_found "unknown_person" unless there is something that an erasure would take away.
Status check_known(const ErasureDeps& deps, const ErasureRequest& request, const Findings& found,
                   bool attributes) {
    RAMPART_TRY(const size_t keys, deps.keys.count(request.person));
    if (keys > 0 || attributes || !found.ids.empty() || found.quarantined + found.withheld > 0) {
        return base::ok();
    }
    return base::make_error(
        Reason::kUnknownPerson,
        "nothing is held here of this person, no decision, key, protected attribute or record in "
        "quarantine, or not any more: check the id{}",
        deps.log.holds_all() ? "" : ", and ask the nodes that hold the other partitions");
}

std::vector<privacy::PendingDecision> pending_decisions(const Findings& found) {
    std::map<std::string, privacy::PendingDecision> by_id;
    for (const auto& id : found.ids) by_id[id.value()].id = id.value();
    for (const auto& one : found.decisions) {
        by_id.at(one.decision.value()).details = {one.application.value(), one.event_time,
                                                  one.decided_at};
    }
    std::vector<privacy::PendingDecision> pending;
    for (auto& [id, decision] : by_id) pending.push_back(std::move(decision));
    return pending;
}

/// Notes what is to go, before anything is gone: for the audit log, and so that a crash on the way
/// leaves an erasure that goes on.
Status note_begin(const ErasureDeps& deps, const ErasureRequest& request,
                  const std::optional<privacy::PendingErasure>& pending, const Findings& found) {
    privacy::PendingErasure begun{deps.keys.tag_of(request.person), request.now,
                                  pending_decisions(found)};
    // as it was counted when all was still there
    if (pending) begun.records = pending->records;
    if (!begun.records) {
        RAMPART_TRY(begun.records, erased_records(deps, request.person, found.ids));
        // the gate counts them while they lie in quarantine; of which side and group is not known
        if (found.unread > 0) begun.records->push_back({.records = found.unread});
    } else if (const auto later = decided_since(*pending, found.ids); !later.empty()) {
        RAMPART_TRY(auto more, erased_records(deps, request.person, later));
        begun.records->insert(begun.records->end(), more.begin(), more.end());
    }
    RAMPART_RETURN_IF_ERROR(audit(deps, request, "erase", found.ids.size(), found.quarantined));
    return deps.list.begin(begun);
}

/// Adds what an interrupted run had found and taken away.
void add_earlier(const std::optional<ErasureReport>& before, ErasureReport& report) {
    if (!before) return;
    std::set<DecisionId> known;
    for (const auto& one : before->decisions) known.insert(one.decision);
    auto decisions = before->decisions;
    for (const auto& one : report.decisions)
        if (!known.contains(one.decision)) decisions.push_back(one);
    report.decisions = std::move(decisions);
    report.quarantined = std::max(report.quarantined, before->quarantined);
    report.attributes |= before->attributes;
    report.keys = std::max(report.keys, before->keys);
}

Status keep(const ErasureDeps& deps, const ErasureReport& report) {
    return deps.keep ? deps.keep(report) : base::ok();
}

/// Keeps what there is before anything is gone.
Status keep_found(const ErasureDeps& deps, const ErasureRequest& request, const Findings& found,
                  bool attributes) {
    ErasureReport report;
    report.decisions = found.decisions;
    report.quarantined = found.quarantined;
    report.attributes = attributes;
    RAMPART_TRY(report.keys, deps.keys.count(request.person));
    add_earlier(request.before, report);
    return keep(deps, report);
}

/// Whether the erasure may begin; a refusal is on record, but for a dry run.
Status check(const ErasureDeps& deps, const ErasureRequest& request, const Findings& found,
             bool attributes) {
    Status allowed = check_allowed(deps, request, found.decisions);
    if (allowed) allowed = check_known(deps, request, found, attributes);
    if (allowed || request.dry_run) return allowed;
    return refuse(deps, request, allowed.error());
}

}  // namespace

Result<ErasureReport> erase_person(const ErasureDeps& deps, const ErasureRequest& request) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", request.person.value()));
    if (request.reason.empty()) {
        return base::make_error(registry::Reason::kReasonMissing, "say why, for the audit log");
    }
    std::unique_lock reading(deps.reading);
    RAMPART_RETURN_IF_ERROR(deps.catch_up());
    std::unique_lock counting(deps.counting, std::defer_lock);
    if (!request.dry_run) {
        // in this order, and only once there is little left to read: the gate waits meanwhile
        reading.unlock();
        counting.lock();
        reading.lock();
        RAMPART_RETURN_IF_ERROR(deps.catch_up());
    }
    RAMPART_RETURN_IF_ERROR(deps.decisions.all_whole());
    const auto tag = deps.keys.tag_of(request.person);
    RAMPART_TRY(const auto pending, deps.list.pending(tag));
    if (request.before && !pending) {  // all was done; what there is now is of a new person
        auto report = *request.before;
        report.remains = what_remains(deps, report.in_clear);
        return report;
    }
    RAMPART_TRY(Findings found, find(deps, request.person, pending));
    ErasureReport report;
    RAMPART_TRY(const auto attributes, deps.attributes.get(request.person));
    report.attributes = attributes.has_value();
    if (!pending) RAMPART_RETURN_IF_ERROR(check(deps, request, found, report.attributes));
    if (!request.dry_run) {
        RAMPART_RETURN_IF_ERROR(note_begin(deps, request, pending, found));
        RAMPART_RETURN_IF_ERROR(keep_found(deps, request, found, report.attributes));
        RAMPART_TRY(report.keys, forget(deps, request, found));
    }
    reading.unlock();
    if (!request.dry_run) {
        counting.unlock();
        RAMPART_RETURN_IF_ERROR(remove_bytes(deps, {request, found, pending.has_value()}));
    }
    RAMPART_TRY(report.in_clear, count_in_clear(deps, found.ids));
    report.quarantined = found.quarantined;
    report.decisions = std::move(found.decisions);
    add_earlier(request.before, report);
    if (!request.dry_run) {
        RAMPART_RETURN_IF_ERROR(keep(deps, report));
        RAMPART_RETURN_IF_ERROR(deps.list.finish(tag));
        RAMPART_RETURN_IF_ERROR(
            audit(deps, request, "erased", found.ids.size(), found.quarantined));
    }
    report.remains = what_remains(deps, report.in_clear);
    return report;
}

}  // namespace rampart::data_retention
