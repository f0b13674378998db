#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/protected_attributes/attribute_feed.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::data_retention {

/// What was found of a person and, but for a dry run, is gone.
struct ErasureReport {
    std::vector<joiner::PersonDecision> decisions;
    size_t quarantined = 0;  // records
    bool attributes = false;
    size_t keys = 0;                   // destroyed; 0 in a dry run
    size_t in_clear = 0;               // decisions that the log holds unsealed: these bytes stay
    std::vector<std::string> remains;  // what is not reached from here, a sentence each
};

struct ErasureRequest {
    domain::PersonId person;
    std::string actor, reason;  // for the audit log
    base::TimePoint now;
    bool dry_run = false;  // says what there is, and whether it may go; changes nothing
    /// What an interrupted run of the same request has kept last (ErasureDeps::keep).
    std::optional<ErasureReport> before{};
};

/// The log of decisions, and what of it this node holds.
struct HeldLog {
    std::string decisions_topic;
    int32_t partitions = 1;                    // N
    bool shared = false;                       // a broker's: others write to it as they like
    std::vector<streaming::PartitionId> held;  // decided or joined here
    bool other_nodes = false;                  // others decide or join some of it

    bool holds_all() const { return held.size() == static_cast<size_t>(partitions); }
};

/// What an erasure works with; all of it has to outlive it.
struct ErasureDeps {
    HeldLog log;
    int retention_months;
    std::vector<std::string> set_aside;   // damaged databases of the store, which are left alone
    const streaming::Reader& sealed_log;  // as it lies
    joiner::OutcomeJoiner& joiner;
    serving::DecisionService& decisions;
    serving::ApplicationConsumer& applications;
    protected_attributes::ProtectedStore& attributes;
    /// nullptr: no other nodes, or this one has nothing to do with protected attributes.
    protected_attributes::AttributeFeed* feed;
    privacy::PersonKeys& keys;
    privacy::Register& list;
    registry::ModelRegistry& registry;
    /// To be held while the log is read into the joined state.
    std::mutex& reading;
    /// To be held, shared, while records of the joined state and of the tally are counted together.
    std::shared_mutex& counting;
    /// Reads the log to its end, with `reading` held.
    std::function<base::Status()> catch_up;
    /// Pauses while another reader's snapshot keeps old bytes; false: that took too long.
    std::function<bool()> wait;
    std::string split_salt{};  // as the training sets are divided by
    training_set::LateAttributes late_attributes = training_set::LateAttributes::kMissing;
    /// Whether a record, as it was rejected, is about the person.
    using AboutPerson = std::function<bool(const streaming::Record&)>;
    /// Erases the records of the topic of the quarantine up to the last one about the person; no
    /// function: a broker keeps that topic.
    std::function<base::Status(const AboutPerson&)> erase_published{};
    /// Keeps what was found: once before anything is gone, and once before the erasure ends, so
    /// that an interrupted request comes to the same report. No function: it is not interrupted.
    std::function<base::Status(const ErasureReport&)> keep{};
};

/// Persons not erased who must share month, side, action and cell of an erased record, so that the
/// tally may name its cell.
inline constexpr size_t kMinPersonsOfCell = 20;

/// Erases a person from what this node holds: joined states, the index of decisions, quarantines,
/// protected attributes, and with the person's keys what the log says in sealed decisions. When it
/// returns, no file of these stores has a byte of the person; what stays elsewhere is in the
/// report.
///
/// Decisions about the person may be made meanwhile. The moment at which the keys go divides them:
/// what was sealed before is erased, what comes after is a new person's and stays, in index, joined
/// state and log alike.
///
/// A tally without identity counts the person's records that the gate would have read or learnt
/// from (privacy::ErasedRecords): the first one and, for a gate that leaves older records out, one
/// of each later month. It changes in the write that ends the erasure, so that a crash at any
/// moment counts each once.
///
/// Refused with failed_precondition "on_hold" or "retention", naming until when, or with not_found
/// "unknown_person", unless an erasure of the person was begun before. Refusals, and what was done,
/// are in the audit log, under the person's tag; no error names the person. A crash on the way
/// loses nothing: asked again, it goes on, and with ErasureRequest::before it comes to the report
/// that it would have come to.
///
/// One at a time. Takes `counting` and `reading` until nothing can be read of the person any more,
/// and neither while the old bytes are removed from the files; that waits for readers with an older
/// snapshot (failed_precondition "snapshot_held": one took too long; ask again).
base::Result<ErasureReport> erase_person(const ErasureDeps& deps, const ErasureRequest& request);

}  // namespace rampart::data_retention
