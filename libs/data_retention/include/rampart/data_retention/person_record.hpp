#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rampart/data_retention/erasure.hpp"
#include "rampart/data_retention/person_places.hpp"
#include "rampart/joiner/join_state.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::data_retention {

/// The ids under which records of a person lie.
struct NamesOfPerson {
    domain::PersonId person;
    std::set<std::string> decisions, applications;

    bool has(const std::string& key) const {
        return decisions.contains(key) || applications.contains(key);
    }
};

/// What is held of one decision id of the person.
struct HeldDecision {
    std::optional<domain::Decision> joined, indexed;  // in the joined state, in the index
    joiner::JoinState state{};                        // reports, versions, taken actions
    std::optional<std::string> explanation{};         // as it is stored
};

/// What the value of a record is, by the topic that it was written to.
enum class RecordKind : uint8_t { kApplication, kDecision, kOutcome, kAttributes, kUnknown };

/// A record of the log, or one that was rejected.
struct HeldRecord {
    PersonPlace place;
    RecordKind kind;
    std::string topic;  // that it was written to
    streaming::StoredRecord stored;
    std::string reason{}, message{};  // why it was rejected
};

/// A request that waits or has ended, as far as it is about the person: JSON texts.
struct HeldJob {
    std::string id, kind, state;
    base::TimePoint asked_at;
    std::string request{}, kept{}, result{};
    std::string error{};  // its message
};

/// What the evidence of a certificate has of the person.
struct HeldEvidence {
    base::Digest certificate;
    std::vector<std::string> records;  // lines of the file: JSON objects
};

/// All that a store holds of a person.
struct PersonRecord {
    domain::PersonId person;
    privacy::PersonTag tag;  // the person in audit log and register
    base::TimePoint at;
    std::optional<bool> in_vault;                   // nullopt: it is not known here
    std::map<std::string, HeldDecision> decisions;  // by id, also of those that have not arrived
    std::vector<HeldRecord> log, quarantine;
    std::optional<protected_attributes::ProtectedAttributes> attributes;
    std::vector<protected_attributes::ProtectedStore::Version> attribute_versions;
    size_t keys = 0;  // how many seal records of the person; never the keys
    std::vector<privacy::Hold> holds;
    std::optional<privacy::PendingErasure> erasure;  // under way
    std::vector<HeldJob> jobs;
    std::vector<HeldEvidence> evidence;
    std::vector<registry::AuditEntry> audit;  // the entry of this export is the last

    size_t of_others = 0;     // records under ids of the person that name another one: not shown
    size_t unattributed = 0;  // records that cannot be read, and may be anyone's
    std::vector<std::string> elsewhere;  // what is not reached from here, a sentence each

    /// Whether there is nothing but entries of the audit log.
    bool empty() const;
    /// Returns when the person was last erased, by the audit log; nullopt: never.
    std::optional<base::TimePoint> erased_at() const;
};

/// What an export works with; all of it has to outlive it.
struct RecordDeps {
    const ErasureDeps& erasure;
    const streaming::Reader& log;  // opened with the person keys
    wire::Topics topics;
    std::function<base::Result<std::vector<HeldJob>>(const NamesOfPerson&)> jobs;
    std::vector<std::string> left_over;  // folders of the store that nothing reads
    /// Whether erasure.split_salt is that of the training sets, and evidence_key that of evidence:
    /// only the node that trains has them.
    bool knows_vault = false;
    /// Returns why not, where outcomes of the vault must not be shown. Asked before they are given
    /// of a person who is in the vault, or may be. No function: they may be shown.
    std::function<base::Status()> check_vault{};
    std::string evidence_key{};  // makes the pseudonyms of evidence
};

struct RecordRequest {
    domain::PersonId person;
    std::string actor, reason;  // for the audit log
    base::TimePoint now;
};

/// Returns all that this node holds of a person, found in the places and by the ids by which an
/// erasure finds it, after reading the log to its end: whole, or an error that names the place
/// which cannot be read. The audit log has the export ("person_export", under the person's tag)
/// when this returns.
///
/// A record that can be read belongs to the person whom it names, whatever its key; one that names
/// another person is only counted. One that cannot be read belongs to the person if it lies under
/// an id of the person or has the person's id in it. A person's secrets are not among what is
/// returned.
///
/// Errors: not_found "unknown_person": nothing is held, and no entry of the audit log is about the
/// person; data_loss "sealed_record_damaged": of a sealed record it cannot be said whose it is;
/// those of check_vault and of what is read.
base::Result<PersonRecord> export_person(const RecordDeps& deps, const RecordRequest& request);

/// Returns whose an application is that has not been decided, or could not be: by what waits in the
/// log or lies in quarantine. nullopt: none is there, or several persons are named.
base::Result<std::optional<domain::PersonId>> person_waiting(
    const RecordDeps& deps, const domain::ApplicationId& application);

}  // namespace rampart::data_retention
