#include "rampart/streaming_kafka/topic_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using streaming::TopicSpec;

std::string remedy_for(const TopicSpec& spec, std::string_view property, std::string_view found,
                       std::string_view wanted) {
    if (property == "partitions") {
        return fmt::format(
            "never add partitions: keys would move; configure {}, or use another prefix", found);
    }
    const bool is_undeclared = property == "retention.ms" && !spec.max_age;
    return fmt::format(
        "{}kafka-configs.sh --alter --entity-type topics --entity-name {} --add-config {}={}",
        is_undeclared ? "if the law sets this end, declare it by kafka.kept_months; else " : "",
        spec.name, property, wanted);
}

std::string millis(base::Duration duration) { return std::to_string(duration.micros() / 1000); }

/// Returns whether `found` is a number that is not below `wanted`.
bool reaches(const std::string& found, const std::string& wanted) {
    int64_t is = 0, least = 0;
    const auto* const end = found.data() + found.size();
    const auto read = std::from_chars(found.data(), end, is);
    std::from_chars(wanted.data(), wanted.data() + wanted.size(), least);
    return read.ec == std::errc() && read.ptr == end && is >= least;
}

/// Returns whether a retention that is not the specified one may delete what nodes still read.
bool retention_loses(const TopicSpec& spec, std::string_view property, const std::string& found) {
    if (!spec.max_age) return true;
    if (!spec.least_age) return false;
    if (property == "retention.bytes") return true;  // a bound by size says no time
    return found != "-1" && !reaches(found, millis(*spec.least_age));
}

bool loses_records(const TopicSpec& spec, std::string_view property, const std::string& found,
                   const std::string& wanted) {
    if (property == "cleanup.policy" || property == "unclean.leader.election.enable") return true;
    if (property == "retention.ms" || property == "retention.bytes")
        return retention_loses(spec, property, found);
    // by the writer's time, a record may be older than its age from the beginning
    if (property == "message.timestamp.type") return spec.broker_time && spec.max_age.has_value();
    return property == "min.insync.replicas" && !reaches(found, wanted);
}

}  // namespace

TopicConfigs required_configs(const TopicSpec& spec, int replicas) {
    const int in_sync = replicas < 2 ? 1 : std::max(2, replicas - 1);
    TopicConfigs configs{
        {"max.message.bytes", std::to_string(spec.max_record_bytes)},
        {"message.timestamp.type", spec.broker_time ? "LogAppendTime" : "CreateTime"},
        {"min.insync.replicas", std::to_string(in_sync)},
        {"unclean.leader.election.enable", "false"}};
    switch (spec.cleanup) {
        case TopicSpec::Cleanup::kCompact:
            configs["cleanup.policy"] = "compact";
            if (spec.compact_within) {
                configs["max.compaction.lag.ms"] = millis(*spec.compact_within);
            }
            break;
        case TopicSpec::Cleanup::kDelete:
            configs["cleanup.policy"] = "delete";
            configs["retention.bytes"] = "-1";
            configs["retention.ms"] = spec.max_age ? millis(*spec.max_age) : "-1";
            break;
    }
    return configs;
}

std::vector<Difference> differences_of(const TopicSpec& spec, int32_t partitions, int32_t replicas,
                                       const TopicConfigs& found) {
    std::vector<Difference> differences;
    const auto compare = [&](const std::string& property, const std::string& is,
                             const std::string& wanted) {
        if (is == wanted) return;
        differences.push_back({property, is, wanted, remedy_for(spec, property, is, wanted),
                               loses_records(spec, property, is, wanted)});
    };
    compare("partitions", std::to_string(partitions), std::to_string(spec.partitions));
    for (const auto& [property, wanted] : required_configs(spec, replicas)) {
        const auto is = found.find(property);
        compare(property, is == found.end() ? "" : is->second, wanted);
    }
    return differences;
}

base::Status check_keeps_records(std::span<const TopicCheck> topics, bool one_replica) {
    std::vector<std::pair<std::string, std::string>> found;  // what is wrong, and where
    const auto add = [&](const TopicCheck& topic, std::string_view property, std::string_view is,
                         std::string_view wanted, std::string_view remedy) {
        auto what = fmt::format("{} is {}, has to be {}: {}", property, is, wanted, remedy);
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const auto& one) { return one.first == what; });
        if (same == found.end()) {
            found.emplace_back(std::move(what), fmt::format("topic '{}'", topic.name));
        } else {
            same->second += fmt::format(", '{}'", topic.name);
        }
    };
    for (const auto& topic : topics) {
        if (topic.exists && topic.replicas < 2 && !one_replica) {
            add(topic, "replicas", std::to_string(topic.replicas), "3, or 2 at least",
                "make them with kafka-reassign-partitions.sh; a cluster for development: "
                "kafka.development = true");
        }
        for (const auto& d : topic.differences)
            if (d.loses_records) add(topic, d.property, d.found, d.wanted, d.remedy);
    }
    if (found.empty()) return base::ok();
    std::string all;
    for (const auto& [what, where] : found)
        all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", where, what);
    return base::make_error(Reason::kTopicLosesRecords,
                            "records that the cluster has acknowledged can be lost: {}", all);
}

}  // namespace rampart::streaming_kafka
