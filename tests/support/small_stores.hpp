#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "support/small_service.hpp"

namespace rampart::support {

/// Decision service, joiner, registry and what is kept of persons, over a log in memory with
/// unsealed decisions, in a folder of their own. The clock stands at day 100.
class SmallStores {
  public:
    SmallStores()
        : folder_(std::filesystem::path(testing::TempDir()) /
                  ("small_stores" + base::to_hex(base::random_bytes(8)))),
          service(log) {
        std::filesystem::create_directories(folder_);
        keys = privacy::PersonKeys::open(folder_ / "keys", std::string(32, 's')).value();
        holds = privacy::Register::open(folder_ / "register").value();
        auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        attributes =
            protected_attributes::ProtectedStore::open(folder_ / "attributes", *catalog).value();
        joiner =
            joiner::OutcomeJoiner::open(folder_ / "joins", {.product = two_measure_product()}, log)
                .value();
        registry = registry::ModelRegistry::open(folder_ / "models").value();
    }
    ~SmallStores() {
        registry.reset();
        joiner.reset();
        attributes.reset();
        holds.reset();
        keys.reset();
        std::filesystem::remove_all(folder_);
    }
    SmallStores(const SmallStores&) = delete;
    SmallStores& operator=(const SmallStores&) = delete;

    base::Status catch_up() {
        RAMPART_TRY(const auto caught_up, joiner::catch_up(*joiner));
        return joiner::nothing_stopped(caught_up.stopped);
    }
    /// Decides an application of person "p-NUMBER" at day 100, and joins it.
    domain::Decision decide(int number) {
        service.approve_all();
        auto decision = service.decide(make_application(number, day(100)));
        EXPECT_TRUE(catch_up());
        return decision;
    }
    /// Damages the file of a registered model.
    void damage_model(const domain::PolicyId& id) {
        const auto file = folder_ / "models" / "models" / (id.value() + ".rmp");
        ASSERT_TRUE(base::write_file_atomically(file, "damaged"));
    }
    /// The last entry of the audit log.
    registry::AuditEntry audited() const { return registry->audit_entries().value().back(); }

  private:
    std::filesystem::path folder_;

  public:
    MemoryLog log;
    SmallService service;
    std::unique_ptr<privacy::PersonKeys> keys;
    std::unique_ptr<privacy::Register> holds;
    std::unique_ptr<protected_attributes::ProtectedStore> attributes;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;
    std::unique_ptr<registry::ModelRegistry> registry;
};

}  // namespace rampart::support
