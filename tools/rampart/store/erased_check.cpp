#include "store/erased_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "rampart/protected_attributes/persons.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/person_of.hpp"
#include "rampart/wire/quarantine_time.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "store/erased_persons.hpp"
#include "store/store_copies.hpp"

namespace rampart::cli {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using domain::DecisionId;
using streaming::Offset;
using streaming::PartitionId;
using Opened = ErasedPersons::Opened;

constexpr size_t kReadBatch = 1000, kMaxProblems = 100;  // problems of one kind of store
// A decision is made before it is sealed: only one that is older than this is surely not of a
// person who came back.
const base::Duration kInFlight = base::Duration::hours(1);

/// Findings of one kind of store.
class Found {
  public:
    void add(const std::string& store, const std::string& what) {
        if (counts_[store]++ < kMaxProblems) problems_.push_back(store + what);
    }
    std::vector<std::string> take() { return std::move(problems_); }

  private:
    std::map<std::string, size_t> counts_;
    std::vector<std::string> problems_;
};

/// A decision that is erased, as the log has it.
struct Gone {
    Offset at;                         // the record that says so
    std::optional<TimePoint> since{};  // nullopt: its key is destroyed, which has no time
};

/// One pass over a store.
class Pass {
  public:
    Pass(const rampartd::Settings& settings, const ErasedPersons& erased, const Derived& derived,
         const streaming::Reader* log)
        : settings_(settings),
          erased_(erased),
          derived_(derived),
          log_(log),
          topics_(wire::Topics::with_prefix(settings.log.topic_prefix)) {}

    /// First what the log says of all partitions: an application need not lie where its decision
    /// does.
    Result<std::vector<std::string>> run() {
        for (int32_t p = 0; p < settings_.log.partitions && log_ != nullptr; ++p)
            RAMPART_RETURN_IF_ERROR(read_log(PartitionId(p)));
        for (const PartitionId p : derived_.joined) {
            const auto where = fmt::format("joined state, partition {}", p);
            RAMPART_RETURN_IF_ERROR(add_damage(where, check_joined(p, where)));
        }
        for (const PartitionId p : derived_.decided) {
            const auto where = fmt::format("index of decisions, partition {}", p);
            RAMPART_RETURN_IF_ERROR(add_damage(where, check_index(p, where)));
        }
        if (log_ != nullptr) RAMPART_RETURN_IF_ERROR(check_published());
        RAMPART_RETURN_IF_ERROR(check_people());
        return found_.take();
    }

  private:
    using RecordVisitor = std::function<Status(const streaming::StoredRecord&)>;
    Status visit_log(const std::string& topic, PartitionId partition,
                     const RecordVisitor& visit) const {
        RAMPART_TRY(Offset next, log_->begin_offset(topic, partition));
        RAMPART_TRY(const Offset end, log_->end_offset(topic, partition));
        while (next < end) {
            RAMPART_TRY(const auto records, log_->read(topic, partition, next, kReadBatch));
            if (records.empty()) break;
            for (const auto& stored : records) RAMPART_RETURN_IF_ERROR(visit(stored));
            next = Offset(records.back().offset.value() + 1);
        }
        return base::ok();
    }

    /// What is damaged is a finding, and no reason not to look at the others.
    Status add_damage(const std::string& where, const Status& status) {
        if (status || status.error().code != base::ErrorCode::kDataLoss) return status;
        found_.add(where, ": cannot be looked at: " + status.error().message);
        return base::ok();
    }

    /// Notes what the log says is erased, and then looks whether it can be read there.
    Status read_log(PartitionId partition) {
        RAMPART_RETURN_IF_ERROR(
            visit_log(topics_.decisions, partition, [&](const streaming::StoredRecord& stored) {
                const auto& record = stored.record;
                if (wire::is_erasure(record))
                    gone_.try_emplace(record.key, Gone{stored.offset, record.timestamp});
                return base::ok();
            }));
        return visit_log(topics_.decisions, partition,
                         [&](const auto& stored) { return check_logged(stored); });
    }

    Status check_logged(const streaming::StoredRecord& stored) {
        const auto& record = stored.record;
        if (wire::is_erasure(record) || record.value.empty()) return base::ok();
        const bool erased = gone_.contains(record.key) && !erased_.is_under_way(record.key);
        const auto where = fmt::format("the log, partition {}", stored.partition);
        if (!wire::check_schema(record, wire::kSealedDecisionSchema)) {
            if (erased && erased_.sealed_log()) {
                found_.add(where, fmt::format(": decision '{}' is erased, and lies at {} unsealed",
                                              record.key, stored.offset));
            }
            return base::ok();
        }
        const auto opened = erased_.open(record.key, record.value);
        if (opened.state == Opened::State::kDestroyed) {
            gone_.try_emplace(record.key, Gone{stored.offset});
        } else if (opened.state == Opened::State::kOpen) {
            const auto person = wire::person_of_decision(opened.content);
            if (!person || erased_.is_under_way(*person)) return base::ok();
            if (erased || is_older(*person, opened.content)) {
                found_.add(where, fmt::format(": decision '{}' is erased, and the key that opens "
                                              "it at {} is not destroyed",
                                              record.key, stored.offset));
            }
        }
        return base::ok();
    }

    /// Whether a decision is older than the last erasure of its person.
    bool is_older(const domain::PersonId& person, const std::string& encoded) const {
        const auto erased = erased_.erased_at(person);
        if (!erased) return false;
        const auto decision = wire::decode_decision(encoded);
        return decision && decision->decided_at < *erased - kInFlight;
    }
    bool is_older(const domain::Decision& decision) const {
        const auto erased = erased_.erased_at(decision.application.person);
        return erased && decision.decided_at < *erased - kInFlight;
    }

    /// Judges what a view of the log says that it can read, having read up to `next`.
    void judge(const std::string& where, const DecisionId& decision_id,
               const Result<std::optional<domain::Decision>>& found, Offset next) {
        const auto& id = decision_id.value();
        if (!found) {
            found_.add(where, fmt::format(": decision '{}': {}", id, found.error().message));
            return;
        }
        if (!*found) return;
        const domain::Decision& decision = **found;
        if (erased_.is_under_way(id) || erased_.is_under_way(decision.application.person)) return;
        const auto gone = gone_.find(id);
        if (gone != gone_.end() && gone->second.at < next) {
            found_.add(where,
                       fmt::format(": decision '{}' is readable, and {} at {} of the log", id,
                                   gone->second.since ? "erased" : "its key is destroyed",
                                   gone->second.at));
        } else if (gone == gone_.end() && is_older(decision)) {
            found_.add(where,
                       fmt::format(": decision '{}' is readable, and its person is erased", id));
        }
    }

    Status check_joined(PartitionId partition, const std::string& where) {
        RAMPART_TRY(const auto joiner, open_joined(settings_, derived_, {partition}));
        RAMPART_TRY(const auto states, joiner->partition_states());
        const auto source = fmt::format("{}/{}", topics_.decisions, partition);
        Offset next(0);
        for (const auto& [name, mark] : states.front().bookmarks)
            if (name == source) next = mark.next;
        RAMPART_RETURN_IF_ERROR(
            joiner->visit_ids(partition, [&](const DecisionId& id, bool erased) -> Status {
                if (erased) return base::ok();
                judge(where, id, joiner->find_decision(id), next);
                return base::ok();
            }));
        return joiner->visit_quarantined([&](const auto& one) {
            check_quarantined(where, one);
            return base::ok();
        });
    }

    Status check_index(PartitionId partition, const std::string& where) {
        RAMPART_TRY(const auto index, open_index(settings_, derived_, partition));
        RAMPART_RETURN_IF_ERROR(index->damage());
        RAMPART_TRY(const auto mark, index->bookmark(topics_.decisions, partition));
        const Offset next = mark ? mark->next : Offset(0);
        RAMPART_RETURN_IF_ERROR(index->visit_ids([&](const DecisionId& id, bool erased) -> Status {
            if (erased) return base::ok();
            judge(where, id, index->find(id), next);
            return base::ok();
        }));
        return index->visit_quarantined([&](const auto& one) -> Result<bool> {
            check_quarantined(where, one);
            return true;
        });
    }

    /// Whether event time is replayed with a broker, whose clock can be compared with nothing then.
    bool is_replayed() const {
        return settings_.event_clock &&
               settings_.log.broker != rampartd::LogSettings::Broker::kLocal;
    }
    std::optional<TimePoint> append_time(const streaming::StoredRecord& stored) const {
        return is_replayed() ? std::nullopt : stored.appended_at;
    }
    /// When the record came, if its topic still has it and says so.
    std::optional<TimePoint> append_time(const wire::Quarantined& one) const {
        if (const auto known = wire::appended_at(one); known && !is_replayed()) return known;
        if (log_ == nullptr) return std::nullopt;
        const auto stored = log_->read(one.topic, one.partition, one.offset, 1);
        if (!stored || stored->empty() || stored->front().offset != one.offset) return std::nullopt;
        return append_time(stored->front());
    }

    /// Whether a record that was rejected is about a decision or person erased after it had come.
    bool is_left(const streaming::Record& record,
                 const std::function<std::optional<TimePoint>()>& appended) const {
        const auto of_application = domain::decision_id_of(domain::ApplicationId(record.key));
        for (const auto& id : {record.key, of_application.value()}) {
            const auto gone = gone_.find(id);
            if (gone == gone_.end() || erased_.is_under_way(id)) continue;
            const auto at = appended();
            if (!at || !gone->second.since || *at < *gone->second.since) return true;
        }
        const auto erased = erased_.erased_person_in(record.value);
        return erased && appended().value_or(record.timestamp) < *erased;
    }

    void check_quarantined(const std::string& where, const wire::Quarantined& one) {
        if (!is_left(one.record, [&] { return append_time(one); })) return;
        found_.add(where, fmt::format(", quarantine: the record at offset {} of partition {} of "
                                      "topic '{}' is about an erased person",
                                      one.offset, one.partition, one.topic));
    }

    /// What was rejected is in a topic as well, which nothing reads.
    Status check_published() {
        const auto& topic = topics_.quarantine;
        const auto partitions = log_->partitions(topic);
        if (!partitions) {
            const bool none = partitions.error().code == base::ErrorCode::kNotFound;
            return none ? base::ok() : Status(partitions.error());
        }
        for (int32_t p = 0; p < *partitions; ++p) {
            RAMPART_RETURN_IF_ERROR(
                visit_log(topic, PartitionId(p), [&](const streaming::StoredRecord& stored) {
                    if (!is_left(stored.record, [&] { return append_time(stored); }))
                        return base::ok();
                    found_.add(fmt::format("topic '{}', partition {}", topic, p),
                               fmt::format(": the record at offset {} is about an erased person; "
                                           "nothing reads the topic: delete its records up to it",
                                           stored.offset));
                    return base::ok();
                }));
        }
        return base::ok();
    }

    Status check_people() {
        RAMPART_TRY(const bool there, copy_to(derived_.copy.folder, settings_, "protected"));
        if (!there || erased_.none()) return base::ok();
        std::set<std::string> stated_again;
        const auto visit = [&](const auto& person, std::optional<TimePoint> since) -> Status {
            const auto erased = erased_.erased_at(person);
            if (!erased) return base::ok();
            const auto name = erased_.name_of(person);
            if (since ? *since < *erased : !stated_again.contains(name)) {
                found_.add("protected attributes",
                           fmt::format(": {} of person {} of the audit log, who is erased",
                                       since ? "an earlier version" : "the record", name));
            } else {
                stated_again.insert(name);
            }
            return base::ok();
        };
        return protected_attributes::visit_persons(derived_.copy.folder / "protected", visit);
    }

    const rampartd::Settings& settings_;
    const ErasedPersons& erased_;
    const Derived& derived_;
    const streaming::Reader* log_;  // null: not here
    const wire::Topics topics_;
    std::map<std::string, Gone> gone_;
    Found found_;
};

Result<std::unique_ptr<streaming_kafka::KafkaReader>> open_broker(
    const rampartd::Settings& settings, std::vector<std::string>& notes) {
    RAMPART_TRY(auto kafka, streaming_kafka::KafkaReader::open(settings.log.kafka));
    const auto topics = wire::Topics::with_prefix(settings.log.topic_prefix);
    const auto reached = kafka->partitions(topics.decisions);
    if (reached) return kafka;
    notes.push_back("erased persons: what the log of the broker has of them was not looked at: " +
                    reached.error().message);
    return std::unique_ptr<streaming_kafka::KafkaReader>();
}

/// A record of a job has its request, which may name a person, until the job ends.
Status check_jobs(const rampartd::Settings& settings, std::vector<std::string>& problems) {
    RAMPART_TRY(const auto jobs, runtime::read_jobs(settings.store / "jobs"));
    for (const auto& [id, error] : jobs.unreadable)
        problems.push_back("jobs: cannot be looked at: " + error.message);
    for (const auto& job : jobs.records) {
        if (!job.ended() || (job.request.empty() && job.kept.empty())) continue;
        problems.push_back(
            fmt::format("jobs: job {} has ended, and its file still has the request", job.id));
    }
    return base::ok();
}

}  // namespace

Result<std::vector<std::string>> check_erased(const rampartd::Settings& settings,
                                              std::vector<std::string>& notes) {
    RAMPART_TRY(const auto erased, ErasedPersons::of(settings));
    if (!erased.has_keys()) {
        notes.push_back(
            "erased persons: without the person keys and their secret only ids of "
            "decisions were compared");
    }
    RAMPART_TRY(const auto derived, Derived::of(settings));
    std::unique_ptr<streaming_kafka::KafkaReader> kafka;
    const streaming::Reader* log = derived->log.get();
    if (settings.log.broker != rampartd::LogSettings::Broker::kLocal) {
        RAMPART_TRY(kafka, open_broker(settings, notes));
        log = kafka.get();
    }
    RAMPART_TRY(auto problems, Pass(settings, erased, *derived, log).run());
    for (const auto& person : erased.left_in_register()) {
        problems.push_back(fmt::format(
            "register: the decisions of person {} of the audit log, whose erasure is done",
            person));
    }
    RAMPART_RETURN_IF_ERROR(check_jobs(settings, problems));
    for (const auto& fault : erased.key_faults()) problems.push_back("person keys: " + fault);
    return problems;
}

}  // namespace rampart::cli
