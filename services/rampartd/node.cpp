#include "services/rampartd/node.hpp"

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/runtime/secrets.hpp"
#include "services/outcome_joiner/joiner_service.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

constexpr std::string_view kDecisions = "decisions", kOutcomes = "outcomes";
constexpr std::string_view kActor = "rampartd";

/// The bootstrap policy as its model file.
Result<std::string> bootstrap_model(const Settings& settings) {
    RAMPART_TRY(auto policy, model::Policy::create(settings.schema, {settings.bootstrap}, {},
                                                   {{"learner", "bootstrap"}, {"product", settings.product.name}}));
    return model::encode_model_file(policy);
}

}  // namespace

Result<Keys> load_keys(const std::filesystem::path& store) {
    const auto folder = store / "keys";
    RAMPART_TRY(auto draw, runtime::load_or_create_secret(folder / "draw"));
    RAMPART_TRY(auto split, runtime::load_or_create_secret(folder / "split"));
    RAMPART_TRY(auto evidence, runtime::load_or_create_secret(folder / "evidence"));
    RAMPART_TRY(const auto token, runtime::load_or_create_secret(folder / "token"));
    RAMPART_TRY(const auto signing, runtime::load_or_create_secret(folder / "signing"));
    RAMPART_TRY(auto key, base::SigningKey::from_raw(signing));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(store / "gate.pub.pem", key.public_key().to_pem()));
    return Keys{std::move(draw), std::move(split), std::move(evidence), base::to_hex(token), std::move(key)};
}

Node::Node(Settings settings, Keys keys)
    : settings_(std::move(settings)), keys_(std::move(keys)), pool_(settings_.training_threads) {}

Result<std::unique_ptr<Node>> Node::open(Settings settings) {
    std::error_code failure;
    std::filesystem::create_directories(settings.store, failure);
    if (failure) {
        return base::unavailable("no_store", "cannot make the store '{}': {}", settings.store.string(), failure.message());
    }
    RAMPART_TRY(auto keys, load_keys(settings.store));
    std::unique_ptr<Node> node(new Node(std::move(settings), std::move(keys)));
    RAMPART_RETURN_IF_ERROR(node->open_stores());
    RAMPART_RETURN_IF_ERROR(node->bootstrap());
    RAMPART_RETURN_IF_ERROR(node->open_services());
    RAMPART_RETURN_IF_ERROR(node->serve_champion());
    return node;
}

Status Node::open_stores() {
    const auto& store = settings_.store;
    RAMPART_TRY(log_, streaming_local::LocalLog::open(store / "log"));
    for (const auto topic : {kDecisions, kOutcomes}) {
        streaming_local::TopicOptions options;
        options.partitions = settings_.partitions;
        RAMPART_RETURN_IF_ERROR(log_->create_topic(topic, options));
    }
    RAMPART_TRY(protected_, protected_attributes::ProtectedStore::open(store / "protected", settings_.catalog));
    joiner::JoinerOptions joiner_options;
    joiner_options.product = settings_.product;
    joiner_options.partitions = settings_.partitions;
    RAMPART_TRY(joiner_, joiner::OutcomeJoiner::open(store / "partitions", std::move(joiner_options), *log_));
    if (settings_.event_clock) {
        // event time goes on where it stood; a new store begins at the dawn of time
        auto manual = std::make_unique<runtime::ManualClock>(joiner_->clock().value_or(TimePoint::from_micros(0)));
        manual_clock_ = manual.get();
        clock_ = std::move(manual);
    } else {
        clock_ = std::make_unique<runtime::SystemClock>();
    }
    RAMPART_TRY(registry_, registry::ModelRegistry::open(store / "registry"));
    return base::ok();
}

Status Node::bootstrap() {
    if (registry_->champion()) return base::ok();
    RAMPART_TRY(const auto file, bootstrap_model(settings_));
    RAMPART_TRY(const auto id, registry_->register_model(file, clock_->now(), kActor));
    return registry_->bootstrap_champion(id, clock_->now(), kActor).map([](const registry::Promotion&) {});
}

Status Node::open_services() {
    decision_service::DecisionServiceOptions options;
    options.partitions_folder = settings_.store / "partitions";
    options.partitions = settings_.partitions;
    options.product = settings_.product;
    options.draw_key = {runtime::secret_id(keys_.draw), keys_.draw};
    options.exploration_per_day = static_cast<uint64_t>(settings_.exploration_per_day);
    if (settings_.training.group_aware) {
        options.group_lookup = [this](const domain::PersonId& person) -> Result<std::optional<size_t>> {
            RAMPART_TRY(const auto membership, protected_->membership(person));
            return membership.cell ? std::optional<size_t>(*membership.cell) : std::nullopt;
        };
    }
    RAMPART_TRY(decisions_, decision_service::DecisionService::open(std::move(options), {*log_, *log_, *clock_, metrics_, health_}));
    RAMPART_TRY(builder_, training_set::TrainingSetBuilder::create(*joiner_, settings_.product, settings_.schema, *protected_, keys_.split));
    RAMPART_TRY(trainer_, trainer::TrainingLoop::open(settings_.store / "trainer", settings_.training,
                                                      {settings_.product, *joiner_, *builder_, *registry_, keys_.signing,
                                                       keys_.evidence, &pool_}));
    health_.add(runtime::Probe::kReady, "loop", [this] {
        const std::lock_guard lock(status_mutex_);
        return last_advance_;
    });
    return base::ok();
}

Status Node::serve_champion() {
    const std::lock_guard lock(champion_mutex_);
    const auto champion = registry_->champion();
    if (!champion) return base::internal_error("no_champion", "the registry has no champion");
    const auto serving = decisions_->policy();
    if (serving != nullptr && serving->id() == champion->policy) return base::ok();
    RAMPART_TRY(auto loaded, registry_->load_model(champion->policy));
    return decisions_->set_policy(std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified());
}

/// An error while any source is stopped: what could not be read must not mature as if it had never been reported.
Status Node::catch_up() {
    RAMPART_TRY(auto caught_up, outcome_joiner::catch_up(*joiner_));
    const Status status = outcome_joiner::nothing_stopped(caught_up.stopped);
    const std::lock_guard lock(status_mutex_);
    stopped_ = std::move(caught_up.stopped);
    return status;
}

Status Node::advance(TimePoint now) {
    const std::lock_guard lock(mutex_);
    const auto step = [&]() -> Status {
        if (manual_clock_ != nullptr) manual_clock_->advance_to(now);
        // an interrupted run goes on with what was known when it began
        RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
        RAMPART_RETURN_IF_ERROR(catch_up());
        RAMPART_RETURN_IF_ERROR(trainer_->advance(now));
        return serve_champion();
    };
    const Status status = step();
    const std::lock_guard status_lock(status_mutex_);
    last_advance_ = status;
    return status;
}

Result<trainer::RunRecord> Node::certify(const domain::PolicyId& candidate, TimePoint t, const std::string& new_epoch) {
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(trainer_->finish_started());
    RAMPART_RETURN_IF_ERROR(catch_up());
    RAMPART_RETURN_IF_ERROR(joiner_->advance(t).map([](size_t) {}));
    if (!new_epoch.empty()) RAMPART_RETURN_IF_ERROR(trainer_->open_epoch(t, new_epoch));
    RAMPART_TRY(auto run, trainer_->certify(candidate, t));
    RAMPART_RETURN_IF_ERROR(serve_champion());
    return run;
}

Status Node::rollback(std::string_view actor, std::string_view reason) {
    RAMPART_RETURN_IF_ERROR(registry_->rollback(clock_->now(), actor, reason).map([](const registry::Promotion&) {}));
    return serve_champion();
}

Result<base::Digest> Node::state_hash() const {
    const std::lock_guard lock(mutex_);
    base::Sha256 hash;
    RAMPART_TRY(const int32_t partitions, log_->partitions(kDecisions));
    for (int32_t p = 0; p < partitions; ++p) {
        const streaming::PartitionId partition(p);
        RAMPART_TRY(auto offset, log_->begin_offset(kDecisions, partition));
        RAMPART_TRY(const auto end, log_->end_offset(kDecisions, partition));
        while (offset < end) {
            RAMPART_TRY(const auto records, log_->read(kDecisions, partition, offset, 1000));
            for (const auto& stored : records) {
                hash.update_field(stored.record.key);
                hash.update_field(stored.record.value);
                offset = streaming::Offset(stored.offset.value() + 1);
            }
        }
    }
    hash.update_field(joiner_->state_hash().hex());
    RAMPART_TRY(const auto ledger, registry_->ledger_entries());
    for (const auto& entry : ledger) hash.update_field(entry);
    hash.update_field(registry_->audit_head().hash.hex());
    return hash.finish();
}

}  // namespace rampart::rampartd
