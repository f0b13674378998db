#include "services/rampartd/node.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/lease/reasons.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "services/decision_service/routes.hpp"
#include "services/rampartd/api/candidate_routes.hpp"
#include "services/rampartd/api/erasure_jobs.hpp"
#include "services/rampartd/api/privacy_routes.hpp"
#include "services/rampartd/files_needed.hpp"
#include "services/rampartd/person_jobs.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/store_key.hpp"
#include "services/rampartd/store_layout.hpp"
#include "services/rampartd/trainer_move.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

constexpr base::Logger kLog("rampartd");

/// Each of them, before it is in the log, and each time that it is sent: what people do against the
/// policy is on record for all.
Status record_overrides(registry::ModelRegistry& registry, TimePoint now,
                        std::span<const domain::Override> overrides) {
    for (const auto& taken : overrides) {
        RAMPART_RETURN_IF_ERROR(registry.record_operation(
            now, taken.actor, taken.action_taken == domain::Action::kRefer ? "review" : "override",
            {{"decision", taken.decision.value()},
             {"revision", std::to_string(taken.revision)},
             {"action_taken", std::string(domain::to_string(taken.action_taken))},
             {"reason", taken.reason}}));
    }
    return base::ok();
}

/// What of the log this node owns, and by which leases.
decision_log::DecisionLogOptions log_options(const Settings& settings, const Stores& stores) {
    decision_log::DecisionLogOptions options;
    options.folder = settings.store / "partitions";
    options.topic = stores.topics().decisions;
    options.partitions = settings.log.partitions;
    options.owned = settings.log.roles.decide ? settings.log.own : streaming::no_partitions();
    options.exploration_per_day = static_cast<uint64_t>(settings.exploration_per_day);
    options.memory = stores.memory();
    auto* leases = stores.log().leases();
    if (leases == nullptr) return options;
    options.node = settings.log.node;
    options.claim = [leases](const decision_log::Epochs& fences) {
        std::set<streaming::PartitionId> partitions;
        for (const auto& [partition, epoch] : fences) partitions.insert(partition);
        return leases->claim(partitions, fences);
    };
    options.owner_of = [leases, &log = settings.log,
                        said = std::make_shared<std::atomic<bool>>(false)](
                           streaming::PartitionId partition) -> std::optional<decision_log::Owner> {
        const auto holder = leases->holder(partition);
        if (!holder) return std::nullopt;
        if (!log.advertise.empty() && holder->address == log.advertise &&
            holder->node != log.node) {
            if (!said->exchange(true))
                kLog.error(
                    "msg=\"another node advertises the address of this one, which would send "
                    "clients "
                    "in a circle\" node={} address={}",
                    holder->node, holder->address);
            return decision_log::Owner{holder->node, ""};
        }
        return decision_log::Owner{holder->node, holder->address};
    };
    return options;
}

}  // namespace

Result<std::unique_ptr<Node>> Node::open(Settings settings, const runtime::Shutdown* shutdown,
                                         runtime::Clocks clocks, const Progress& progress) {
    const Progress say = progress ? progress : [](const std::string&) {};
    say("opening the store");
    runtime::use_store_keys();
    RAMPART_RETURN_IF_ERROR(reserve_files(settings));
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, runtime::StoreStart::begin(store, entries_of_a_store(),
                                                             [&] { return holds_a_store(store); }));
    RAMPART_RETURN_IF_ERROR(check_no_take_over(store));
    RAMPART_RETURN_IF_ERROR(check_store_key(*start, store, settings.privacy.encrypt_databases));
    RAMPART_TRY(auto keys, load_keys(*start, store, settings.privacy.secret));
    std::unique_ptr<Node> node(new Node(std::move(settings), std::move(keys), clocks));
    const auto on_unreadable = [raw = node.get()](std::span<const domain::DecisionId> decisions) {
        return raw->decisions_->erase_unreadable(decisions, raw->clock_->now());
    };
    RAMPART_TRY(node->stores_, Stores::open(node->settings_, node->keys_, shutdown, on_unreadable));
    const auto& told = node->settings_;
    RAMPART_TRY(node->clock_,
                NodeClock::open({told.event_clock, told.store / "clock", told.max_downtime}, clocks,
                                node->stores_->joiner().clock(), node->metrics_));
    node->stores_->log().stamp_with(*node->clock_);
    RAMPART_RETURN_IF_ERROR(node->stores_->bootstrap(node->clock_->now()));
    RAMPART_RETURN_IF_ERROR(node->open_services(say));
    RAMPART_RETURN_IF_ERROR(node->open_requests());
    start->succeed();  // from here on others hear of what is done with the keys
    RAMPART_TRY(node->callers_,
                access::Directory::open(principal_files(node->settings_.store), node->wall_));
    if (const auto& oidc = node->settings_.oidc) {
        RAMPART_TRY(node->provider_, identity_provider::Provider::open(*oidc, node->wall_));
    }
    node->sessions_ = std::make_shared<access::Sessions>(
        identity_provider::with_provider(node->callers_, node->provider_), node->wall_);
    if (const auto kept = node->keep_trainer(); !kept) {
        kLog.warning("msg=\"the lease of the trainer was not claimed yet\" reason={} what=\"{}\"",
                     kept.error().reason, kept.error().message);
    }
    RAMPART_RETURN_IF_ERROR(node->stops_->open());  // before the champion decides
    RAMPART_RETURN_IF_ERROR(node->champion_->serve());
    RAMPART_RETURN_IF_ERROR(node->declare());
    // applications that wait in the topic are decided by what is on record alone
    if (node->settings_.log.roles.decide && node->stores_->check_declared())
        node->applications_->start();
    return node;
}

/// Puts schema and product on record where the log is shared, once the node that trains has said
/// that it has the same: a mistake that it does not share can then still be put right here.
Status Node::declare() {
    if (!stores_->log().shared() || !champion_->terms_agree()) return base::ok();
    return stores_->declare(clock_->now());
}

serving::DecisionServiceOptions Node::decision_options() {
    serving::DecisionServiceOptions options;
    options.log = log_options(settings_, *stores_);
    options.outcomes_topic = stores_->topics().outcomes;
    options.product = settings_.product;
    options.served = settings_.schema;
    options.draw_key = draw_key_ = {keys_.ids.draw, keys_.draw};
    options.arm_key = {keys_.arm_id, keys_.arm};
    options.cool_off_days = settings_.cool_off_days;
    options.event_window = settings_.event_window;
    if (!clock_->is_event_time())
        options.time_unknown = [clock = clock_.get()] { return clock->time_unknown(); };
    options.on_overrides = [this](std::span<const domain::Override> taken) {
        return record_overrides(stores_->registry(), clock_->now(), taken);
    };
    // a replay explains what it is asked for, when it is asked
    if (settings_.explains && !settings_.event_clock)
        options.on_declined = [this](auto decisions) { explanations_->declined(decisions); };
    if (settings_.privacy.encrypt_log) {
        options.before_append = [&keys = stores_->person_keys()](auto people) {
            (void)keys.prepare(people);
        };
    }
    if (settings_.training.group_aware) {
        options.group_lookup =
            [&attributes = stores_->attributes()](
                const domain::PersonId& person) -> Result<std::optional<size_t>> {
            RAMPART_TRY(const auto membership, attributes.membership(person));
            return membership.cell ? std::optional<size_t>(*membership.cell) : std::nullopt;
        };
    }
    return options;
}

Status Node::open_services(const Progress& progress) {
    auto& log = stores_->log();
    auto options = decision_options();
    options.log.on_read = [&](size_t done, size_t of) {
        progress(
            fmt::format("reading partition {} of {} into the index of decisions", done + 1, of));
    };
    RAMPART_TRY(decisions_,
                serving::DecisionService::open(
                    std::move(options), {log.reader(), log.writer(), *clock_, metrics_, health_}));
    explanations_ = std::make_unique<Explanations>(Explanations::Deps{explain_deps(), metrics_});
    serving::ConsumerOptions consumer;
    consumer.applications_topic = log.topics().applications;
    consumer.quarantine_topic = log.topics().quarantine;
    RAMPART_TRY(applications_, serving::ApplicationConsumer::create(
                                   std::move(consumer),
                                   {log.reader(), log.writer(), *decisions_, metrics_, health_}));
    retention_ = std::make_unique<data_retention::LogRetention>(
        settings_.retention_period,
        data_retention::LogRetention::Deps{
            log.topics().applications,
            [this](streaming::PartitionId source) { return applications_->settled(source); },
            [&log](TimePoint now, const auto& needed) { return log.drop(now, needed); }});
    quarantine_ = std::make_unique<QuarantineUpkeep>(
        settings_.quarantine, settings_.quarantine_period,
        QuarantineUpkeep::Deps{stores_->joiner(), log.topics().decisions, *applications_,
                               metrics_});
    scrub_ = std::make_unique<ScrubJob>(settings_.disk.scrub_rate, metrics_);
    if (log.shared() && settings_.log.attributes) {
        attributes_ = std::make_unique<protected_attributes::AttributeFeed>(
            log.reader(), log.writer(), log.topics().protected_attributes, stores_->attributes());
    }
    erased_bytes_ = std::make_unique<ErasedBytes>(*decisions_);
    champion_ = std::make_unique<ChampionSwitch>(stores_->registry(), *decisions_);
    RAMPART_RETURN_IF_ERROR(open_lease());
    open_stops();
    RAMPART_TRY(loop_, Loop::open({settings_, keys_, *stores_, *clock_, *decisions_, *applications_,
                                   attributes_.get(), *champion_, *stops_, metrics_,
                                   trainer_lease_.get()}));
    reviews_ = std::make_unique<ReviewDesk>(
        ReviewDesk::Deps{*decisions_, stores_->joiner(), [this] { return loop_->catch_up(); },
                         [this] { return read_overrides(); }, *clock_});
    reviews_->refresh_queue();
    RAMPART_RETURN_IF_ERROR(open_champion());
    figures_ = std::make_unique<NodeMetrics>(
        NodeMetrics::Deps{settings_.store, *clock_, log, *stores_->memory(), stores_->joiner(),
                          stores_->draws(), *decisions_, stores_->registry(), loop_->trainer(),
                          [this] { return loop_->stopped(); }, trainer_lease_.get(), *champion_,
                          served_roles(), *reviews_},
        metrics_);
    add_health();
    open_events();
    return base::ok();
}

void Node::open_events() {
    const auto decided = [this](const char* action, const char* explored) {
        return metrics_
            .counter(runtime::metric::kDecisions, {{"action", action}, {"explored", explored}})
            .value();
    };
    const auto counts = [decided]() -> EventStreams::Counts {
        return {{"approve", decided("approve", "no") + decided("approve", "yes")},
                {"decline", decided("decline", "no")},
                {"refer", decided("refer", "no")}};
    };
    const auto runs = [this]() -> Result<EventStreams::Runs> {
        if (loop_->trainer() == nullptr) return EventStreams::Runs{};
        RAMPART_TRY(const auto progress, loop_->trainer()->progress());
        return EventStreams::Runs{progress.under_way, progress.finished};
    };
    events_ = std::make_unique<EventStreams>(
        EventStreams::Deps{[this] { return stores_->registry().audit_head().count; },
                           [this](uint64_t behind, size_t most) {
                               return stores_->registry().audit_entries(behind, most);
                           },
                           health_, counts, runs, wall_},
        settings_.event_streams);
}

/// Makes the lease of the trainer, which is claimed when all is open: it must not be lost with a
/// first start that fails.
Status Node::open_lease() {
    if (!settings_.trains || !stores_->log().shared()) return base::ok();
    RAMPART_TRY(trainer_lease_, stores_->log().trainer_lease(seat_of(settings_.store)));
    health_.add(runtime::Probe::kDegraded, "trainer",
                [lease = trainer_lease_.get()] { return lease->status(); });
    return base::ok();
}

void Node::open_stops() {
    auto& log = stores_->log();
    auto feed = log.shared()
                    ? std::make_unique<registry::StopFeed>(log.reader(), log.writer(),
                                                           log.topics().leases, settings_.log.group)
                    : nullptr;
    stops_ = std::make_unique<StopButtons>(
        StopButtons::Deps{stores_->registry(), *decisions_, *clock_,
                          [this] { return stores_->joiner().clock(); },
                          [clock = clock_.get()] { return clock->known(); }},
        std::move(feed));
}

void Node::add_health() {
    health_.add(runtime::Probe::kDegraded, "loop", [loop = loop_.get()] { return loop->status(); });
    health_.add(runtime::Probe::kDegraded, "files",
                [scrub = scrub_.get()] { return scrub->status(); });
    if (stores_->log().shared())
        health_.add(runtime::Probe::kDegraded, "topics",
                    [log = &stores_->log()] { return log->topics_status(); });
    health_.add(runtime::Probe::kDegraded, "person_keys",
                [stores = stores_.get()] { return stores->check_person_keys(); });
    if (settings_.log.roles.join)
        health_.add(runtime::Probe::kDegraded, "reviews",
                    [this] { return check_reviews(*reviews_, settings_.reviews, clock_->now()); });
    health_.add(runtime::Probe::kReady, "running", [this]() -> Status {
        if (!stopping_) return base::ok();
        return base::make_error(Reason::kStopping, "this process is about to end");
    });
    health_.add(runtime::Probe::kLive, "jobs", [this] { return jobs_.check_stuck(true); });
}

/// Opens the queue of requests that may take long; a damaged file in it is no reason not to decide.
Status Node::open_requests() {
    runtime::JobQueueOptions options;
    options.folder = settings_.store / "jobs";
    options.kinds = {PrivacyRoutes::kErasure, kOverrideJobs, CandidateRoutes::kCandidate};
    options.most_waiting = settings_.jobs.most_waiting;
    options.keep = settings_.jobs.keep;
    RAMPART_TRY(requests_, runtime::JobQueue::open(std::move(options), wall_, metrics_));
    health_.add(runtime::Probe::kDegraded, "requests",
                [requests = requests_.get()] { return requests->check(); });
    return base::ok();
}

/// Starts a thread for each kind of them, so that no erasure waits for a candidate.
void Node::begin_requests() {
    const auto add = [this](std::string name, const char* kind, runtime::JobQueue::Work work) {
        jobs_.add({.name = std::move(name),
                   .every = base::Duration::micros(1000),
                   .longest = base::Duration::seconds(30),
                   .stuck_after = base::Duration::hours(6),
                   .background = std::string_view(kind) == CandidateRoutes::kCandidate},
                  [this, kind, work = std::move(work)](const auto& run) {
                      return requests_->work(kind, work, run);
                  });
    };
    add("erasures", PrivacyRoutes::kErasure,
        ErasureWork(
            [this](const auto& asked, auto before, const auto& keep) {
                return loop_->erase({domain::PersonId(asked.person),
                                     asked.actor,
                                     asked.reason,
                                     {},
                                     false,
                                     std::move(before)},
                                    keep);
            },
            [this](const auto& application) { return person_behind(application); }));
    add("overrides", kOverrideJobs, [this](const auto& task) {
        return decision_service::take_overrides(
            task.request(), [this](auto overrides) { return report_overrides(overrides); });
    });
    add("candidates", CandidateRoutes::kCandidate,
        CandidateWork([this](const auto& request) { return propose(request); }));
}

/// Takes over what was changed in the file of principals and in that of the identity provider.
Status Node::refresh_callers() {
    const auto keys = provider_ == nullptr ? Result<bool>(false) : provider_->refresh();
    if (keys && *keys)
        RAMPART_RETURN_IF_ERROR(stores_->registry().record_operation(
            clock_->now(), "file", "provider_keys_changed", {{"issuer", settings_.oidc->issuer}}));
    RAMPART_RETURN_IF_ERROR(refresh_principals());
    return keys ? base::ok() : Status(keys.error());
}

Status Node::refresh_principals() {
    RAMPART_TRY(const bool changed, callers_->refresh());
    if (!changed) return base::ok();
    std::string names;
    for (const auto& entry : callers_->entries())
        names += fmt::format("{}{}", names.empty() ? "" : " ", entry.name);
    return stores_->registry().record_operation(clock_->now(), "file", "principals_changed",
                                                {{"principals", names}});
}

void Node::begin_events() {
    jobs_.add({.name = "events",
               .every = base::Duration::micros(200'000),
               .longest = base::Duration::seconds(1)},
              [this](const auto&) { return events_->turn(); });
}

void Node::begin_work() {
    const auto second = base::Duration::seconds(1);
    // a third of it, so that one that fails leaves time for another
    const auto beat = base::Duration::micros(settings_.log.lease_ttl.micros() / 3);
    if (stores_->log().leases() != nullptr)
        jobs_.add({.name = "leases", .every = beat, .longest = beat, .vital = true},
                  [this](const auto&) { return keep_leases(); });
    if (trainer_lease_)
        jobs_.add({.name = "trainer", .every = beat, .longest = base::Duration::seconds(30)},
                  [this](const auto&) { return keep_trainer(); });
    if (stops_->shared())
        jobs_.add({.name = "stops",
                   .every = base::Duration::micros(500'000),
                   .longest = second,
                   .vital = true},
                  [this](const auto&) { return stops_->follow(); });
    jobs_.add({.name = "upkeep", .every = beat, .longest = beat, .vital = true},
              [this](const auto&) { return upkeep(); });
    jobs_.add({.name = "mend", .every = second, .longest = second, .vital = true},
              [this](const auto& run) {
                  while (mend() && !run.stopping()) {
                  }
                  return base::ok();
              });
    jobs_.add({.name = "scrub",
               .every = settings_.disk.scrub_period,
               .longest = settings_.disk.scrub_period,
               .background = true},
              [this](const auto& run) {
                  return scrub_->run(wall_.now(), [&] { return run.stopping(); });
              });
    if (settings_.log.roles.decide && !settings_.log.roles.train)
        jobs_.add({.name = "erased_bytes",
                   .every = base::Duration::days(1),
                   .longest = base::Duration::days(1),
                   .stuck_after = base::Duration::hours(6),
                   .background = true},
                  [this](const auto&) { return erased_bytes_->rewrite(); });
    jobs_.add({.name = "principals", .every = second, .longest = base::Duration::seconds(30)},
              [this](const auto&) { return refresh_callers(); });
    if (settings_.log.roles.join)
        jobs_.add({.name = "reviews",
                   .every = base::Duration::seconds(5),
                   .longest = base::Duration::seconds(30)},
                  [this](const auto&) {
                      reviews_->refresh_queue();
                      return base::ok();
                  });
    begin_events();
    begin_requests();
    if (!settings_.event_clock) begin_as_time_goes_on();
}

/// Begins what an event clock does when it is moved.
void Node::begin_as_time_goes_on() {
    const auto second = base::Duration::seconds(1);
    // so often that what is decided is joined within a second
    const bool joins = settings_.log.roles.join;
    const auto pause = base::Duration::micros(joins ? 500'000 : 2'000'000);
    jobs_.add({.name = joins ? "join" : "read",  // what others have erased, and the persons' keys
               .every = pause,
               .longest = std::max(pause, second),
               .stuck_after = base::Duration::hours(1),  // what matures after a rebuild, at once
               .vital = true},
              [this](const auto& run) { return loop_->join([&] { return run.stopping(); }); });
    if (settings_.log.roles.decide && settings_.explains)
        jobs_.add({.name = "explain",
                   .every = base::Duration::micros(250'000),
                   .longest = base::Duration::seconds(30),
                   .background = true},
                  [this](const auto& run) {
                      return explanations_->work([&] { return run.stopping(); });
                  });
    jobs_.add({.name = "follow", .every = second, .longest = base::Duration::seconds(30)},
              [this](const auto&) { return loop_->follow(); });
    if (settings_.trains)
        jobs_.add({.name = "learn",
                   .every = second,
                   .longest = base::Duration::seconds(300),
                   .stuck_after = base::Duration::hours(6),
                   .background = true},
                  [this](const auto& run) { return loop_->learn([&] { return run.stopping(); }); });
}

void Node::begin_stop() {
    stopping_ = true;
    events_->stop();
    requests_->begin_stop();
    // before the loop: an error of theirs is no end of a job from here on
    for (const char* name : {"erasures", "overrides", "candidates"}) jobs_.request_stop(name);
    loop_->request_stop();
    jobs_.request_stop("learn");  // the others, leases among them, until all is answered
}

std::vector<std::string> Node::stop_work(base::Duration timeout) { return jobs_.stop(timeout); }

Status Node::open_champion() {
    auto& log = stores_->log();
    const auto& topic = log.topics().policies;
    const bool decides = settings_.log.roles.decide;
    if (decides)
        health_.add(runtime::Probe::kDegraded, "champion",
                    [champion = champion_.get()] { return champion->check(); });
    if (!log.shared()) return base::ok();
    if (trainer_lease_) {
        champion_->publish_by({log.reader(), log.writer(), topic, keys_.signing}, *trainer_lease_,
                              stores_->declared_features());
        champion_->publish_arms_by(
            {log.reader(), log.writer(), topic, keys_.signing, keys_.arm_id});
    }
    // a node that has handed the training over takes its own
    auto keys = stores_->registry().verifying_keys(keys_.signing.public_key());
    if (!settings_.gate_key.empty()) {
        RAMPART_TRY(const auto pem, base::read_file(settings_.gate_key, 1 << 16));
        RAMPART_TRY(keys, certification::read_keys(pem));
    }
    champion_->follow_arms({log.reader(), topic, keys}, keys_.arm_id);
    champion_->follow({log.reader(), topic, std::move(keys)}, decides, settings_.schema);
    return base::ok();
}

Status Node::keep_leases() {
    auto* leases = stores_->log().leases();
    if (leases == nullptr) return base::ok();
    RAMPART_TRY(const auto lost, leases->heartbeat());
    for (const auto& holder : lost) decisions_->give_up(holder.partition, holder.node);
    return base::ok();
}

Status Node::keep_trainer() {
    if (!trainer_lease_) return base::ok();
    const Status kept = trainer_lease_->keep();
    if (kept || kept.error().is(lease::Reason::kTrainerElsewhere) ||
        kept.error().is(lease::Reason::kTrainerHandedOver))
        return base::ok();
    return kept;
}

Status Node::upkeep() {
    decisions_->maintain();
    const Status beaten = clock_->beat();
    if (!clock_->check()) return beaten;
    const Status retained = retention_->apply(clock_->now());
    const Status bounded = quarantine_->apply(clock_->now());
    for (const Status& status : {beaten, retained, bounded}) RAMPART_RETURN_IF_ERROR(status);
    return base::ok();
}

bool Node::mend() {
    const bool more = decisions_->mend();
    loop_->count_upkeep();
    figures_->refresh();
    return more;
}

Status Node::release() {
    auto* leases = stores_->log().leases();
    const Status trainer = trainer_lease_ ? trainer_lease_->release() : base::ok();
    const Status partitions = leases == nullptr ? base::ok() : leases->release();
    return partitions ? trainer : partitions;
}

Status Node::check_may_propose() const {
    RAMPART_RETURN_IF_ERROR(stores_->check_declared());
    if (!settings_.audit.enabled) return base::ok();
    return base::make_error(Reason::kAuditorMayNotPropose,
                            "audit.enabled is true, so that figures of the vault can be read here; "
                            "propose candidates with a configuration without it");
}

/// Returns what is not read on: sources of the joiner, and the topic of person keys.
std::vector<joiner::StoppedPartition> Node::stopped() const {
    auto all = loop_->stopped();
    if (const Status keys = stores_->check_person_keys(); !keys) {
        all.push_back({stores_->topics().person_keys, streaming::PartitionId(0), keys.error()});
    }
    return all;
}

/// Accepts the topic of person keys as it is, or, for a partition of decisions or the topic of
/// protected attributes that has stopped at a key that is not here, that the key is lost; false:
/// neither is so.
Result<bool> Node::resume_keys(const std::string& topic, streaming::PartitionId partition) {
    const auto& topics = stores_->topics();
    if (topic == topics.person_keys) {
        return stores_->accept_key_topic().map([] { return true; });
    }
    const bool attributes = topic == topics.protected_attributes;
    if (topic != topics.decisions && !attributes) return false;
    const auto lacks_key = [](const Status& status) {
        return !status && status.error().is(privacy::Reason::kUnknownPersonKey);
    };
    bool stopped = false;
    for (const auto& view : decisions_->partitions())
        stopped |= !attributes && view.partition == partition && lacks_key(view.status);
    for (const auto& one : loop_->stopped())
        stopped |= one.topic == topic && one.partition == partition && lacks_key(one.error);
    if (!stopped) return false;
    RAMPART_TRY(auto lost, stores_->person_keys().missing());
    std::erase_if(lost, [&](const auto& key) {
        const bool of_attributes = key.name.starts_with(sealed_log::kAttributesName);
        if (attributes || of_attributes) return attributes != of_attributes;
        return streaming::partition_of(key.name, settings_.log.partitions) != partition;
    });
    RAMPART_RETURN_IF_ERROR(stores_->person_keys().give_up(lost));
    return !lost.empty();
}

/// Takes in what is stated of persons: for all nodes that have to know it.
Status Node::state_attributes(std::span<const protected_attributes::ProtectedAttributes> people) {
    const TimePoint now = clock_->now();
    if (attributes_) return attributes_->publish(people, now);
    if (!stores_->log().shared()) return stores_->attributes().put(people, now);
    return base::make_error(Reason::kAttributesElsewhere,
                            "this node decides group-blind and does not train: it neither reads "
                            "nor writes protected attributes");
}

Roles Node::served_roles() const {
    Roles roles = settings_.log.roles;
    roles.train = settings_.trains;
    roles.monitor = settings_.trains && settings_.monitor.enabled;
    return roles;
}

}  // namespace rampart::rampartd
