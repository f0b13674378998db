#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "rampart/decision/draw_check.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/sealed_log/key_feed.hpp"
#include "services/rampartd/declaration.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/log_access.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// What a node keeps, but for what it decides and trains with: registry, log, person keys, register
/// of holds, protected attributes, joined state. Opened in this order.
class Stores {
  public:
    /// Called, while the joiner reads, with decisions whose records can no longer be opened.
    using OnUnreadable = std::function<base::Status(std::span<const domain::DecisionId>)>;

    /// Before anything is written it is made sure that what is in the store was made with `keys`.
    /// `shutdown`, if given, ends the wait for another node's lease, and has to outlive the stores,
    /// as `settings` and `keys` have to.
    static base::Result<std::unique_ptr<Stores>> open(const Settings& settings, const Keys& keys,
                                                      const runtime::Shutdown* shutdown,
                                                      OnUnreadable on_unreadable);

    /// Records the ids of the keys and, on a log of its own, what the store is bound to; in a new
    /// store makes the bootstrap policy the champion.
    base::Status bootstrap(base::TimePoint now);
    /// Records what the store is bound to, where other nodes share the log: once they agree with
    /// it. Does nothing where the settings do not declare and the store is not new.
    base::Status declare(base::TimePoint now);
    /// ok: the store is bound to schema file and product as they are. failed_precondition
    /// "schema_not_declared": the settings do not declare, and the file has grown.
    base::Status check_declared() const;
    /// Returns the features that the store is bound to, as dataset::write_features() has them;
    /// empty: to none yet.
    std::string declared_features() const;

    const std::shared_ptr<storage::MemoryBudget>& memory() const { return memory_; }
    LogAccess& log() const { return *log_; }
    const wire::Topics& topics() const { return log_->topics(); }
    privacy::PersonKeys& person_keys() const { return *person_keys_; }
    /// ok: no key of a person is missing, and the topic of keys is as it was. Otherwise
    /// KeyFeed::state()'s, or unavailable "unknown_person_key", and how many are missing.
    base::Status check_person_keys() const;
    /// As KeyFeed::accept(). failed_precondition "not_stopped": there is nothing to accept.
    base::Status accept_key_topic() const;
    privacy::Register& holds() const { return *register_; }
    protected_attributes::ProtectedStore& attributes() const { return *protected_; }
    joiner::OutcomeJoiner& joiner() const { return *joiner_; }
    const decision::DrawCheck& draws() const { return *draws_; }
    registry::ModelRegistry& registry() const { return *registry_; }

  private:
    Stores(const Settings& settings, const Keys& keys, const runtime::Shutdown* shutdown)
        : settings_(settings), keys_(keys), shutdown_(shutdown) {}
    base::Status open_registry();
    base::Status open_log();
    base::Status check_owners();
    base::Status open_privacy();
    base::Status open_joiner(OnUnreadable on_unreadable);
    bool wait(base::Duration duration);

    const Settings& settings_;
    const Keys& keys_;
    const runtime::Shutdown* const shutdown_;
    const runtime::SystemClock wall_clock_;
    std::mutex wait_mutex_;
    std::condition_variable wait_;  // never notified: a wait that only time ends
    std::shared_ptr<storage::MemoryBudget> memory_;
    std::unique_ptr<LogAccess> log_;
    std::unique_ptr<sealed_log::KeyFeed> key_feed_;  // on a shared log
    std::unique_ptr<privacy::PersonKeys> person_keys_;
    std::unique_ptr<privacy::Register> register_;
    std::unique_ptr<protected_attributes::ProtectedStore> protected_;
    std::unique_ptr<decision::DrawCheck> draws_;  // asked by the joiner
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    std::unique_ptr<registry::ModelRegistry> registry_;
    Declaration declaration_;
    bool declared_ = false;  // all of it is on record
};

}  // namespace rampart::rampartd
