#include "rampart/data_retention/person_record.hpp"

#include <algorithm>
#include <tuple>

#include "findings.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/data_retention/reasons.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::data_retention {

using base::Result;
using base::Status;
using domain::DecisionId;
using domain::PersonId;
using streaming::Offset;
using streaming::PartitionId;
using streaming::StoredRecord;

namespace {

constexpr size_t kReadBatch = 1000;
constexpr std::string_view kExport = "person_export";

using Visitor = std::function<Status(const StoredRecord&)>;

/// Visits all records of a topic; one that is not there has none.
Status visit_topic(const streaming::Reader& log, const std::string& topic, const Visitor& visit) {
    const auto partitions = log.partitions(topic);
    if (!partitions) {
        const bool none = partitions.error().code == base::ErrorCode::kNotFound;
        return none ? base::ok() : Status(partitions.error());
    }
    for (int32_t p = 0; p < *partitions; ++p) {
        const PartitionId partition(p);
        RAMPART_TRY(Offset next, log.begin_offset(topic, partition));
        RAMPART_TRY(const Offset end, log.end_offset(topic, partition));
        while (next < end) {
            RAMPART_TRY(const auto records, log.read(topic, partition, next, kReadBatch));
            if (records.empty()) break;
            for (const auto& stored : records) RAMPART_RETURN_IF_ERROR(visit(stored));
            next = Offset(records.back().offset.value() + 1);
        }
    }
    return base::ok();
}

std::string header_of(const streaming::Record& record, std::string_view name) {
    for (const auto& header : record.headers)
        if (header.name == name) return header.value;
    return {};
}

RecordKind kind_of(const wire::Topics& topics, const std::string& topic) {
    if (topic == topics.applications) return RecordKind::kApplication;
    if (topic == topics.decisions) return RecordKind::kDecision;
    if (topic == topics.outcomes) return RecordKind::kOutcome;
    if (topic == topics.protected_attributes) return RecordKind::kAttributes;
    return RecordKind::kUnknown;
}

/// Returns the application that the value of a record has; nullopt: it cannot be read.
std::optional<domain::Application> application_in(RecordKind kind, const std::string& value) {
    if (kind == RecordKind::kApplication) {
        if (auto application = wire::decode_application(value)) return *std::move(application);
    }
    if (kind == RecordKind::kDecision) {
        if (auto decision = wire::decode_decision(value)) return std::move(decision->application);
    }
    return std::nullopt;
}

bool is_still_sealed(const streaming::Record& record) {
    return header_of(record, wire::kSchemaHeader).ends_with("+sealed/1");
}

/// Returns a rejected record as the log had it.
HeldRecord held(const wire::Quarantined& one, PersonPlace place, RecordKind kind) {
    return {place,      kind,       one.topic, {one.partition, one.offset, one.record},
            one.reason, one.message};
}

/// What is done for one export.
class Gathering {
  public:
    Gathering(const RecordDeps& deps, const RecordRequest& request)
        : deps_(deps), erasure_(deps.erasure), request_(request) {
        record_.person = names_.person = request.person;
        record_.tag = erasure_.keys.tag_of(request.person);
        record_.at = request.now;
        if (deps.knows_vault)
            record_.in_vault = training_set::in_vault(erasure_.split_salt, request.person);
    }

    /// Finds the ids of the person: those of the joined state, as an erasure does, and of what
    /// waits or was rejected.
    Status find_names() {
        RAMPART_TRY(record_.erasure, erasure_.list.pending(record_.tag));
        RAMPART_TRY(const auto found, find(erasure_, request_.person, record_.erasure));
        about_.emplace(request_.person, found);
        for (const auto& id : found.ids) names_.decisions.insert(id.value());
        for (const auto& one : found.decisions) {
            names_.applications.insert(one.application.value());
            RAMPART_RETURN_IF_ERROR(add_application(one.application));
        }
        const auto& topics = deps_.topics;
        for (const auto& topic : {topics.applications, topics.decisions, topics.quarantine}) {
            RAMPART_RETURN_IF_ERROR(visit_topic(deps_.log, topic, [&](const auto& stored) {
                return add_name(kind_in(topic, stored.record), stored.record);
            }));
        }
        const auto rejected = [&](const auto& one) {
            return add_name(kind_of(topics, one.topic), one.record);
        };
        RAMPART_RETURN_IF_ERROR(erasure_.joiner.visit_quarantined(rejected));
        return erasure_.applications.visit_quarantined(rejected);
    }

    Status gather() {
        for (const auto place : kPersonPlaces) {
            if (const Status status = gather_at(place); !status)
                return status.error().with_context(to_string(place));
        }
        RAMPART_RETURN_IF_ERROR(put_on_record());
        record_.unattributed = unattributed_.size();
        add_elsewhere();
        return base::ok();
    }
    PersonRecord take() { return std::move(record_); }

  private:
    enum class Whose { kNone, kPersons, kOthers };
    using Place = std::tuple<std::string, PartitionId, Offset>;  // a topic of the log and where

    RecordKind kind_in(const std::string& topic, const streaming::Record& record) const {
        return kind_of(deps_.topics,
                       topic == deps_.topics.quarantine ? header_of(record, "topic") : topic);
    }

    /// Returns whose decision has the id, as far as it has arrived.
    Result<Whose> whose(const DecisionId& id) const {
        RAMPART_TRY(const auto state, erasure_.joiner.state_of(id));
        if (state && state->erased) return Whose::kOthers;  // earlier, at the latest
        if (!state || state->decision.empty()) return Whose::kNone;
        RAMPART_TRY(const auto decision, wire::decode_decision(state->decision));
        return decision.application.person == request_.person ? Whose::kPersons : Whose::kOthers;
    }

    Status add_application(const domain::ApplicationId& application) {
        if (!domain::check_id("application_id", application.value())) return base::ok();
        const auto id = domain::decision_id_of(application);
        RAMPART_TRY(const auto owner, whose(id));
        if (owner == Whose::kOthers) return base::ok();
        names_.applications.insert(application.value());
        names_.decisions.insert(id.value());
        return base::ok();
    }

    Status add_name(RecordKind kind, const streaming::Record& record) {
        if (!about_->names_person(record) || wire::is_erasure(record)) return base::ok();
        const auto application = application_in(kind, record.value);
        if (application) {
            if (application->person != request_.person) return base::ok();
            RAMPART_RETURN_IF_ERROR(add_application(application->id));
        } else if (kind == RecordKind::kApplication) {
            RAMPART_RETURN_IF_ERROR(add_application(domain::ApplicationId(record.key)));
        }
        if (kind != RecordKind::kDecision) return base::ok();
        const DecisionId id(record.key);
        if (!domain::check_id("decision_id", id.value())) return base::ok();
        RAMPART_TRY(const auto owner, whose(id));
        if (owner != Whose::kOthers) names_.decisions.insert(id.value());
        return base::ok();
    }

    /// Returns whose the record is; `readable`, if given, whether that can be said of it.
    Whose whose(RecordKind kind, const streaming::Record& record, bool* readable = nullptr) const {
        if (readable != nullptr) *readable = true;
        if (kind == RecordKind::kAttributes) {
            const bool mine = record.key == request_.person.value();
            const auto stated = protected_attributes::decode(record.value);
            if (stated ? stated->person == request_.person : mine) return Whose::kPersons;
            return mine ? Whose::kOthers : Whose::kNone;
        }
        if (kind == RecordKind::kOutcome) {
            if (const auto event = wire::decode_outcome_event(record))
                return names_.decisions.contains(wire::decision_of(*event).value())
                           ? Whose::kPersons
                           : Whose::kNone;
        }
        const bool mine = names_.has(record.key), named = about_->names_person(record);
        if (readable == nullptr && !mine && !named) return Whose::kNone;
        if (const auto application = application_in(kind, record.value)) {
            if (application->person == request_.person) return Whose::kPersons;
            return mine ? Whose::kOthers : Whose::kNone;
        }
        if (readable != nullptr) *readable = wire::is_erasure(record);
        return mine || named ? Whose::kPersons : Whose::kNone;
    }

    /// Takes in a record that is the person's.
    void add(std::vector<HeldRecord>& to, HeldRecord one) {
        const auto owner = whose(one.kind, one.stored.record);
        record_.of_others += owner == Whose::kOthers;
        if (owner == Whose::kPersons) to.push_back(std::move(one));
    }

    /// Counts a record, by where it was written, of which it cannot be said whose it is.
    Status count_unattributed(RecordKind kind, const streaming::Record& record, Place written) {
        bool readable = true;
        if (whose(kind, record, &readable) != Whose::kNone || readable) return base::ok();
        RAMPART_TRY(const auto owner, whose(DecisionId(record.key)));
        if (owner == Whose::kNone) unattributed_.insert(std::move(written));
        return base::ok();
    }

    Status add_rejected(const wire::Quarantined& one, PersonPlace place) {
        const auto kind = kind_of(deps_.topics, one.topic);
        RAMPART_RETURN_IF_ERROR(
            count_unattributed(kind, one.record, {one.topic, one.partition, one.offset}));
        add(record_.quarantine, held(one, place, kind));
        return base::ok();
    }

    Status add_topic(PersonPlace place, const std::string& topic, std::vector<HeldRecord>& to) {
        return visit_topic(deps_.log, topic, [&](const StoredRecord& stored) -> Status {
            const auto kind = kind_in(topic, stored.record);
            RAMPART_RETURN_IF_ERROR(check_opened(topic, kind, stored));
            const bool published = topic == deps_.topics.quarantine;
            if (!published && !is_sealed_topic(topic))
                RAMPART_RETURN_IF_ERROR(count_unattributed(
                    kind, stored.record, {topic, stored.partition, stored.offset}));
            add(to, {place, kind, published ? header_of(stored.record, "topic") : topic, stored,
                     header_of(stored.record, "reason"), header_of(stored.record, "message")});
            return base::ok();
        });
    }

    /// Whether the log seals values of the topic. In others a header that says so is any writer's.
    bool is_sealed_topic(const std::string& topic) const {
        return topic == deps_.topics.decisions || topic == deps_.topics.protected_attributes;
    }

    /// Refuses what is sealed and damaged: it says not whose it is, unless its decision was read.
    Status check_opened(const std::string& topic, RecordKind kind, const StoredRecord& stored) {
        const auto& record = stored.record;
        if (!is_sealed_topic(topic) || !is_still_sealed(record)) return base::ok();
        if (kind == RecordKind::kAttributes && record.key != request_.person.value())
            return base::ok();
        if (kind == RecordKind::kDecision) {
            RAMPART_TRY(const auto owner, whose(DecisionId(record.key)));
            if (owner == Whose::kOthers) return base::ok();
        }
        return base::make_error(
            Reason::kSealedRecordDamaged,
            "the record at offset {} of partition {} of topic '{}' is sealed and damaged, and may "
            "be the person's",
            stored.offset, stored.partition, topic);
    }

    Status gather_at(PersonPlace place) {
        const auto& topics = deps_.topics;
        switch (place) {
            case PersonPlace::kPersonKeys: {
                RAMPART_TRY(record_.keys, erasure_.keys.count(request_.person));
                return base::ok();
            }
            case PersonPlace::kDecisionIndex:
                return add_indexed();
            case PersonPlace::kAttributesTopic:
                return add_topic(place, topics.protected_attributes, record_.log);
            case PersonPlace::kLog:
                for (const auto& topic : {topics.applications, topics.decisions, topics.outcomes})
                    RAMPART_RETURN_IF_ERROR(add_topic(place, topic, record_.log));
                return base::ok();
            case PersonPlace::kQuarantineTopic:
                return add_topic(place, topics.quarantine, record_.log);
            case PersonPlace::kAttributes: {
                RAMPART_TRY(record_.attributes, erasure_.attributes.get(request_.person));
                RAMPART_TRY(record_.attribute_versions,
                            erasure_.attributes.versions(request_.person));
                return base::ok();
            }
            case PersonPlace::kJoinedState:
                RAMPART_RETURN_IF_ERROR(add_joined());
                return erasure_.joiner.visit_quarantined(
                    [&](const auto& one) { return add_rejected(one, place); });
            case PersonPlace::kIndexQuarantine:
                return erasure_.applications.visit_quarantined(
                    [&](const auto& one) { return add_rejected(one, place); });
            case PersonPlace::kRegister:
                return add_holds();
            case PersonPlace::kJobs: {
                RAMPART_TRY(record_.jobs, deps_.jobs(names_));
                return base::ok();
            }
            case PersonPlace::kEvidence:
                return add_evidence();
            case PersonPlace::kAudit:
                return add_audit();
        }
        return base::ok();
    }

    Status add_indexed() {
        for (const auto& name : names_.decisions) {
            const DecisionId id(name);
            const auto home = streaming::partition_of(name, erasure_.log.partitions);
            const auto* index = erasure_.decisions.index_of(home);
            if (index == nullptr) continue;
            const auto decision = index->find(id);
            if (!decision && decision.error().is(decision_log::Reason::kErased)) continue;
            if (!decision) return decision.error().with_context(fmt::format("partition {}", home));
            if (!*decision || (*decision)->application.person != request_.person) continue;
            auto& one = record_.decisions[name];
            one.indexed = **decision;
            RAMPART_TRY(one.explanation, index->explanation(id));
        }
        return base::ok();
    }

    Status add_joined() {
        for (const auto& name : names_.decisions) {
            RAMPART_TRY(auto state, erasure_.joiner.state_of(DecisionId(name)));
            if (!state || state->erased) continue;
            std::optional<domain::Decision> joined;
            if (!state->decision.empty()) {
                RAMPART_TRY(joined, wire::decode_decision(state->decision));
                if (joined->application.person != request_.person) continue;
            }
            auto& one = record_.decisions[name];
            one.joined = std::move(joined);
            one.state = *std::move(state);
        }
        return base::ok();
    }

    Status add_holds() {
        RAMPART_TRY(const auto holds, erasure_.list.holds());
        std::copy_if(holds.begin(), holds.end(), std::back_inserter(record_.holds),
                     [&](const auto& hold) { return hold.person == record_.tag; });
        return base::ok();
    }

    /// Finds the person's records by the pseudonym, with which each line of evidence begins.
    Status add_evidence() {
        const auto unit =
            certification::pseudonym(deps_.evidence_key, "unit", request_.person.value());
        const auto begin =
            fmt::format(R"({{"unit":"{}",)",
                        base::to_hex({reinterpret_cast<const char*>(unit.data()), unit.size()}));
        RAMPART_TRY(const auto certificates, erasure_.registry.certificates());
        for (const auto& info : certificates) {
            if (!info.evidence) continue;
            RAMPART_TRY(const auto file, erasure_.registry.evidence_file(*info.evidence));
            HeldEvidence held{info.id, {}};
            for (std::string_view rest = file; !rest.empty();) {
                const auto line = rest.substr(0, rest.find('\n'));
                if (line.starts_with(begin)) held.records.emplace_back(line);
                rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            }
            if (!held.records.empty()) record_.evidence.push_back(std::move(held));
        }
        return base::ok();
    }

    Status add_audit() {
        const auto tag = base::to_hex(record_.tag.value());
        // by the detail's name: an id may be any text, such as the number in another detail
        const auto is_about = [&](const auto& detail) {
            const auto& [name, value] = detail;
            return (name == "person" && value == tag) ||
                   (name == "decision" && names_.decisions.contains(value));
        };
        record_.audit.clear();
        RAMPART_TRY(const auto entries, erasure_.registry.audit_entries());
        for (const auto& entry : entries) {
            const auto& details = entry.details;
            if (std::any_of(details.begin(), details.end(), is_about))
                record_.audit.push_back(entry);
        }
        return base::ok();
    }

    /// Puts the export into the audit log, unless it is refused.
    Status put_on_record() {
        if (record_.empty() && record_.audit.empty())
            return base::make_error(
                Reason::kUnknownPerson,
                "nothing is held here of this person, and no entry of the audit log is about "
                "them: check the id{}",
                erasure_.log.holds_all() ? "" : ", and ask the nodes that hold other partitions");
        // whether or not there is an outcome: a refusal must not say that
        if (!record_.empty() && record_.in_vault.value_or(true) && deps_.check_vault)
            RAMPART_RETURN_IF_ERROR(deps_.check_vault());
        std::map<std::string, std::string> details{
            {"person", base::to_hex(record_.tag.value())},
            {"decisions", std::to_string(record_.decisions.size())},
            {"vault", !record_.in_vault   ? "unknown"
                      : *record_.in_vault ? "yes"
                                          : "no"}};
        if (!request_.reason.empty()) details["reason"] = request_.reason;
        RAMPART_RETURN_IF_ERROR(erasure_.registry.record_operation(request_.now, request_.actor,
                                                                   kExport, std::move(details)));
        return add_audit();
    }

    /// Returns how many partitions this node decides for; one that was taken over has no index.
    size_t decided_here() const {
        size_t here = 0;
        for (const auto& view : erasure_.decisions.partitions())
            here += erasure_.decisions.index_of(view.partition) != nullptr;
        return here;
    }

    void add_elsewhere() {
        auto& elsewhere = record_.elsewhere;
        elsewhere = {"backups, and what was exported before: see there",
                     "models, certificates and the tally of erased records: figures without ids or "
                     "features, from which no person's record can be read"};
        for (const auto& folder : deps_.left_over)
            elsewhere.push_back(folder +
                                ": nothing reads it, and this export did not: delete it, "
                                "or look into it with the release that wrote it");
        const auto& log = erasure_.log;
        if (!log.holds_all())
            elsewhere.push_back("partitions that other nodes hold: ask there as well");
        if (decided_here() < static_cast<size_t>(log.partitions))
            elsewhere.push_back(
                "partitions that other nodes decide: explanations of the person's declines, "
                "applications in quarantine there, jobs, and entries of their audit logs such as "
                "overrides; look there (GET /v1/decisions/ID/explanation, rampart quarantine list, "
                "rampart audit show)");
        if (log.shared && erasure_.feed == nullptr)
            elsewhere.push_back(
                "protected attributes: this node has none; ask the node that trains as well");
        if (!deps_.knows_vault)
            elsewhere.push_back(
                "evidence of certificates: the node that trains has it, and the key of its "
                "pseudonyms; ask there as well");
        if (record_.unattributed > 0)
            elsewhere.push_back(
                fmt::format("{} records that cannot be read, and so not whose they are: rampart "
                            "quarantine list",
                            record_.unattributed));
        if (record_.of_others > 0)
            elsewhere.push_back(fmt::format(
                "{} records under ids of this person that name another one, whose they are",
                record_.of_others));
    }

    const RecordDeps& deps_;
    const ErasureDeps& erasure_;
    const RecordRequest& request_;
    NamesOfPerson names_;
    std::optional<About> about_;
    PersonRecord record_;
    std::set<Place> unattributed_;  // once each, in the log and in quarantine
};

}  // namespace

bool PersonRecord::empty() const {
    return decisions.empty() && log.empty() && quarantine.empty() && !attributes &&
           attribute_versions.empty() && keys == 0 && holds.empty() && !erasure && jobs.empty() &&
           evidence.empty();
}

std::optional<base::TimePoint> PersonRecord::erased_at() const {
    std::optional<base::TimePoint> last;
    for (const auto& entry : audit)
        if (entry.action == "erased") last = entry.at;
    return last;
}

Result<PersonRecord> export_person(const RecordDeps& deps, const RecordRequest& request) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", request.person.value()));
    const std::unique_lock reading(deps.erasure.reading);
    RAMPART_RETURN_IF_ERROR(deps.erasure.catch_up());
    RAMPART_RETURN_IF_ERROR(deps.erasure.decisions.all_whole());
    Gathering gathering(deps, request);
    RAMPART_RETURN_IF_ERROR(gathering.find_names());
    RAMPART_RETURN_IF_ERROR(gathering.gather());
    return gathering.take();
}

Result<std::optional<PersonId>> person_waiting(const RecordDeps& deps,
                                               const domain::ApplicationId& application) {
    std::set<PersonId> persons;
    const auto see = [&](const streaming::Record& record) -> Status {
        const auto found = application_in(RecordKind::kApplication, record.value);
        if (found && found->id == application) persons.insert(found->person);
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(visit_topic(deps.log, deps.topics.applications,
                                        [&](const auto& stored) { return see(stored.record); }));
    RAMPART_RETURN_IF_ERROR(deps.erasure.applications.visit_quarantined(
        [&](const auto& one) { return see(one.record); }));
    return persons.size() == 1 ? std::optional(*persons.begin()) : std::nullopt;
}

}  // namespace rampart::data_retention
