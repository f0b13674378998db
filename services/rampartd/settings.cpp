#include "services/rampartd/settings.hpp"

#include <tuple>

#include "rampart/config/table.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/runtime/product_toml.hpp"
#include "rampart/training/gate_inputs.hpp"
#include "services/decision_service/settings.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {
namespace {

using base::Result;

model::BootstrapLink read_bootstrap(config::Table table) {
    model::BootstrapLink link;
    link.feature = table.string("feature");
    link.missing = table.number("missing", 0, 1);
    for (const auto& row : table.number_rows("points")) {
        if (row.size() != 2) {
            table.fail("points", "each point is [value of the feature, probability of approval]");
            break;
        }
        link.points.emplace_back(row[0], row[1]);
    }
    return link;
}

/// Reads how long the end is shown, which no load balancer of a replay has to see, and how many may
/// follow what happens.
std::pair<base::Duration, size_t> read_streams(config::Table http, bool event_clock) {
    return {base::Duration::seconds(http.integer("drain_seconds", 0, 300, event_clock ? 0 : 2)),
            static_cast<size_t>(http.integer("event_streams", 1, 10'000, 64))};
}

/// A backup without keys recognises the secrets of a store by their names (is_secret()).
void check_place(config::Table table, const char* key, const std::filesystem::path& secret,
                 const std::filesystem::path& store) {
    const auto inside = secret.lexically_normal().lexically_relative(store.lexically_normal());
    if (inside.empty() || *inside.begin() == ".." || is_secret(inside.generic_string())) return;
    table.fail(
        key,
        "lies in the store but not in its keys/, so that a backup without keys would have it; "
        "move the file to <store>/keys/ or out of the store, and name it there");
}

http::ServerOptions read_server(config::Table table, const config::Places& places,
                                const std::filesystem::path& store) {
    const auto http = decision_service::read_http(table, places);
    if (http.tls) check_place(table.table("tls"), "key_file", http.tls->key, store);
    return http;
}

/// Fails where the cluster deletes decisions that have to be kept, or that a node which was away
/// for three months has not read.
void check_kept(config::Table& privacy, int retention_months, int kept_months) {
    constexpr int kAwayMonths = 3;
    const int needed = retention_months + kAwayMonths;
    if (kept_months == 0 || kept_months >= needed) return;
    privacy.fail("retention_months",
                 fmt::format("decisions are kept for {} months, and kafka.kept_months is {}: give "
                             "that {} or more, so that a node that was away for {} months reads "
                             "all of them; or 0, for ever",
                             retention_months, kept_months, needed, kAwayMonths));
}

PrivacySettings read_privacy(config::Table table, const config::Places& places,
                             const std::filesystem::path& store, const LogSettings& log) {
    PrivacySettings privacy;
    privacy.encrypt_log = table.boolean("encrypt_log", true);
    privacy.encrypt_databases = table.boolean("encrypt_databases", false);
    privacy.retention_months =
        static_cast<int>(table.integer("retention_months", 1, 1200, privacy.retention_months));
    check_kept(table, privacy.retention_months, log.kept_months);
    privacy.secret = config::secret_file(table, "secret", places);
    if (!privacy.secret.empty()) {
        check_place(table, "secret", privacy.secret, store);
    } else if (privacy.encrypt_log && log.broker == LogSettings::Broker::kKafka) {
        table.fail(
            "secret",
            "with log.broker = \"kafka\" name a file with 64 hex digits (openssl rand -hex "
            "32), mode 0600, the same on all nodes of the group: decisions are sealed with "
            "keys behind it, so that a person can be erased; or set encrypt_log = false, and "
            "what is erased stays readable in the log");
    }
    return privacy;
}

data_retention::QuarantineLimits read_quarantine(config::Table table) {
    const int64_t mib = table.integer("max_mib", 1, 1 << 20, 256);
    const int64_t days = table.integer("max_days", 1, 36500, 365);
    return {static_cast<uint64_t>(mib) << 20, base::Duration::days(days)};
}

/// The wait is shorter than clients wait for an answer by default.
JobSettings read_jobs(config::Table table) {
    JobSettings jobs;
    jobs.wait = base::Duration::seconds(table.integer("wait_seconds", 0, 20, 10));
    jobs.most_waiting = static_cast<size_t>(table.integer("most_waiting", 1, 10'000, 100));
    jobs.keep = base::Duration::hours(table.integer("keep_hours", 1, 24 * 365, 168));
    return jobs;
}

/// Checks that no decision may be erased before it has matured. Persons who ask for erasure may
/// have other outcomes than the rest, so that the gate would read a biased sample.
base::Status check_retention(const PrivacySettings& privacy, const domain::Product& product) {
    constexpr int64_t kShortestMonthDays = 28;
    for (const auto& measure : product.all_measures()) {
        const int64_t grace_days = measure.grace.micros() / base::Duration::days(1).micros();
        const int64_t needed =
            measure.horizon_months + (grace_days + kShortestMonthDays - 1) / kShortestMonthDays;
        if (privacy.retention_months >= needed) continue;
        return base::make_error(
            Reason::kRetentionTooShort,
            "privacy.retention_months: {} is too short for the measure '{}', which is complete {} "
            "months and {} days after the decision; give {} or more",
            privacy.retention_months, measure.name, measure.horizon_months, grace_days, needed);
    }
    return base::ok();
}

/// One node of a group trains, and has to know everything; the others have to know it by its key.
void check_trainer(config::Table& root, const LogSettings& log, bool trains,
                   const std::string& gate_key) {
    auto training = root.table("training");
    if (trains && !log.holds_all()) {
        training.fail(
            "enabled",
            "the node that trains has to hold all partitions: give the others in log.follow, "
            "or set enabled = false and let another node train");
    }
    if (!trains && log.broker == LogSettings::Broker::kLocal) {
        training.fail("enabled", "with the embedded log this node is the only one, so it trains");
    }
    if (!trains && log.roles.train && !log.roles.all()) {
        training.fail("enabled", "is false, and roles has train: leave one of both out");
    }
    if (!trains && gate_key.empty()) {
        training.fail("gate_key",
                      "is required with enabled = false, and without the role train: the "
                      "gate.pub.pem of the node that trains");
    }
}

Result<LogSettings> read_log(config::Table& root, const config::Places& places,
                             const std::filesystem::path& store, GivenRoles roles) {
    if (roles && (!roles->empty() || root.has("roles")))
        return read_log_settings(root, places, *roles);
    RAMPART_TRY(const auto before, remembered_roles(store));
    if (!roles || before.empty()) return read_log_settings(root, places, before);
    return base::make_error(Reason::kRolesMissing,
                            "the store '{}' ran with --roles {}, and neither this start nor "
                            "'roles' of the configuration says what it is to do: give --roles {} "
                            "again, or, for a node that does all, --roles {}",
                            store.string(), before, before, to_string(Roles()));
}

champion_monitor::MonitorSettings read_monitor(config::Table& root, const Roles& roles) {
    auto monitor = champion_monitor::read_monitor_settings(root);
    monitor.enabled = monitor.enabled && roles.monitor;
    return monitor;
}

/// Returns whether time moves by POST /v1/clock, and the longest time in hours between two starts.
std::pair<bool, int64_t> read_clock(config::Table clock) {
    return {clock.choice("mode", {"system", "event"}, "system") == "event",
            clock.integer("max_downtime_hours", 1, 24 * 365, 24)};
}

/// Returns exploration_per_day, cool_off_days and whether declines are explained after the answer.
std::tuple<long, int, bool> read_deciding(config::Table& decision) {
    return {decision.integer("exploration_per_day", 0, 1'000'000'000, 1000),
            static_cast<int>(decision.integer("cool_off_days", 1, domain::kMaxCoolOffDays,
                                              domain::kDefaultCoolOffDays)),
            decision.choice("explain", {"after_answer", "on_request"}, "after_answer") ==
                "after_answer"};
}

/// Checks a recipe with the deployment's features and product.
base::Status check_rows(config::Table& root, const training::Recipe& recipe,
                        const dataset::FeatureSchema& features, const ProductFile& product) {
    const auto misfit = find_misfit(recipe, features, product);
    if (!misfit) return base::ok();
    const bool here = recipe.file.empty();
    auto table = root.table(here && !misfit->table.empty() ? misfit->table : "training");
    table.fail(here                  ? misfit->key
               : table.has("recipe") ? "recipe"
                                     : "recipes",
               training::located(recipe, *misfit).message);
    return root.finish();
}

void check_criterion(config::Table& root, const training::Recipe& recipe, bool group_aware) {
    if (group_aware || !training::decides_by_group(recipe)) return;
    root.table("postprocess")
        .fail("criterion", fmt::format("is {}, whose rule reads the group when it decides, so it "
                                       "needs decision.protected_attributes = \"group_aware\"; "
                                       "rules of the ramp with group = \"blind\" do not",
                                       recipe.criterion));
}

void set_impact(certification::GateConfig& config, const domain::Impact& impact) {
    config.impact_lo = impact.lo;
    config.impact_hi = impact.hi;
    config.declined_impact = impact.declined;
    config.impact_units = impact.units;
}

ReviewSettings read_reviews(config::Table table) {
    return {static_cast<size_t>(table.integer("most_open", 0, 10'000'000, 1000)),
            base::Duration::days(table.integer("longest_days", 1, 3650, 14))};
}

DiskSettings read_disk(config::Table table) {
    const auto mib = [&](const char* key, int64_t least, int64_t otherwise) {
        return static_cast<uint64_t>(table.integer(key, least, 1 << 20, otherwise)) << 20;
    };
    return {mib("background_mib_per_second", 0, 128),
            base::Duration::days(table.integer("scrub_every_days", 1, 365, 7)),
            mib("scrub_mib_per_second", 1, 16)};
}

}  // namespace

Result<ProductFile> load_product_file(const std::filesystem::path& file) {
    RAMPART_TRY(auto root, config::parse_file(file));
    domain::Product product = runtime::read_product(root);
    std::vector<protected_attributes::Attribute> attributes;
    for (auto& table : root.tables("attribute")) {
        attributes.push_back({table.string("name"), table.strings("values")});
    }
    const bool intersections = root.boolean("intersections", true);
    model::BootstrapLink bootstrap = read_bootstrap(root.table("bootstrap"));
    RAMPART_RETURN_IF_ERROR(root.finish());
    RAMPART_RETURN_IF_ERROR(domain::validate(product));
    RAMPART_TRY(auto catalog, protected_attributes::AttributeCatalog::create(std::move(attributes),
                                                                             intersections));
    return ProductFile{std::move(product), std::move(catalog), std::move(bootstrap)};
}

learning::GroupsToCome groups_of(const protected_attributes::AttributeCatalog& catalog) {
    learning::GroupsToCome groups{{}, catalog.cells()};
    for (const auto& attribute : catalog.attributes()) groups.attributes.push_back(attribute.name);
    return groups;
}

std::optional<training::Fault> find_misfit(const training::Recipe& recipe,
                                           const dataset::FeatureSchema& features,
                                           const ProductFile& file) {
    const auto& product = file.product;
    training::RowsToCome rows{.features = features, .groups = groups_of(file.catalog)};
    if (recipe.label == training::Label::kOutcome) return training::find_misfit(recipe, rows);
    const auto& impact = product.impact;
    if (!impact.measure || *impact.measure == product.label.name)
        return training::Fault{
            "", "label",
            base::make_error(learning::Reason::kCannotLearn,
                             "label is \"impact\", and product {} computes it from its label: "
                             "leave it out, or name a reported measure as impact.measure",
                             product.name)};
    rows.numeric = true;
    rows.label_lo = impact.lo;
    rows.label_hi = impact.hi;
    return training::find_misfit(recipe, rows);
}

/// Gives the gate the product's impact, and checks retention, the gate's constraints and the
/// lender's words with the deployment's features, groups and product.
base::Status fit_to_product(const PrivacySettings& privacy, certification::GateConfig& gate,
                            const std::optional<notices::Lender>& lender,
                            const dataset::ServedSchema& schema, const ProductFile& product) {
    RAMPART_RETURN_IF_ERROR(check_retention(privacy, product.product));
    set_impact(gate, product.product.impact);
    RAMPART_TRY(const auto constraints, certification::ConstraintSet::compile(gate));
    RAMPART_RETURN_IF_ERROR(
        training::check_conditions(constraints, schema.features(), product.catalog.groups()));
    if (!lender) return base::ok();
    // policies of before decline by the earlier names
    RAMPART_TRY(const auto names, schema.all_names());
    return notices::check_lender(*lender, product.product.name, names);
}

Result<Settings> load_settings(const std::filesystem::path& file, GivenRoles roles) {
    RAMPART_TRY(auto root, config::parse_file(file));
    const auto places = decision_service::places_of(file);
    const std::filesystem::path product_path = places.folder / root.string("product");
    const std::filesystem::path schema_path = places.folder / root.string("schema");
    const std::filesystem::path store = places.folder / root.string("store", "store");
    const http::ServerOptions http = read_server(root.table("http"), places, store);
    const auto oidc = decision_service::read_oidc(root.table("http").table("oidc"), places.folder);
    const auto [event_clock, downtime_hours] = read_clock(root.table("clock"));
    const auto [drain, event_streams] = read_streams(root.table("http"), event_clock);
    auto decision = root.table("decision");
    const bool group_aware = decision.choice("protected_attributes", {"group_blind", "group_aware"},
                                             "group_blind") == "group_aware";
    const auto [exploration_per_day, cool_off_days, explains] = read_deciding(decision);
    RAMPART_TRY(LogSettings log, read_log(root, places, store, roles));
    const auto memory_mib = root.table("memory").integer("databases_mib", 32, 1 << 20, 512);
    const auto disk = read_disk(root.table("disk"));
    const bool trains = root.table("training").boolean("enabled", true) && log.roles.train;
    const std::string gate_key = root.table("training").string("gate_key", "");
    check_trainer(root, log, trains, gate_key);
    auto training = retraining::read_training_settings(root, places.folder);
    training.group_aware = group_aware;
    log.attributes = trains || group_aware;
    const auto threads = static_cast<size_t>(root.table("training").integer("threads", 1, 64, 2));
    for (const auto& recipe : training.recipes) check_criterion(root, recipe, group_aware);
    const PrivacySettings privacy = read_privacy(root.table("privacy"), places, store, log);
    const auto monitor = read_monitor(root, log.roles);
    const auto event_window = serving::read_event_window(root.table("event_time"));
    const auto quarantine = read_quarantine(root.table("quarantine"));
    const auto jobs = read_jobs(root.table("jobs"));
    const bool audit = root.table("audit").boolean("enabled", false);
    auto lender = notices::read_lender(root, places.folder);
    const auto reviews = read_reviews(root.table("reviews"));
    RAMPART_RETURN_IF_ERROR(root.finish());
    RAMPART_TRY(auto product, load_product_file(product_path));
    RAMPART_TRY(auto schema, dataset::read_served_schema(schema_path));
    for (const auto& recipe : training.recipes)
        RAMPART_RETURN_IF_ERROR(check_rows(root, recipe, schema.features(), product));
    const auto fits = fit_to_product(privacy, training.gate.config, lender, schema, product);
    if (!fits) return fits.error().with_context(file.string());
    return Settings{store,
                    http,
                    oidc,
                    drain,
                    event_streams,
                    event_clock,
                    threads,
                    exploration_per_day,
                    cool_off_days,
                    explains,
                    std::move(log),
                    static_cast<size_t>(memory_mib) << 20,
                    disk,
                    trains,
                    gate_key.empty() ? std::filesystem::path() : places.folder / gate_key,
                    std::move(product.product),
                    std::move(product.catalog),
                    std::move(product.bootstrap),
                    std::move(schema),
                    std::move(training),
                    privacy,
                    monitor,
                    event_window,
                    {audit},
                    base::Duration::hours(downtime_hours),
                    quarantine,
                    jobs,
                    std::move(lender),
                    reviews};
}

}  // namespace rampart::rampartd
