#include "services/rampartd/stores.hpp"

#include <set>

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/data_retention/log_retention.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/storage/process_limits.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "services/rampartd/attributes_left.hpp"
#include "services/rampartd/key_change.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/state_left.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;

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

/// The bootstrap policy as its model file.
Result<std::string> bootstrap_model(const Settings& settings) {
    const auto& features = settings.schema.features();
    auto link = settings.bootstrap;
    // the product may say an earlier name of it
    if (const auto feature = settings.schema.find(link.feature))
        link.feature = features.features()[*feature].name;
    RAMPART_TRY(auto policy, model::Policy::create(
                                 features, {link}, {},
                                 {{"learner", "bootstrap"}, {"product", settings.product.name}}));
    return model::encode_model_file(policy);
}

}  // namespace

Result<std::unique_ptr<Stores>> Stores::open(const Settings& settings, const Keys& keys,
                                             const runtime::Shutdown* shutdown,
                                             OnUnreadable on_unreadable) {
    RAMPART_RETURN_IF_ERROR(check_nothing_left(settings.store, settings.log));
    RAMPART_RETURN_IF_ERROR(check_no_erasure_left(settings.store, settings.log.roles));
    std::unique_ptr<Stores> stores(new Stores(settings, keys, shutdown));
    RAMPART_RETURN_IF_ERROR(stores->open_registry());
    RAMPART_TRY(stores->declaration_, declaration_of(stores->registry(), settings));
    RAMPART_RETURN_IF_ERROR(stores->open_log());
    RAMPART_RETURN_IF_ERROR(stores->check_owners());
    RAMPART_RETURN_IF_ERROR(stores->open_privacy());
    RAMPART_RETURN_IF_ERROR(stores->open_joiner(std::move(on_unreadable)));
    return stores;
}

Status Stores::open_registry() {
    const auto& store = settings_.store;
    RAMPART_TRY(registry_, registry::ModelRegistry::open(store / "registry"));
    RAMPART_RETURN_IF_ERROR(check_keys(keys_, registry_->recorded_keys(), store));
    return write_gate_keys(store, *registry_, keys_.signing.public_key());
}

/// false: the process is to stop.
bool Stores::wait(base::Duration duration) {
    if (shutdown_ != nullptr) return !shutdown_->wait_for(duration);
    std::unique_lock lock(wait_mutex_);
    wait_.wait_for(lock, std::chrono::microseconds(duration.micros()));
    return true;
}

Status Stores::open_log() {
    storage::limit_background_rate(settings_.disk.background_rate);
    RAMPART_TRY(memory_, storage::MemoryBudget::create(settings_.memory_bytes));
    const auto patience = [this](base::Duration duration) { return wait(duration); };
    RAMPART_TRY(log_, LogAccess::open(settings_.log, settings_.store / "log", wall_clock_, patience,
                                      memory_));
    return log_->check_topics(settings_.log);
}

/// Refuses to begin with a partition that another node owns, before anything is made for it that
/// would be left here.
Status Stores::check_owners() {
    if (!log_->shared() || !settings_.log.roles.decide) return base::ok();
    std::set<streaming::PartitionId> begun;
    for (const auto partition : settings_.log.own) {
        const auto folder = settings_.store / "partitions" / std::to_string(partition.value());
        std::error_code failure;  // then it counts as not there, and the leases say more
        if (!std::filesystem::exists(folder / "decisions", failure)) begun.insert(partition);
    }
    return log_->leases()->check_free(begun);
}

Status Stores::open_privacy() {
    if (log_->shared()) {
        key_feed_ = std::make_unique<sealed_log::KeyFeed>(log_->reader(), log_->writer(),
                                                          wall_clock_, topics().person_keys);
    }
    const auto folder = settings_.store / "privacy";
    std::error_code failure;  // storage says what is wrong with the path
    std::filesystem::create_directories(folder, failure);
    RAMPART_TRY(person_keys_,
                privacy::PersonKeys::open(folder / "keys", keys_.person, key_feed_.get(), memory_));
    RAMPART_TRY(register_, privacy::Register::open(folder / "register", memory_));
    const bool seals = settings_.privacy.encrypt_log;
    RAMPART_RETURN_IF_ERROR(
        data_retention::note_sealing(*register_, log_->reader(), topics().decisions,
                                     settings_.log.partitions, log_->shared(), seals));
    log_->seal_with(*person_keys_, seals);
    return base::ok();
}

Status Stores::check_person_keys() const {
    if (key_feed_) RAMPART_RETURN_IF_ERROR(key_feed_->state());
    RAMPART_TRY(const auto missing, person_keys_->missing());
    if (missing.empty()) return base::ok();
    return base::make_error(privacy::Reason::kUnknownPersonKey,
                            "{} keys of persons are not here, with one of which '{}' is sealed; "
                            "see ops/runbooks/person-keys.md",
                            missing.size(), missing.front().name);
}

Status Stores::accept_key_topic() const {
    if (key_feed_ && !key_feed_->state()) return key_feed_->accept(*person_keys_);
    return base::make_error(joiner::Reason::kNotStopped, "there is nothing to accept in topic '{}'",
                            topics().person_keys);
}

Status Stores::open_joiner(OnUnreadable on_unreadable) {
    const auto& store = settings_.store;
    tell_of_earlier_layout(store);
    if (log_->shared() && !settings_.log.attributes)
        RAMPART_RETURN_IF_ERROR(remove_attributes_left(store, *registry_, wall_clock_.now()));
    RAMPART_TRY(protected_, protected_attributes::ProtectedStore::open(store / "protected",
                                                                       settings_.catalog, memory_));
    joiner::JoinerOptions options;
    options.product = settings_.product;
    options.decisions_topic = topics().decisions;
    options.outcomes_topic = topics().outcomes;
    options.partitions = settings_.log.partitions;
    options.held = settings_.log.roles.join ? settings_.log.held() : streaming::no_partitions();
    options.memory = memory_;
    // a broker does not know of event time
    options.append_times = !(settings_.event_clock && log_->shared());
    options.on_unreadable = std::move(on_unreadable);
    // who is in the vault, only the node that trains knows
    options.withheld = [&salt = keys_.split, trains = settings_.trains](const auto& person) {
        return !trains || training_set::in_vault(salt, person);
    };
    draws_ = std::make_unique<decision::DrawCheck>(draw_keys(keys_, *registry_, store));
    options.check_draw = [draws = draws_.get()](const auto& decision) {
        return draws->check(decision);
    };
    RAMPART_TRY(joiner_, joiner::OutcomeJoiner::open(store / "partitions", std::move(options),
                                                     log_->reader()));
    return base::ok();
}

Status Stores::bootstrap(base::TimePoint now) {
    if (registry_->champion() && registry_->recorded_keys().empty()) {
        kLog.warning(
            "msg=\"the registry did not hold the ids of the store's keys: recorded those of the "
            "keys that are there\"");
    }
    RAMPART_RETURN_IF_ERROR(registry_->record_keys(recorded(keys_), now, kActor));
    declared_ = settings_.declares || !registry_->champion() || declaration_.on_record();
    if (!log_->shared()) RAMPART_RETURN_IF_ERROR(declare(now));
    if (registry_->champion()) return base::ok();
    RAMPART_TRY(const auto file, bootstrap_model(settings_));
    RAMPART_TRY(const auto id, registry_->register_model(file, now, kActor));
    return registry_->bootstrap_champion(id, now, kActor).map([](const registry::Promotion&) {});
}

Status Stores::declare(base::TimePoint now) {
    return declared_ ? record(*registry_, declaration_, settings_, now) : base::ok();
}

Status Stores::check_declared() const {
    // a store of an earlier release, whose features are those of its champion, is as before
    if (declared_ || declaration_.changes.empty()) return base::ok();
    return base::make_error(Reason::kSchemaNotDeclared,
                            "the schema file has changed since the service was started last ({}), "
                            "and this command does not put that on record; start the service with "
                            "it first",
                            declaration_.changes.front());
}

std::string Stores::declared_features() const {
    return declared_ ? dataset::write_features(settings_.schema) : declaration_.before;
}

}  // namespace rampart::rampartd
