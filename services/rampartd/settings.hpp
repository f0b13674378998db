#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/champion_monitor/monitor_settings.hpp"
#include "rampart/data_retention/quarantine_bounds.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/http/server.hpp"
#include "rampart/identity_provider/provider.hpp"
#include "rampart/learning/groups_to_come.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/notices/lender.hpp"
#include "rampart/protected_attributes/catalog.hpp"
#include "rampart/retraining/training_settings.hpp"
#include "rampart/serving/event_window.hpp"
#include "services/rampartd/log_settings.hpp"

namespace rampart::rampartd {

/// What applies to persons. Section [privacy].
struct PrivacySettings {
    bool encrypt_log = true;    // decisions are sealed with a key of each person (ops/adr/0010)
    int retention_months = 25;  // no erasure for so long after a decision; 0 (tests): no limit
    std::filesystem::path
        secret;  // file of the secret behind keys and tags; empty: <store>/keys/person
    bool encrypt_databases = false;  // with the key <store>/keys/store (ops/adr/0036)
};

/// Who may see figures of the vault. Section [audit].
struct AuditSettings {
    /// The holder of the token, and of this configuration, audits the gate: certificates and what
    /// else depends on an outcome of the vault are shown, each reading is in the audit log, and no
    /// candidate is registered or proposed.
    bool enabled = false;
};

struct DiskSettings {
    uint64_t background_rate = 0;  // storage::limit_background_rate()
    base::Duration scrub_period = base::Duration::days(7);
    uint64_t scrub_rate = 16u << 20;  // bytes a second
};

/// Requests that may take long. Section [jobs].
struct JobSettings {
    base::Duration wait = base::Duration::seconds(10);  // where callers do not say
    size_t most_waiting = 100;
    base::Duration keep = base::Duration::days(7);  // results, after the end
};

/// When people hear that reviews wait for too long. Section [reviews].
struct ReviewSettings {
    size_t most_open = 1000;                            // at a time
    base::Duration longest = base::Duration::days(14);  // age of the oldest
};

/// Settings of the all-in-one process. Paths in the file are relative to the file.
struct Settings {
    std::filesystem::path store;
    http::ServerOptions http;
    std::optional<identity_provider::ProviderSettings> oidc{};
    // after SIGTERM, from "not ready" until the port closes
    base::Duration drain = base::Duration::seconds(2);
    size_t event_streams = 64;  // callers that follow GET /v1/events at a time
    bool event_clock = false;   // time moves by POST /v1/clock instead of the wall clock
    size_t training_threads = 2;
    long exploration_per_day = 1000;                  // explored approvals per day
    int cool_off_days = domain::kDefaultCoolOffDays;  // whose applications have one draw
    bool explains = true;  // each decline, after its answer; false: when it is asked for
    LogSettings log;
    size_t memory_bytes = 512u << 20;  // memory of all databases together
    DiskSettings disk{};
    bool trains = true;              // false: another node of the group does; follows its champion
    std::filesystem::path gate_key;  // public key of that node: its gate.pub.pem
    domain::Product product;
    protected_attributes::AttributeCatalog catalog;
    model::BootstrapLink bootstrap;
    dataset::ServedSchema schema;
    retraining::TrainingSettings training;
    PrivacySettings privacy{};
    champion_monitor::MonitorSettings monitor{};
    serving::EventWindow event_window{};
    AuditSettings audit{};
    // by the wall clock, between two starts; after a longer one the clock has to be accepted
    base::Duration max_downtime = base::Duration::hours(24);
    // for joined states, and the same for applications
    data_retention::QuarantineLimits quarantine{};
    JobSettings jobs{};
    std::optional<notices::Lender> notices{};  // nullopt: no notices of adverse action
    ReviewSettings reviews{};
    // the store is bound to schema file and product, as the service does; else, as commands on a
    // store at rest do, they are compared with what it is bound to. Not for operators to choose
    bool declares = true;
    // how often the embedded log lets go what its topics need not keep; not for operators to choose
    base::Duration retention_period = base::Duration::seconds(600);
    // how often the bounds of the quarantines are applied; likewise
    base::Duration quarantine_period = base::Duration::seconds(60);
};

/// A product: its label and impact, its protected attributes, and the first policy.
struct ProductFile {
    domain::Product product;
    protected_attributes::AttributeCatalog catalog;
    model::BootstrapLink bootstrap;
};
/// Reads a product file (ops/config/products). Strict: unknown keys are errors.
base::Result<ProductFile> load_product_file(const std::filesystem::path& file);

/// Returns the groups that training sets of the product have: its cells.
learning::GroupsToCome groups_of(const protected_attributes::AttributeCatalog& catalog);

/// Returns what is wrong with a recipe for the deployment's features, protected groups and labels:
/// those of two values or, as the recipe says, reported impacts.
std::optional<training::Fault> find_misfit(const training::Recipe& recipe,
                                           const dataset::FeatureSchema& features,
                                           const ProductFile& file);

/// As read_log_settings() has them; nullopt: those of the last start (remembered_roles()), for
/// commands. A start that has none, nor the configuration, on a store that ran with some is
/// refused: failed_precondition "roles_missing".
using GivenRoles = std::optional<std::string_view>;

/// Reads rampartd.toml and the product and schema files that it names. Strict: unknown keys are
/// errors.
base::Result<Settings> load_settings(const std::filesystem::path& file, GivenRoles roles = {});

}  // namespace rampart::rampartd
