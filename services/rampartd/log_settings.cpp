#include "services/rampartd/log_settings.hpp"

#include <algorithm>
#include <set>

#include "rampart/lease/lease_record.hpp"
#include "rampart/runtime/kafka_toml.hpp"

namespace rampart::rampartd {
namespace {

using streaming::PartitionId;

std::vector<PartitionId> read_partitions(config::Table& log, std::string_view key, int32_t count) {
    std::vector<PartitionId> found;
    for (const int64_t p : log.integers(key, 0, count - 1)) {
        found.emplace_back(static_cast<int32_t>(p));
    }
    std::sort(found.begin(), found.end());
    if (std::adjacent_find(found.begin(), found.end()) != found.end()) {
        log.fail(key, "names a partition twice");
    }
    return found;
}

/// Reads how the records of a shared log are known to come from the group.
void read_group_key(config::Table& log, const config::Places& places, LogSettings& settings) {
    auto files = config::secret_files(log, "group_key_files", places);
    const bool open = log.choice("control_records", {"authenticated", "unauthenticated"},
                                 "authenticated") == "unauthenticated";
    const auto until = log.string("unauthenticated_until", "");
    if (settings.broker == LogSettings::Broker::kLocal) return;
    if (files.empty() != open) {
        log.fail(files.empty() ? "group_key_files" : "control_records",
                 "with log.broker = \"kafka\" name in group_key_files a file with 64 hex digits "
                 "(openssl rand -hex 32), mode 0600, the same on all nodes of the group; or, where "
                 "only the group can write to its topics, leave it out and set control_records = "
                 "\"unauthenticated\"");
    }
    settings.group_keys = std::move(files);
    if (until.empty()) return;
    const auto time = base::parse_iso8601(until);
    if (!time) return log.fail("unauthenticated_until", time.error().message);
    if (settings.group_keys.empty())
        log.fail("unauthenticated_until", "has no effect without group_key_files");
    settings.unauthenticated_until = *time;
}

/// Reads what this node does of the group's work. The embedded log has no other node for the rest.
Roles read_roles(config::Table& root, bool embedded, std::string_view given) {
    const auto named = root.strings("roles");
    const auto roles = !given.empty()      ? parse_roles(given)
                       : root.has("roles") ? parse_roles(named)
                                           : base::Result<Roles>(Roles());
    if (!roles) {
        root.fail("roles", roles.error().message);
        return {};
    }
    if (embedded && !roles->all())
        root.fail(
            "roles",
            "with log.broker = \"local\" there is no other node for what this one leaves out: "
            "name all four or none, or set log.broker = \"kafka\"");
    return *roles;
}

/// Gives a node whose lists name no partition all of them, as its roles say.
void share_partitions(config::Table& log, LogSettings& settings) {
    const auto& roles = settings.roles;
    if (!roles.decide && !settings.own.empty())
        log.fail("own",
                 "this node does not decide: name its partitions in log.follow, or leave both "
                 "lists out for all");
    if (!roles.join && !settings.follow.empty())
        log.fail("follow", "this node does not join: leave it out, or add join to its roles");
    if (!settings.own.empty() || !settings.follow.empty()) return;
    auto& all = roles.decide ? settings.own : settings.follow;
    for (int32_t p = 0; p < settings.partitions; ++p) all.emplace_back(p);
}

/// Reads where clients reach this node; without other nodes it has no effect.
std::string read_advertise(config::Table http) {
    const auto address = http.string("advertise", "");
    if (address.empty()) return address;
    if (const auto valid = lease::check_address(address); !valid)
        http.fail("advertise", valid.error().message);
    return address;
}

}  // namespace

std::vector<PartitionId> LogSettings::held() const {
    std::set<PartitionId> all(own.begin(), own.end());
    all.insert(follow.begin(), follow.end());
    return {all.begin(), all.end()};
}

std::optional<base::Duration> LogSettings::kept() const {
    if (kept_months == 0) return std::nullopt;
    return base::Duration::days(int64_t{31} * kept_months);
}

LogSettings read_log_settings(config::Table& root, const config::Places& places,
                              std::string_view roles) {
    LogSettings settings;
    auto log = root.table("log");
    auto kafka = root.table("kafka");
    using enum LogSettings::Broker;
    settings.broker =
        log.choice("broker", {"local", "kafka"}, "local") == "kafka" ? kKafka : kLocal;
    settings.roles = read_roles(root, settings.broker == kLocal, roles);
    settings.partitions = static_cast<int32_t>(log.integer("partitions", 1, 256, 4));
    settings.topic_prefix = log.string("topic_prefix", "");
    settings.advertise = read_advertise(root.table("http"));
    read_group_key(log, places, settings);
    settings.own = read_partitions(log, "own", settings.partitions);
    settings.follow = read_partitions(log, "follow", settings.partitions);
    share_partitions(log, settings);
    for (const PartitionId p : settings.follow) {
        if (std::binary_search(settings.own.begin(), settings.own.end(), p)) {
            log.fail("follow", fmt::format("partition {} is owned already", p));
        }
    }
    if (settings.broker == kKafka || root.has("kafka")) {
        settings.kafka = runtime::read_kafka(kafka, places);
        settings.development = kafka.boolean("development", false);
        settings.kept_months = static_cast<int>(kafka.integer("kept_months", 0, 1200, 0));
        settings.group = kafka.string("group", settings.group);
        settings.node = kafka.string("node", "");
        settings.lease_ttl =
            base::Duration::micros(1000 * kafka.integer("lease_ms", 100, 3'600'000, 10'000));
    }
    if (settings.broker == kLocal) {
        if (!settings.holds_all() || !settings.follow.empty()) {
            log.fail("own", "one process has the embedded log, so it owns all partitions");
        }
        return settings;
    }
    if (settings.roles.decide && settings.own.empty()) {
        log.fail("own",
                 "names no partition, and this node decides: give it one at least, or leave decide "
                 "out of its roles");
    }
    if (settings.node.empty()) {
        kafka.fail("node",
                   "is required with log.broker = \"kafka\": a name of this node, its own in "
                   "the group and the same after every restart");
    }
    if (const auto valid = streaming_kafka::validate(settings.kafka); !valid) {
        kafka.fail("bootstrap_servers", valid.error().message);
    }
    return settings;
}

}  // namespace rampart::rampartd
