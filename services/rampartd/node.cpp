#include "services/rampartd/node.hpp"

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/runtime/store_start.hpp"
#include "services/rampartd/files_needed.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

constexpr std::string_view kActor = "rampartd";
constexpr base::Logger kLog("rampartd");

void tell_of_earlier_layout(const std::filesystem::path& store) {
    for (const auto& folder : databases_of_earlier_layout(store)) {
        kLog.warning(
            "msg=\"of an earlier release, not read any more: what it held is made anew from the "
            "log under partitions/; "
            "delete it once /readyz is ok and 'rampart store check' finds nothing\" folder={}",
            folder.string());
    }
}

/// Whether no partition is damaged, or being made anew: only reading the log mends that.
bool is_whole(const joiner::OutcomeJoiner& joiner) {
    const auto upkeep = joiner.upkeep();
    return upkeep.rebuilding + upkeep.refused == 0;
}

/// The bootstrap policy as its model file.
Result<std::string> bootstrap_model(const Settings& settings) {
    RAMPART_TRY(auto policy, model::Policy::create(
                                 settings.schema, {settings.bootstrap}, {},
                                 {{"learner", "bootstrap"}, {"product", settings.product.name}}));
    return model::encode_model_file(policy);
}

}  // namespace

Node::Node(Settings settings, Keys keys, const runtime::Shutdown* shutdown, Clocks clocks)
    : settings_(std::move(settings)),
      keys_(std::move(keys)),
      pool_(settings_.training_threads),
      clocks_(clocks),
      shutdown_(shutdown) {}

Result<std::unique_ptr<Node>> Node::open(Settings settings, const runtime::Shutdown* shutdown,
                                         Clocks clocks) {
    RAMPART_RETURN_IF_ERROR(runtime::reserve_files(files_needed(settings)));
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, runtime::StoreStart::begin(store, entries_of_a_store(),
                                                             [&] { return holds_a_store(store); }));
    RAMPART_TRY(auto keys, load_keys(*start, store, settings.privacy.secret));
    std::unique_ptr<Node> node(new Node(std::move(settings), std::move(keys), shutdown, clocks));
    RAMPART_RETURN_IF_ERROR(node->open_registry());
    RAMPART_RETURN_IF_ERROR(node->open_log());
    RAMPART_RETURN_IF_ERROR(node->open_stores());
    RAMPART_RETURN_IF_ERROR(node->bootstrap());
    RAMPART_RETURN_IF_ERROR(node->open_services());
    start->succeed();  // from here on others hear of what is done with the keys
    RAMPART_RETURN_IF_ERROR(node->serve_champion());
    node->applications_->start();
    return node;
}

/// Before anything is written: what is in the store was made with the keys that the registry names.
Status Node::open_registry() {
    const auto& store = settings_.store;
    RAMPART_TRY(registry_, registry::ModelRegistry::open(store / "registry"));
    RAMPART_RETURN_IF_ERROR(check_keys(keys_, registry_->recorded_keys(), store));
    return base::write_file_atomically(store / "gate.pub.pem", keys_.signing.public_key().to_pem());
}

Status Node::open_log() {
    const auto wait = [this](base::Duration duration) {
        if (shutdown_ != nullptr) return !shutdown_->wait_for(duration);
        std::unique_lock lock(wait_mutex_);
        wait_.wait_for(lock, std::chrono::microseconds(duration.micros()));
        return true;
    };
    RAMPART_TRY(memory_, storage::MemoryBudget::create(settings_.memory_bytes));
    RAMPART_TRY(
        log_, LogAccess::open(settings_.log, settings_.store / "log", wall_clock_, wait, memory_));
    return open_privacy();
}

Status Node::open_stores() {
    const auto& store = settings_.store;
    tell_of_earlier_layout(store);
    RAMPART_TRY(protected_, protected_attributes::ProtectedStore::open(store / "protected",
                                                                       settings_.catalog, memory_));
    joiner::JoinerOptions joiner_options;
    joiner_options.product = settings_.product;
    joiner_options.decisions_topic = log_->topics().decisions;
    joiner_options.outcomes_topic = log_->topics().outcomes;
    joiner_options.partitions = settings_.log.partitions;
    joiner_options.held = settings_.log.held();
    joiner_options.memory = memory_;
    joiner_options.on_unreadable = [this](std::span<const domain::DecisionId> decisions) {
        return decisions_->erase_unreadable(decisions, clock_->now());
    };
    RAMPART_TRY(joiner_, joiner::OutcomeJoiner::open(store / "partitions",
                                                     std::move(joiner_options), log_->reader()));
    RAMPART_RETURN_IF_ERROR(open_clock());
    return base::ok();
}

Status Node::bootstrap() {
    if (registry_->champion() && registry_->recorded_keys().empty()) {
        kLog.warning(
            "msg=\"the registry did not hold the ids of the store's keys: recorded those of the "
            "keys that are there\"");
    }
    RAMPART_RETURN_IF_ERROR(registry_->record_keys(recorded(keys_.ids), clock_->now(), kActor));
    if (registry_->champion()) return base::ok();
    RAMPART_TRY(const auto file, bootstrap_model(settings_));
    RAMPART_TRY(const auto id, registry_->register_model(file, clock_->now(), kActor));
    return registry_->bootstrap_champion(id, clock_->now(), kActor)
        .map([](const registry::Promotion&) {});
}

decision_service::DecisionServiceOptions Node::decision_options() {
    decision_service::DecisionServiceOptions options;
    options.partitions_folder = settings_.store / "partitions";
    options.decisions_topic = log_->topics().decisions;
    options.outcomes_topic = log_->topics().outcomes;
    options.partitions = settings_.log.partitions;
    options.owned = settings_.log.own;
    options.memory = memory_;
    options.product = settings_.product;
    options.draw_key = {keys_.ids.draw, keys_.draw};
    options.exploration_per_day = static_cast<uint64_t>(settings_.exploration_per_day);
    options.event_window = settings_.event_window;
    if (clock_guard_ != nullptr)
        options.time_unknown = [guard = clock_guard_] { return guard->time_unknown(); };
    if (auto* leases = log_->leases()) {
        options.node = settings_.log.node;
        options.claim = [leases](const decision_service::Epochs& fences) {
            std::set<streaming::PartitionId> partitions;
            for (const auto& [partition, epoch] : fences) partitions.insert(partition);
            return leases->claim(partitions, fences);
        };
        options.owner_of =
            [leases](streaming::PartitionId partition) -> std::optional<std::string> {
            const auto holder = leases->holder(partition);
            return holder ? std::optional(holder->node) : std::nullopt;
        };
    }
    options.contradicts = [this](const domain::Outcome& outcome) {
        return joiner_->contradicts(outcome);
    };
    options.on_overrides = [this](std::span<const domain::Override> taken) {
        return record_overrides(taken);
    };
    if (settings_.training.group_aware) {
        options.group_lookup =
            [this](const domain::PersonId& person) -> Result<std::optional<size_t>> {
            RAMPART_TRY(const auto membership, protected_->membership(person));
            return membership.cell ? std::optional<size_t>(*membership.cell) : std::nullopt;
        };
    }
    return options;
}

Status Node::open_services() {
    auto& reader = log_->reader();
    auto& writer = log_->writer();
    RAMPART_TRY(decisions_, decision_service::DecisionService::open(
                                decision_options(), {reader, writer, *clock_, metrics_, health_}));
    decision_service::ConsumerOptions consumer;
    consumer.applications_topic = log_->topics().applications;
    consumer.quarantine_topic = log_->topics().quarantine;
    RAMPART_TRY(applications_,
                decision_service::ApplicationConsumer::create(
                    std::move(consumer), {reader, writer, *decisions_, metrics_, health_}));
    RAMPART_TRY(builder_,
                training_set::TrainingSetBuilder::create(
                    *joiner_, settings_.product, settings_.schema, *protected_, keys_.split));
    if (log_->shared())
        attributes_.emplace(reader, writer, log_->topics().protected_attributes, *protected_);
    if (settings_.trains) {
        RAMPART_TRY(trainer_, retraining::TrainingLoop::open(
                                  settings_.store / "trainer", settings_.training,
                                  {settings_.product, *joiner_, *builder_, *registry_,
                                   keys_.signing, keys_.evidence, &pool_, keys_.ids}));
        RAMPART_TRY(monitor_,
                    champion_monitor::ChampionMonitor::open(
                        settings_.monitor, {settings_.product, *builder_, *registry_, metrics_,
                                            settings_.training.gate.config.declines_overridden}));
        if (log_->shared()) publisher_.emplace(writer, log_->topics().policies, keys_.signing);
    } else {
        RAMPART_TRY(const auto pem, base::read_file(settings_.gate_key, 4096));
        RAMPART_TRY(auto key, base::VerifyingKey::from_pem(pem));
        follower_.emplace(reader, log_->topics().policies, std::move(key));
    }
    health_.add(runtime::Probe::kDegraded, "loop", [this] {
        const std::lock_guard lock(status_mutex_);
        return last_advance_;
    });
    return base::ok();
}

Status Node::serve_champion() {
    const std::lock_guard lock(champion_mutex_);
    const auto champion = registry_->champion();
    if (!champion) return base::make_error(Reason::kNoChampion, "the registry has no champion");
    const auto serving = decisions_->policy();
    if (follower_) {
        RAMPART_RETURN_IF_ERROR(follow_champion());
        if (decisions_->policy() != nullptr)
            return base::ok();  // the registry's is the bootstrap, for the time before
    } else if (publisher_) {
        RAMPART_TRY(const auto loaded, registry_->load_model(champion->policy));
        RAMPART_RETURN_IF_ERROR(
            publisher_->publish(*champion, model::encode_model_file(loaded.policy)));
    }
    if (serving != nullptr && serving->id() == champion->policy) return base::ok();
    RAMPART_TRY(auto loaded, registry_->load_model(champion->policy));
    return decisions_->set_policy(std::make_shared<const model::LoadedPolicy>(std::move(loaded)),
                                  champion->certified());
}

/// Where another node trains: lets decide what it says.
Status Node::follow_champion() {
    RAMPART_TRY(auto next, follower_->next());
    if (!next) return base::ok();
    return decisions_->set_policy(
        std::make_shared<const model::LoadedPolicy>(std::move(next->policy)),
        next->notice.certified);
}

Status Node::tend() {
    Status status;
    if (auto* leases = log_->leases()) {
        // first: what comes after may wait for a broker, and the leases may not
        const auto lost = leases->heartbeat();
        if (!lost) status = lost.error();
        for (const auto& holder : lost.value_or(std::vector<lease::Holder>())) {
            decisions_->give_up(holder.partition, holder.node);
        }
    }
    decisions_->tend();
    if (clock_guard_ != nullptr) {
        const Status beaten = clock_guard_->beat();
        if (status) status = beaten;
    }
    const Status retained = check_clock() ? retain() : base::ok();
    return status ? retained : status;
}

/// Deletes what the topics of the embedded log need not keep. Only `applications` among the topics
/// with a limited retention has a reader here: its records stay until they are decided.
Status Node::retain() {
    const std::lock_guard lock(retention_mutex_);
    const auto started = std::chrono::steady_clock::now();
    const auto period = std::chrono::microseconds(settings_.retention_period.micros());
    if (retained_at_ && started - *retained_at_ < period) return base::ok();
    retained_at_ = started;
    RAMPART_TRY(const uint64_t dropped,
                log_->drop(clock_->now(),
                           [&](std::string_view topic, streaming::PartitionId partition)
                               -> Result<std::optional<streaming::Offset>> {
                               if (topic != log_->topics().applications)
                                   return std::optional<streaming::Offset>();
                               RAMPART_TRY(const auto settled, applications_->settled(partition));
                               return std::optional(settled);
                           }));
    if (dropped > 0) kLog.info("msg=\"retention applied\" records={}", dropped);
    return base::ok();
}

Status Node::release() {
    return log_->leases() == nullptr ? base::ok() : log_->leases()->release();
}

/// An error while any source is stopped: what could not be read must not mature as if it had never
/// been reported.
Status Node::catch_up() {
    if (attributes_) RAMPART_RETURN_IF_ERROR(attributes_->catch_up());
    RAMPART_RETURN_IF_ERROR(person_keys_->refresh());
    const uint64_t before = joiner_->counts().conflicting_outcomes;
    RAMPART_TRY(auto caught_up, joiner::catch_up(*joiner_));
    const uint64_t conflicts = joiner_->counts().conflicting_outcomes;
    metrics_
        .counter("rampart_conflicting_outcomes_total",
                 "Outcomes and overrides, however they came, that contradict an earlier one of the "
                 "same revision: the "
                 "earlier one stays, they are in quarantine.")
        .add(conflicts - std::min(before, conflicts));
    const Status status = joiner::nothing_stopped(caught_up.stopped);
    if (const uint64_t erased = joiner_->counts().erased; decisions_ && erased != erased_) {
        // another node may have been asked: the index would read of it with the next decision only
        RAMPART_RETURN_IF_ERROR(decisions_->erase({}, clock_->now()));
        erased_ = erased;
    }
    const std::lock_guard lock(status_mutex_);
    stopped_ = std::move(caught_up.stopped);
    return status;
}

Status Node::advance(TimePoint now) {
    const std::lock_guard lock(mutex_);
    const Status time = check_clock();
    if (clock_guard_ != nullptr)
        now = std::min(now, clock_->now());  // it may have been set right since
    const auto step = [&]() -> Status {
        if (manual_clock_ != nullptr) manual_clock_->advance_to(now);
        // an interrupted run goes on with what was known when it began
        if (!is_whole(*joiner_)) RAMPART_RETURN_IF_ERROR(catch_up());
        if (trainer_ && time) RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
        RAMPART_RETURN_IF_ERROR(catch_up());
        if (time)
            RAMPART_RETURN_IF_ERROR(trainer_ ? train_and_watch(now)
                                             : joiner_->advance(now).map([](size_t) {}));
        return serve_champion();
    };
    const Status status = step();
    const std::lock_guard status_lock(status_mutex_);
    last_advance_ = status ? time : status;
    return last_advance_;
}

Result<retraining::RunRecord> Node::certify(const domain::PolicyId& candidate, TimePoint t,
                                            const std::string& new_epoch) {
    const std::lock_guard lock(mutex_);
    if (!trainer_)
        return base::make_error(Reason::kTrainsElsewhere,
                                "another node of the group trains and certifies");
    RAMPART_RETURN_IF_ERROR(check_clock());
    if (!is_whole(*joiner_)) RAMPART_RETURN_IF_ERROR(catch_up());
    RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
    RAMPART_RETURN_IF_ERROR(catch_up());
    RAMPART_RETURN_IF_ERROR(joiner_->advance(t).map([](size_t) {}));
    RAMPART_TRY(auto run, trainer_->certify(candidate, t, new_epoch));
    RAMPART_RETURN_IF_ERROR(serve_champion());
    return run;
}

Status Node::rollback(std::string_view actor, std::string_view reason) {
    if (!trainer_)
        return base::make_error(Reason::kTrainsElsewhere,
                                "another node of the group keeps the champions; roll back there");
    RAMPART_RETURN_IF_ERROR(
        registry_->rollback(clock_->now(), actor, reason).map([](const registry::Promotion&) {}));
    return serve_champion();
}

Result<base::Digest> Node::state_hash() const {
    const std::lock_guard lock(mutex_);
    base::Sha256 hash;
    hash.update_field(joiner_->state_hash().hex());
    RAMPART_TRY(const auto ledger, registry_->ledger_entries());
    for (const auto& entry : ledger) hash.update_field(entry);
    hash.update_field(registry_->audit_head().hash.hex());
    return hash.finish();
}

}  // namespace rampart::rampartd
