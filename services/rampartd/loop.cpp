#include "services/rampartd/loop.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/base/thread_priority.hpp"
#include "rampart/champion_monitor/monitor_report.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/registry/vault_export.hpp"
#include "rampart/storage/derived_database.hpp"
#include "services/rampartd/log_ends.hpp"
#include "services/rampartd/person_jobs.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/software.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

// while a training run reads, its snapshot keeps the bytes of what is erased
constexpr auto kWait = std::chrono::milliseconds(100);
constexpr int kMostWaits = 600;
constexpr auto kTry = std::chrono::milliseconds(5);

/// Whether no partition is damaged, or being made anew: only reading the log mends that.
bool is_whole(const joiner::OutcomeJoiner& joiner) {
    const auto upkeep = joiner.upkeep();
    return upkeep.rebuilding + upkeep.refused == 0;
}

/// Returns the partitions that have stopped; none if anything but partitions of this topic has.
std::set<streaming::PartitionId> only_partitions_of(
    const std::string& topic, const std::vector<joiner::StoppedPartition>& stopped) {
    std::set<streaming::PartitionId> partitions;
    for (const auto& one : stopped) {
        if (one.topic != topic || one.partition.value() < 0) return {};
        partitions.insert(one.partition);
    }
    return partitions;
}

/// Makes the threads that train. They have the priority of the thread that makes them: on the wall
/// clock they leave the processor to decisions. They have its name, too.
std::unique_ptr<base::ThreadPool> training_pool(const Settings& settings) {
    std::unique_ptr<base::ThreadPool> pool;
    std::thread([&] {
        base::name_this_thread("train");
        if (!settings.event_clock) base::lower_priority();
        pool = std::make_unique<base::ThreadPool>(settings.training_threads);
    }).join();
    return pool;
}

/// Refuses outcomes of a person in the vault, as export_log() those of all.
Status check_vault(const AuditSettings& audit, const PersonAsked& asked) {
    if (!audit.enabled) {
        return base::make_error(Reason::kAuditRequired,
                                "the configuration has no audit.enabled = true, and the person is "
                                "in the vault, or may be: their outcomes are among those that the "
                                "gate tests with");
    }
    if (asked.reason.empty()) {
        return base::make_error(registry::Reason::kReasonMissing,
                                "the person is in the vault, or may be: say why, for the audit "
                                "log (--reason)");
    }
    return base::ok();
}

}  // namespace

Loop::Loop(Deps deps) : deps_(deps), pool_(training_pool(deps.settings)) {}

Result<std::unique_ptr<Loop>> Loop::open(Deps deps) {
    std::unique_ptr<Loop> loop(new Loop(deps));
    const auto& stores = deps.stores;
    RAMPART_TRY(
        loop->builder_,
        training_set::TrainingSetBuilder::create(
            stores.joiner(), deps.settings.product, deps.settings.schema, stores.attributes(),
            deps.keys.split, deps.settings.training.gate.late_attributes,
            [&registry = stores.registry()] { return registry.stopped_periods(); }));
    if (deps.settings.trains) RAMPART_RETURN_IF_ERROR(loop->open_trainer());
    return loop;
}

Status Loop::open_trainer() {
    const auto& [settings, keys, stores, clock, decisions, applications, attributes, champion,
                 stops, metrics, lease] = deps_;
    RAMPART_TRY(
        trainer_,
        retraining::TrainingLoop::open(
            settings.store / "trainer", settings.training,
            {settings.product, stores.joiner(), *builder_, stores.registry(), keys.signing,
             keys.evidence, pool_.get(), keys.ids, &stores.holds(),
             clock.is_event_time() ? nullptr : &clock, software(),
             [&log = stores.log()](const auto& known) {
                 return log_ends(log.sealed_reader(), log.topics().decisions, known);
             },
             [] {
                 const auto now = std::chrono::steady_clock::now();
                 return std::chrono::duration<double>(now.time_since_epoch()).count();
             },
             [this] { return stop_ || (stopping_ && stopping_()) || !trains(); }, &counting_,
             [lease = lease] { return lease == nullptr ? base::ok() : lease->renew(); }}));
    RAMPART_TRY(monitor_,
                champion_monitor::ChampionMonitor::open(
                    settings.monitor, {settings.product, *builder_, stores.registry(), metrics,
                                       settings.training.gate.config.declines_overridden}));
    return base::ok();
}

Status Loop::check_trains() {
    if (!trainer_)
        return base::make_error(Reason::kTrainsElsewhere,
                                "another node of the group trains, and keeps champions and runs");
    return deps_.lease == nullptr ? base::ok() : deps_.lease->confirm();
}

/// An error while any source is stopped: what could not be read must not mature as if it had never
/// been reported.
Status Loop::catch_up() {
    const std::lock_guard lock(reading_);
    return read_to_end([this] { return stop_.load(); });
}

/// The same with reading_ held. Without the latest of the persons' keys nothing is read: what is
/// erased could be; nor without what was stopped: it would count as evidence. Trouble with
/// attributes is the result, and keeps nothing else from being read. If all that is wrong is with
/// the decisions of some partitions, these are in `waiting`.
Status Loop::read_to_end(const std::function<bool()>& stopping,
                         std::set<streaming::PartitionId>* waiting) {
    auto& joiner = deps_.stores.joiner();
    RAMPART_RETURN_IF_ERROR(deps_.stores.person_keys().refresh());
    RAMPART_RETURN_IF_ERROR(deps_.stops.follow());
    Status attributes;
    if (deps_.attributes != nullptr) attributes = deps_.attributes->catch_up(deps_.clock.now());
    const uint64_t before = joiner.counts().conflicting_outcomes;
    RAMPART_TRY(auto caught_up, joiner::catch_up(joiner, stopping));
    const uint64_t conflicts = joiner.counts().conflicting_outcomes;
    deps_.metrics
        .counter("rampart_conflicting_outcomes_total",
                 "Outcomes and overrides, however they came, that contradict an earlier one of the "
                 "same revision: the "
                 "earlier one stays, they are in quarantine.")
        .add(conflicts - std::min(before, conflicts));
    const Status status = joiner::nothing_stopped(caught_up.stopped);
    if (const uint64_t erased = joiner.counts().erased;
        erased != erased_ || !deps_.settings.log.roles.join) {
        // another node may have been asked: the index would read of it with the next decision only;
        // a node that joins nothing has no joined state that says when
        RAMPART_RETURN_IF_ERROR(deps_.decisions.erase({}, deps_.clock.now()));
        erased_ = erased;
    }
    if (waiting != nullptr && attributes)
        *waiting = only_partitions_of(deps_.stores.topics().decisions, caught_up.stopped);
    if (!attributes)
        caught_up.stopped.push_back({deps_.stores.topics().protected_attributes,
                                     streaming::PartitionId(0), attributes.error()});
    const std::lock_guard lock(status_mutex_);
    stopped_ = std::move(caught_up.stopped);
    return attributes ? status : attributes;
}

/// Reads the log to its end; if `may_train`, after interrupted runs have gone on with what was
/// known when they began. Where a joined state is not whole, that has to be read before.
Status Loop::read_log(bool may_train) {
    if (!is_whole(deps_.stores.joiner())) RAMPART_RETURN_IF_ERROR(catch_up());
    if (trains() && may_train) RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
    return catch_up();
}

Status Loop::advance(TimePoint now) {
    const std::lock_guard lock(learning_);
    const Status time = deps_.clock.check();
    // it may have been set right since
    if (!deps_.clock.is_event_time()) now = std::min(now, known_until());
    const auto step = [&]() -> Status {
        deps_.clock.advance_to(now);
        RAMPART_RETURN_IF_ERROR(read_log(time.has_value()));
        if (time)
            RAMPART_RETURN_IF_ERROR(trains()
                                        ? train_and_watch(now)
                                        : deps_.stores.joiner().advance(now).map([](size_t) {}));
        return follow();
    };
    const Status status = step();
    note(&Loop::learned_, base::ok());
    note(&Loop::joined_, status ? time : status);
    return status ? time : status;
}

Status Loop::join(const std::function<bool()>& stopping) {
    const auto step = [&]() -> Status {
        std::unique_lock lock(reading_, std::try_to_lock);
        for (; !lock && !stopping(); static_cast<void>(lock.try_lock()))
            std::this_thread::sleep_for(kTry);  // an erasure, or a rebuild on request
        if (!lock) return base::ok();
        const Status time = deps_.clock.check();
        const TimePoint now = known_until();  // before reading
        std::set<streaming::PartitionId> waiting;
        const Status read = read_to_end(stopping, &waiting);
        if (!read && waiting.empty()) return read;
        RAMPART_RETURN_IF_ERROR(time);
        // the others' outcomes are all there
        RAMPART_RETURN_IF_ERROR(deps_.stores.joiner().advance(now, waiting).map([](size_t) {}));
        return read;
    };
    const Status status = step();
    note(&Loop::joined_, status);
    return status;
}

Status Loop::learn(const std::function<bool()>& stopping) {
    const std::lock_guard lock(learning_);
    const auto step = [&]() -> Status {
        const auto known = deps_.stores.joiner().clock();
        RAMPART_RETURN_IF_ERROR(deps_.clock.check());
        if (!trains() || !known) return base::ok();
        RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
        // figures and alarms are there from the start on, not only from the next look
        Status observed;
        if (deps_.settings.monitor.enabled && !monitor_->last_look())
            observed = monitor_->observe(*known).map([](const auto&) {});
        RAMPART_RETURN_IF_ERROR(train_and_watch(*known));
        RAMPART_RETURN_IF_ERROR(follow());
        return observed;  // without them nothing else has to wait
    };
    stopping_ = stopping;
    const Status status = step();
    stopping_ = {};
    note(&Loop::learned_, status);
    return status;
}

Status Loop::follow() {
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    const Status moved = move_proposals();
    RAMPART_RETURN_IF_ERROR(certificate_end().map([](const auto&) {}));
    RAMPART_RETURN_IF_ERROR(deps_.champion.keep_published());
    return moved;
}

/// Returns the time up to which all that was appended can be read from now on.
TimePoint Loop::known_until() const {
    const TimePoint now = deps_.clock.now();
    return deps_.clock.is_event_time() ? now : now - deps_.stores.log().append_lag();
}

void Loop::note(Status Loop::*part, const Status& status) {
    const std::lock_guard lock(status_mutex_);
    this->*part = status;
}

/// Does what is due up to `now`. Looks are due at times of their own, so that the same stream has
/// the same ones however the clock moves. A look comes before a training run of the same instant:
/// no candidate is compared with a champion that has to go. One that a crash cut off is repeated.
Status Loop::train_and_watch(TimePoint now) {
    auto& joiner = deps_.stores.joiner();
    RAMPART_TRY(const auto served, trainer_->served_until());
    if (served && deps_.settings.monitor.enabled) {
        for (const TimePoint due : monitor_->due(*served, now)) {
            RAMPART_RETURN_IF_ERROR(trainer_->advance(due - base::Duration::micros(1)));
            RAMPART_RETURN_IF_ERROR(joiner.advance(due).map([](size_t) {}));
            RAMPART_RETURN_IF_ERROR(look(due));
        }
    }
    return trainer_->advance(now);
}

Status Loop::look(TimePoint t) {
    RAMPART_TRY(const auto look, monitor_->look(t));
    return look.rolled_back ? deps_.champion.serve() : base::ok();
}

Result<retraining::RunRecord> Loop::certify(const domain::PolicyId& candidate, TimePoint t,
                                            const std::string& new_epoch,
                                            const std::string& proposed_by) {
    const std::lock_guard lock(learning_);
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());
    RAMPART_RETURN_IF_ERROR(read_log(true));
    RAMPART_RETURN_IF_ERROR(deps_.stores.joiner().advance(t).map([](size_t) {}));
    RAMPART_TRY(auto run, trainer_->certify(candidate, t, new_epoch, proposed_by));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    return run;
}

Result<retraining::Proposed> Loop::propose(const retraining::ProposalRequest& request) {
    const std::lock_guard lock(learning_);
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());
    const TimePoint now = known_until();
    RAMPART_RETURN_IF_ERROR(read_log(true));
    auto& joiner = deps_.stores.joiner();
    // who only asks changes nothing: as known when the clock moved last
    if (!request.submit) return trainer_->propose(request, joiner.clock().value_or(now));
    RAMPART_RETURN_IF_ERROR(joiner.advance(now).map([](size_t) {}));
    RAMPART_TRY(auto made, trainer_->propose(request, now));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    return made;
}

/// Says when the champion's certificate expires, and counts it where it did. Of a champion that is
/// followed only the node that trains knows.
Result<champion_monitor::CertificateEnd> Loop::certificate_end() {
    if (!deps_.champion.registry_decides()) return champion_monitor::CertificateEnd{};
    RAMPART_TRY(const auto until, deps_.stores.registry().champion_certified_until());
    const bool expired = until && deps_.clock.now() >= *until;
    deps_.metrics
        .gauge("rampart_champion_certificate_expired",
               "1: the certificate by which the champion was promoted has expired; it decides on.")
        .set(expired ? 1 : 0);
    return champion_monitor::CertificateEnd{until, expired};
}

Result<retraining::ExportedLog> Loop::export_log(const ExportRequest& request) {
    const std::lock_guard lock(learning_);
    RAMPART_RETURN_IF_ERROR(check_trains());
    if (request.vault && !deps_.settings.audit.enabled) {
        return base::make_error(Reason::kAuditRequired,
                                "the configuration has no audit.enabled = true: outcomes of the "
                                "vault are for those who audit the gate");
    }
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());
    RAMPART_RETURN_IF_ERROR(read_log(true));
    const TimePoint now = deps_.clock.now();
    const TimePoint at = request.at.value_or(deps_.stores.joiner().clock().value_or(now));
    RAMPART_TRY(auto log, trainer_->log_of({request.candidate, request.reference, at}));
    // from here on the records count as read, whether or not they are
    if (request.vault) {
        RAMPART_RETURN_IF_ERROR(registry::record_vault_export(
            deps_.stores.registry(), {at, now, request.actor, request.reason}));
    }
    return log;
}

Result<std::string> Loop::monitor_report() {
    const auto& settings = deps_.settings.monitor;
    RAMPART_TRY(const auto end, certificate_end());
    if (!trains()) {
        return champion_monitor::to_json(
            settings, std::nullopt, end,
            std::string("another node of the group trains and watches"));
    }
    if (!settings.enabled) {
        return champion_monitor::to_json(settings, std::nullopt, end,
                                         std::string("monitor.enabled is false"));
    }
    auto look = monitor_->last_look();
    if (const auto clock = deps_.stores.joiner().clock(); !look && clock) {
        RAMPART_TRY(look, monitor_->observe(*clock));
    }
    return champion_monitor::to_json(settings, look, end);
}

Result<std::string> Loop::store_report(const ReportRequest& request) {
    const auto& stores = deps_.stores;
    // who does not train does not have the group's split: it could show persons of the vault
    if (stores.log().shared()) RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_TRY(auto known_runs, runs());
    const TimePoint known_at = stores.joiner().clock().value_or(deps_.clock.now());
    return rampartd::store_report(
        {deps_.settings.product, *builder_, stores.registry(), std::move(known_runs), known_at},
        request);
}

Status Loop::rollback(std::string_view actor, std::string_view reason) {
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.stores.registry()
                                .rollback(deps_.clock.now(), actor, reason)
                                .map([](const registry::Promotion&) {}));
    return deps_.champion.serve();
}

Result<domain::PersonId> Loop::person_behind(const domain::ApplicationId& application) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("application_id", application.value()));
    RAMPART_RETURN_IF_ERROR(check_role(deps_.settings.log.roles, Role::kJoin));
    RAMPART_RETURN_IF_ERROR(catch_up());
    RAMPART_TRY(const auto decision,
                deps_.stores.joiner().find_decision(domain::decision_id_of(application)));
    if (!decision) {
        return base::make_error(Reason::kUnknownApplication,
                                "nothing is known here of this application, or not any more; name "
                                "the person, or ask the node that holds its partition");
    }
    return decision->application.person;
}

Result<std::optional<joiner::JoinState>> Loop::joined_of(const domain::DecisionId& decision) {
    RAMPART_RETURN_IF_ERROR(check_role(deps_.settings.log.roles, Role::kJoin));
    RAMPART_RETURN_IF_ERROR(catch_up());
    return deps_.stores.joiner().state_of(decision);
}

Result<data_retention::ErasureReport> Loop::erase(const domain::PersonId& person,
                                                  std::string_view actor, std::string_view reason,
                                                  bool dry_run) {
    return erase({person, std::string(actor), std::string(reason), {}, dry_run}, {});
}

/// Returns what erasures and exports of persons work with.
Result<data_retention::ErasureDeps> Loop::person_deps() {
    const auto& settings = deps_.settings;
    // without the joined state nothing says which decisions are the person's
    RAMPART_RETURN_IF_ERROR(check_role(settings.log.roles, Role::kJoin));
    const auto& stores = deps_.stores;
    RAMPART_TRY(auto set_aside, storage::find_set_aside(settings.store / "partitions"));
    // where the log is shared, nodes with other roles may be there, too
    const bool shared = settings.log.broker != LogSettings::Broker::kLocal;
    const data_retention::HeldLog log{stores.topics().decisions, settings.log.partitions, shared,
                                      settings.log.held(), shared};
    return data_retention::ErasureDeps{
        log,
        settings.privacy.retention_months,
        std::move(set_aside),
        stores.log().sealed_reader(),
        stores.joiner(),
        deps_.decisions,
        deps_.applications,
        stores.attributes(),
        deps_.attributes,
        stores.person_keys(),
        stores.holds(),
        stores.registry(),
        reading_,
        counting_,
        [this] { return read_to_end([this] { return stop_.load(); }); },
        [this, tries = kMostWaits]() mutable {
            std::this_thread::sleep_for(kWait);
            return tries-- > 0 && !stop_;
        },
        deps_.keys.split,
        settings.training.gate.late_attributes};
}

Result<data_retention::ErasureReport> Loop::erase(data_retention::ErasureRequest request,
                                                  Keep keep) {
    const std::lock_guard lock(erasing_);
    // holds, and the tally that the gate reads, are those of the node that trains
    RAMPART_RETURN_IF_ERROR(check_role(deps_.settings.log.roles, Role::kTrain));
    RAMPART_TRY(auto deps, person_deps());
    deps.keep = std::move(keep);
    const auto& stores = deps_.stores;
    if (!stores.log().shared()) {
        deps.erase_published = [&stores](const auto& matches) {
            return stores.log().erase_published(matches);
        };
    }
    request.now = deps_.clock.now();
    return data_retention::erase_person(deps, request);
}

Result<data_retention::PersonRecord> Loop::export_person(const PersonAsked& asked) {
    const std::lock_guard lock(erasing_);
    const auto& store = deps_.settings.store;
    RAMPART_TRY(const auto erasure, person_deps());
    std::vector<std::string> left_over;
    for (const auto& name : erasure.set_aside) left_over.push_back("partitions/" + name);
    for (const auto& path : databases_of_earlier_layout(store))
        left_over.push_back(path.lexically_relative(store).string());
    std::error_code failure;  // then it may be there: what is left over is said, not read
    if (std::filesystem::exists(store / ".before-take-over", failure) || failure)
        left_over.emplace_back(".before-take-over");
    const data_retention::RecordDeps deps{
        erasure,
        deps_.stores.log().reader(),
        deps_.stores.topics(),
        [&](const auto& names) { return jobs_of(store / "jobs", names); },
        std::move(left_over),
        deps_.settings.trains,
        [&] { return check_vault(deps_.settings.audit, asked); },
        deps_.keys.evidence};
    auto person = asked.person;
    if (!asked.application.value().empty()) {
        auto behind = person_behind(asked.application);
        if (!behind && !behind.error().is(Reason::kUnknownApplication)) return behind.error();
        if (!behind) {
            RAMPART_TRY(const auto waiting,
                        data_retention::person_waiting(deps, asked.application));
            if (!waiting) return behind.error();
            behind = *waiting;
        }
        person = *behind;
    }
    return data_retention::export_person(deps,
                                         {person, asked.actor, asked.reason, deps_.clock.now()});
}

Result<base::Digest> Loop::state_hash() const {
    const std::scoped_lock lock(learning_, reading_);
    base::Sha256 hash;
    hash.update_field(deps_.stores.joiner().state_hash().hex());
    RAMPART_TRY(const auto ledger, deps_.stores.registry().ledger_entries());
    for (const auto& bytes : ledger) {
        RAMPART_TRY(auto entry, certification::decode_ledger_entry(bytes));
        entry.previous = {};
        if (auto* run = std::get_if<certification::Registration>(&entry.body)) run->log.clear();
        if (auto* run = std::get_if<certification::Closing>(&entry.body)) run->certificate.clear();
        hash.update_field(certification::encode(entry));
    }
    return hash.finish();
}

Status Loop::status() const {
    const std::lock_guard lock(status_mutex_);
    return joined_ ? learned_ : joined_;
}

std::vector<joiner::StoppedPartition> Loop::stopped() const {
    const std::lock_guard lock(status_mutex_);
    return stopped_;
}

Result<std::vector<retraining::RunRecord>> Loop::runs() const {
    if (!trainer_) return std::vector<retraining::RunRecord>();
    return trainer_->runs();
}

void Loop::count_upkeep() {
    const runtime::Labels joins{{"database", "joins"}};
    const auto upkeep = deps_.stores.joiner().upkeep();
    deps_.metrics
        .counter("rampart_databases_set_aside_total",
                 "Damaged databases set aside, to be made anew from the log.", joins)
        .add(upkeep.set_aside - set_aside_.exchange(upkeep.set_aside));
    deps_.metrics
        .gauge("rampart_partitions_rebuilding",
               "Partitions whose database is being made anew from the log.", joins)
        .set(static_cast<double>(upkeep.rebuilding));
    deps_.metrics
        .gauge("rampart_partitions_refused",
               "Partitions whose damaged database cannot be made anew from the log.", joins)
        .set(static_cast<double>(upkeep.refused));
}

}  // namespace rampart::rampartd
