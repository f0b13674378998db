#include "store/store_checks.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "rampart/certification/delta_ledger.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/run_store.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "store/erased_check.hpp"
#include "store/store_copies.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using base::Result;
using Problems = std::vector<std::string>;
using streaming::PartitionId;

void add(Problems& problems, const std::string& where, const Problems& found) {
    for (const auto& problem : found) problems.push_back(where + ": " + problem);
}

/// What is damaged or gone is a problem of its own; any other error ends the check.
base::Status add_if_damaged(Problems& problems, const std::string& where,
                            const base::Status& status) {
    if (status) return base::ok();
    const auto code = status.error().code;
    if (code != base::ErrorCode::kDataLoss && code != base::ErrorCode::kNotFound) return status;
    problems.push_back(where + ": " + status.error().message);
    return base::ok();
}

/// Opening verifies the promotions and that the champion is the last of them.
Result<Problems> check_registry(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(settings.store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    Problems problems;
    RAMPART_RETURN_IF_ERROR(add_if_damaged(problems, "audit log", registry->verify_audit()));
    RAMPART_TRY(const auto entries, registry->ledger_entries());
    RAMPART_RETURN_IF_ERROR(add_if_damaged(
        problems, "ledger", certification::DeltaLedger::open(entries).map([](const auto&) {})));
    RAMPART_TRY(const auto models, registry->models());
    for (const auto& model : models) {
        RAMPART_RETURN_IF_ERROR(
            add_if_damaged(problems, fmt::format("model {}", model.id),
                           registry->load_model(model.id).map([](const auto&) {})));
    }
    RAMPART_TRY(const auto certificates, registry->certificates());
    for (const auto& certificate : certificates) {
        const auto where = fmt::format("certificate {}", certificate.id.hex());
        RAMPART_RETURN_IF_ERROR(add_if_damaged(
            problems, where, registry->certificate_file(certificate.id).map([](const auto&) {})));
        if (!certificate.evidence) continue;
        RAMPART_RETURN_IF_ERROR(
            add_if_damaged(problems, where + ", evidence",
                           registry->evidence_file(*certificate.evidence).map([](const auto&) {})));
    }
    return problems;
}

Result<Problems> check_runs(const rampartd::Settings& settings) {
    if (!storage::is_database(settings.store / "trainer")) return Problems{};
    RAMPART_TRY(const auto store, retraining::RunStore::open(settings.store / "trainer", true));
    RAMPART_TRY(const auto runs, store.runs());
    Problems problems;
    for (size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].ordinal != i + 1) {
            problems.push_back(
                fmt::format("run {} stands where {} should", runs[i].ordinal, i + 1));
        }
    }
    RAMPART_TRY(const auto started, store.started());
    if (started && started->ordinal != runs.size() + 1) {
        problems.push_back(
            fmt::format("run {} is under way after {} runs", started->ordinal, runs.size()));
    }
    RAMPART_RETURN_IF_ERROR(store.served_until().map([](const auto&) {}));
    return problems;
}

Result<Problems> check_protected(const rampartd::Settings& settings) {
    const Temporary copy(settings.store / ".check");
    RAMPART_TRY(const bool there, copy_to(copy.folder, settings, "protected"));
    if (!there) return Problems{};
    RAMPART_TRY(const auto store, protected_attributes::ProtectedStore::open(
                                      copy.folder / "protected", settings.catalog));
    return store->check();
}

/// Whether the log goes as far as the state does, and still has what comes next. The ends alone: a
/// record's digest is of what its keys open, and a check needs no keys.
base::Status check_bookmark(const Derived& derived, Problems& problems, const std::string& where,
                            const std::string& topic, PartitionId source,
                            const streaming::Bookmark& bookmark) {
    if (!derived.log) return base::ok();
    const auto status = streaming::check_bookmark(*derived.log, topic, source, {bookmark.next, ""});
    if (status ||
        (!streaming::is_gap(status.error()) && status.error().code != base::ErrorCode::kNotFound)) {
        return status;
    }
    problems.push_back(where + ": " + status.error().message);
    return base::ok();
}

Result<Problems> check_joined_state(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto derived, Derived::of(settings));
    if (derived->joined.empty()) return Problems{};
    RAMPART_TRY(const auto joiner, open_joined(settings, *derived, derived->joined));
    RAMPART_TRY(auto problems, joiner->check());
    RAMPART_TRY(const auto states, joiner->partition_states());
    for (const auto& state : states) {
        for (const auto& [source, bookmark] : state.bookmarks) {  // "topic/partition"
            const auto slash = source.rfind('/');
            int32_t partition = 0;
            std::from_chars(source.data() + slash + 1, source.data() + source.size(), partition);
            RAMPART_RETURN_IF_ERROR(
                check_bookmark(*derived, problems, fmt::format("partition {}", state.partition),
                               source.substr(0, slash), PartitionId(partition), bookmark));
        }
    }
    return problems;
}

Result<Problems> check_decisions(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto derived, Derived::of(settings));
    const auto topics = wire::Topics::with_prefix(settings.log.topic_prefix);
    Problems problems;
    for (const auto p : derived->decided) {
        const auto index = open_index(settings, *derived, p);
        const auto where = fmt::format("partition {}", p);
        RAMPART_RETURN_IF_ERROR(add_if_damaged(problems, where, index.map([](const auto&) {})));
        if (!index) continue;
        RAMPART_TRY(const auto found, (*index)->check());
        add(problems, where, found);
        for (const auto& topic : {topics.decisions, topics.applications}) {
            for (int32_t source = 0; source < settings.log.partitions; ++source) {
                RAMPART_TRY(const auto mark, (*index)->bookmark(topic, PartitionId(source)));
                if (!mark) continue;
                RAMPART_RETURN_IF_ERROR(
                    check_bookmark(*derived, problems, where, topic, PartitionId(source), *mark));
            }
        }
    }
    return problems;
}

/// Compares the decisions that the index, the joined state and the log of one partition have, and
/// which of them are erased. Records between the places up to which the two have read the log may
/// differ.
class Agreement {
  public:
    Agreement(const joiner::OutcomeJoiner& joined, const decision_log::DecisionIndex& index,
              const streaming::Reader* log, std::string topic)
        : joined_(joined), index_(index), log_(log), topic_(std::move(topic)) {}

    Result<Problems> check() {
        RAMPART_TRY(const auto mark, index_.bookmark(topic_, index_.partition()));
        const Offset by_index = mark ? mark->next : Offset(0);
        RAMPART_TRY(const auto state, joined_state());
        const Offset by_joiner = state.second;
        const bool index_is_behind = by_index < by_joiner;
        if (log_ == nullptr && index_is_behind) return problems_;  // it may yet read of it
        read_by_both_ = std::min(by_index, by_joiner);
        RAMPART_TRY(const bool comparable, read_log(std::max(by_index, by_joiner)));
        if (!comparable) return problems_;
        complete_ = log_ != nullptr && state.first.gaps_accepted == 0;
        refused_ = state.first.foreign_draws > 0;
        RAMPART_RETURN_IF_ERROR(index_.visit_ids([&](const auto& id, bool erased) -> base::Status {
            RAMPART_TRY(const auto joined, joined_.is_erased(id));
            compare(id, erased, joined);
            return base::ok();
        }));
        RAMPART_RETURN_IF_ERROR(
            joined_.visit_ids(index_.partition(), [&](const auto& id, bool erased) -> base::Status {
                RAMPART_TRY(const auto known, in_index(id));
                if (!known) compare(id, known, erased);  // the others were compared
                return base::ok();
            }));
        return problems_;
    }

  private:
    using Offset = streaming::Offset;
    static constexpr int64_t kMaxBetween = 1'000'000;  // records whose ids are kept in memory
    static constexpr size_t kReadBatch = 1000, kMaxProblems = 100;

    void problem(std::string text) {
        if (problems_.size() < kMaxProblems) problems_.push_back(std::move(text));
    }
    Result<std::pair<joiner::Counts, Offset>> joined_state() const {
        RAMPART_TRY(const auto states, joined_.partition_states());
        const auto source = fmt::format("{}/{}", topic_, index_.partition());
        std::pair<joiner::Counts, Offset> found{{}, Offset(0)};
        for (const auto& state : states) {
            if (state.partition != index_.partition()) continue;
            found.first = state.counts;
            for (const auto& [name, mark] : state.bookmarks) {
                if (name == source) found.second = mark.next;
            }
        }
        return found;
    }
    /// Whether it is erased there; nullopt: it is not known.
    Result<std::optional<bool>> in_index(const domain::DecisionId& id) const {
        const auto found = index_.find(id);
        if (found) return *found ? std::optional(false) : std::nullopt;
        if (found.error().is(decision_log::Reason::kErased)) return std::optional(true);
        return found.error();
    }
    /// Notes what may differ, and looks whether both know of the erasures that both have read.
    Result<bool> read_log(Offset end) {
        if (log_ == nullptr) return true;
        if (end.value() - read_by_both_.value() > kMaxBetween) {
            problem(
                fmt::format("index and joined state are {} records apart, too many to compare "
                            "them: check again when the node has read on",
                            end.value() - read_by_both_.value()));
            return false;
        }
        RAMPART_TRY(Offset next, log_->begin_offset(topic_, index_.partition()));
        while (next < end) {
            RAMPART_TRY(const auto records,
                        log_->read(topic_, index_.partition(), next, kReadBatch));
            if (records.empty()) break;
            for (const auto& stored : records) {
                const auto& [offset, record] = std::tie(stored.offset, stored.record);
                const domain::DecisionId id(record.key);
                if (offset >= read_by_both_) {
                    between_.insert(record.key);
                } else if (wire::is_erasure(record)) {
                    RAMPART_TRY(const auto by_index, in_index(id));
                    RAMPART_TRY(const auto by_joiner, joined_.is_erased(id));
                    if (by_index == false && by_joiner == false) {
                        problem(
                            fmt::format("decision '{}' is erased in the log at {}, and readable "
                                        "in the index and in the joined state",
                                        id, offset));
                    }
                }
            }
            next = Offset(records.back().offset.value() + 1);
        }
        return true;
    }
    void compare(const domain::DecisionId& id, std::optional<bool> index,
                 std::optional<bool> joined) {
        if (index == joined || between_.contains(id.value())) return;
        if ((!index || !joined) && !complete_) return;
        if (index && !joined && refused_) return;
        const auto standing = [](std::optional<bool> erased) {
            return !erased ? "not known" : *erased ? "erased" : "readable";
        };
        problem(
            fmt::format("decision '{}' is {} in the index of decisions, and {} in the joined "
                        "state: make them anew from the log (ops/runbooks/partitions.md)",
                        id, standing(index), standing(joined)));
    }

    const joiner::OutcomeJoiner& joined_;
    const decision_log::DecisionIndex& index_;
    const streaming::Reader* log_;  // nullptr: not here
    const std::string topic_;
    Offset read_by_both_;
    std::set<std::string, std::less<>> between_;
    bool complete_ = false;  // what one of them lacks was lost, and not before both began
    bool refused_ = false;   // the joiner took in less than the index: draws of no key of the store
    Problems problems_;
};

/// The state is copied before the index, and the index reads first.
Result<Problems> check_agreement(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto derived, Derived::of(settings));
    std::vector<PartitionId> both;
    std::set_intersection(derived->joined.begin(), derived->joined.end(), derived->decided.begin(),
                          derived->decided.end(), std::back_inserter(both));
    Problems problems;
    if (both.empty()) return problems;
    RAMPART_TRY(const auto joiner, open_joined(settings, *derived, both));
    const auto topics = wire::Topics::with_prefix(settings.log.topic_prefix);
    for (const auto p : both) {
        const auto where = fmt::format("partition {}", p);
        const auto index = open_index(settings, *derived, p);
        RAMPART_RETURN_IF_ERROR(add_if_damaged(problems, where, index.map([](const auto&) {})));
        if (!index) continue;
        RAMPART_TRY(const auto found,
                    Agreement(*joiner, **index, derived->log.get(), topics.decisions).check());
        add(problems, where, found);
    }
    return problems;
}

Result<Problems> check_log(const rampartd::Settings& settings) {
    if (!storage::is_database(settings.store / "log")) return Problems{};
    RAMPART_TRY(const auto log, streaming_local::LocalLog::open_read_only(settings.store / "log"));
    return log->check();
}

}  // namespace

std::vector<StoreCheck> store_checks() {
    const auto plain = [](Result<Problems> (*check)(const rampartd::Settings&)) {
        return [check](const rampartd::Settings& settings, std::vector<std::string>&) {
            return check(settings);
        };
    };
    return {{"embedded log", plain(check_log)},
            {"joined state", plain(check_joined_state)},
            {"decisions", plain(check_decisions)},
            {"decisions against joined state", plain(check_agreement)},
            {"protected attributes", plain(check_protected)},
            {"erased persons", check_erased},
            {"registry", plain(check_registry)},
            {"training runs", plain(check_runs)}};
}

std::optional<uint32_t> known_version(const std::string& database) {
    static const std::map<std::string, uint32_t> kVersions{
        {"log", 1},   {"protected", 1}, {"registry", 1}, {"trainer", 1},
        {"joins", 4}, {"decisions", 1}, {"keys", 1},     {"register", 1},
    };
    const auto found = kVersions.find(fs::path(database).filename());
    return found == kVersions.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rampart::cli
