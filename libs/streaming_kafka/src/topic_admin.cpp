#include "rampart/streaming_kafka/topic_admin.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "client.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Result;
using base::Status;
using streaming::TopicSpec;
using namespace std::chrono_literals;

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Deleter<rd_kafka_NewTopic_destroy>>;
using ConfigResource =
    std::unique_ptr<rd_kafka_ConfigResource_t, Deleter<rd_kafka_ConfigResource_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Deleter<rd_kafka_AdminOptions_destroy>>;
using AclFilter =
    std::unique_ptr<rd_kafka_AclBindingFilter_t, Deleter<rd_kafka_AclBinding_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Deleter<rd_kafka_event_destroy>>;

constexpr int kMaxReplication = 16;
constexpr Span kRetryPause = 50ms;

/// Returns whether brokers that answer otherwise do not show settings.
bool is_not_shown(const base::Error& error) {
    return error.is(Reason::kNotAuthorized) || error.is(Reason::kBrokerTooOld);
}

/// Returns what the brokers show of one topic.
Result<TopicConfigs> configs_of(const Result<std::map<std::string, Result<TopicConfigs>>>& all,
                                const std::string& topic) {
    if (!all) return all.error();
    const auto found = all->find(topic);
    if (found != all->end()) return found->second;
    return base::make_error(Reason::kBrokerError, "the configuration of topic '{}': not answered",
                            topic);
}

Status check_specs(std::span<const TopicSpec> specs, int replication_factor) {
    for (const auto& spec : specs) {
        if (spec.partitions >= 1 && spec.partitions <= kMaxPartitions) continue;
        return base::make_error(streaming::Reason::kBadPartitions,
                                "topic '{}': {} partitions; 1 to {} are allowed", spec.name,
                                spec.partitions, kMaxPartitions);
    }
    if (replication_factor >= 1 && replication_factor <= kMaxReplication) return base::ok();
    return base::make_error(Reason::kBadReplication, "replication factor {}; 1 to {} are allowed",
                            replication_factor, kMaxReplication);
}

Operation operation_of(rd_kafka_AclOperation_t operation) {
    switch (operation) {
        case RD_KAFKA_ACL_OPERATION_ALL:
            return Operation::kAll;
        case RD_KAFKA_ACL_OPERATION_READ:
            return Operation::kRead;
        case RD_KAFKA_ACL_OPERATION_WRITE:
            return Operation::kWrite;
        case RD_KAFKA_ACL_OPERATION_CREATE:
            return Operation::kCreate;
        case RD_KAFKA_ACL_OPERATION_DELETE:
            return Operation::kDelete;
        case RD_KAFKA_ACL_OPERATION_ALTER:
            return Operation::kAlter;
        case RD_KAFKA_ACL_OPERATION_DESCRIBE:
            return Operation::kDescribe;
        case RD_KAFKA_ACL_OPERATION_CLUSTER_ACTION:
            return Operation::kClusterAction;
        case RD_KAFKA_ACL_OPERATION_DESCRIBE_CONFIGS:
            return Operation::kDescribeConfigs;
        case RD_KAFKA_ACL_OPERATION_ALTER_CONFIGS:
            return Operation::kAlterConfigs;
        case RD_KAFKA_ACL_OPERATION_IDEMPOTENT_WRITE:
            return Operation::kIdempotentWrite;
        default:
            return Operation::kUnknown;
    }
}

AclEntry entry_of(const rd_kafka_AclBinding_t& binding) {
    const auto text = [](const char* words) { return std::string(words == nullptr ? "" : words); };
    const bool prefixed =
        rd_kafka_AclBinding_resource_pattern_type(&binding) == RD_KAFKA_RESOURCE_PATTERN_PREFIXED;
    return {rd_kafka_AclBinding_restype(&binding) == RD_KAFKA_RESOURCE_TOPIC ? Resource::kTopic
                                                                             : Resource::kCluster,
            prefixed ? AclPattern::kPrefixed : AclPattern::kLiteral,
            text(rd_kafka_AclBinding_name(&binding)),
            text(rd_kafka_AclBinding_principal(&binding)),
            text(rd_kafka_AclBinding_host(&binding)),
            operation_of(rd_kafka_AclBinding_operation(&binding)),
            rd_kafka_AclBinding_permission_type(&binding) == RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW};
}

}  // namespace

struct TopicAdmin::Impl {
    std::unique_ptr<Client> client;

    AdminOptions options(rd_kafka_admin_op_t operation, base::Duration limit) const;
    AdminOptions options(rd_kafka_admin_op_t operation) const {
        return options(operation, client->settings().request_timeout);
    }
    Result<Event> answer(rd_kafka_queue_t* queue, std::string_view what, Instant since) const;
    Result<std::optional<Client::TopicState>> find(const std::string& topic);
    Status make(std::span<const TopicSpec* const> specs, int replication_factor);
    Status await(const TopicSpec& spec);
    using ConfigsByTopic = std::map<std::string, Result<TopicConfigs>>;
    Result<Event> describe_configs(std::span<const TopicSpec* const> specs,
                                   std::optional<int32_t> broker, base::Duration limit);
    Result<ConfigsByTopic> configs(std::span<const TopicSpec* const> specs,
                                   const std::set<int32_t>& brokers);
    Status add_entries(rd_kafka_ResourceType_t kind, std::vector<AclEntry>& entries) const;
};

AdminOptions TopicAdmin::Impl::options(rd_kafka_admin_op_t operation, base::Duration limit) const {
    AdminOptions options(rd_kafka_AdminOptions_new(client->handle(), operation));
    std::array<char, 256> why{};
    const int millis = static_cast<int>(to_chrono(limit).count());
    rd_kafka_AdminOptions_set_request_timeout(options.get(), millis, why.data(), why.size());
    return options;
}

Result<Event> TopicAdmin::Impl::answer(rd_kafka_queue_t* queue, std::string_view what,
                                       Instant since) const {
    // the library answers within the request's own timeout
    const auto limit = to_chrono(client->settings().request_timeout) + 5s;
    Event event(rd_kafka_queue_poll(queue, millis_until(since + limit)));
    if (!event) return client->error(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
    const auto failure = rd_kafka_event_error(event.get());
    if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) return event;
    return client->error(failure, what);
}

Result<std::optional<Client::TopicState>> TopicAdmin::Impl::find(const std::string& topic) {
    auto state = client->describe(topic);
    if (state) return std::optional(*std::move(state));
    if (state.error().code == base::ErrorCode::kNotFound) return std::nullopt;
    return state.error();
}

/// Sends one request for all.
Status TopicAdmin::Impl::make(std::span<const TopicSpec* const> specs, int replication_factor) {
    const Instant since = now();
    std::vector<NewTopic> topics;
    std::vector<rd_kafka_NewTopic_t*> raw;
    std::array<char, 512> why{};
    for (const auto* spec : specs) {
        topics.emplace_back(rd_kafka_NewTopic_new(spec->name.c_str(), spec->partitions,
                                                  replication_factor, why.data(), why.size()));
        if (!topics.back()) {
            return base::make_error(Reason::kRefusedByBroker, "topic '{}': {}", spec->name,
                                    why.data());
        }
        raw.push_back(topics.back().get());
        for (const auto& [name, value] : required_configs(*spec, replication_factor)) {
            rd_kafka_NewTopic_set_config(raw.back(), name.c_str(), value.c_str());
        }
    }
    const Queue queue(rd_kafka_queue_new(client->handle()));
    const auto how = options(RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_CreateTopics(client->handle(), raw.data(), raw.size(), how.get(), queue.get());
    RAMPART_TRY(const Event event, answer(queue.get(), "creating topics", since));
    size_t count = 0;
    const auto* results = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event.get()), &count);
    for (size_t i = 0; i < count; ++i) {
        const auto failure = rd_kafka_topic_result_error(results[i]);
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR ||
            failure == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {  // another process created it just
                                                                  // now
            continue;
        }
        const char* words = rd_kafka_topic_result_error_string(results[i]);
        return to_error(failure,
                        fmt::format("creating topic '{}'", rd_kafka_topic_result_name(results[i])),
                        words == nullptr ? "" : words);
    }
    return base::ok();
}

/// Waits until every partition has a leader.
Status TopicAdmin::Impl::await(const TopicSpec& spec) {
    const Instant deadline = now() + to_chrono(client->settings().request_timeout);
    for (;;) {
        RAMPART_TRY(const auto state, find(spec.name));
        if (state && state->leaders >= spec.partitions) return base::ok();
        if (now() >= deadline) {
            return client->error(
                RD_KAFKA_RESP_ERR__TIMED_OUT,
                fmt::format("topic '{}' was created, but has no leader", spec.name));
        }
        client->pause(kRetryPause);
    }
}

/// Requests the configurations of topics from one broker, or from the controller.
Result<Event> TopicAdmin::Impl::describe_configs(std::span<const TopicSpec* const> specs,
                                                 std::optional<int32_t> broker,
                                                 base::Duration limit) {
    const Instant since = now();
    std::vector<ConfigResource> resources;
    std::vector<rd_kafka_ConfigResource_t*> raw;
    for (const auto* spec : specs) {
        resources.emplace_back(
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, spec->name.c_str()));
        raw.push_back(resources.back().get());
    }
    const Queue queue(rd_kafka_queue_new(client->handle()));
    const auto how = options(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limit);
    std::array<char, 256> why{};
    if (broker) rd_kafka_AdminOptions_set_broker(how.get(), *broker, why.data(), why.size());
    rd_kafka_DescribeConfigs(client->handle(), raw.data(), raw.size(), how.get(), queue.get());
    return answer(queue.get(), "requesting the settings of the topics (DescribeConfigs)", since);
}

/// Returns the configurations of existing topics, in one request to one of the brokers: to the
/// next one only if one does not answer. A broker knows at once that it lacks the request; the
/// library waits for a controller that has it. The brokers may show the configuration of one topic
/// and refuse that of another.
Result<TopicAdmin::Impl::ConfigsByTopic> TopicAdmin::Impl::configs(
    std::span<const TopicSpec* const> specs, const std::set<int32_t>& brokers) {
    std::vector<std::optional<int32_t>> asked(brokers.begin(), brokers.end());
    if (asked.empty()) asked.emplace_back(std::nullopt);
    const auto limit = base::Duration::micros(client->settings().request_timeout.micros() /
                                              static_cast<int64_t>(asked.size()));
    Result<Event> answered = base::Error();
    for (const auto broker : asked) {
        answered = describe_configs(specs, broker, limit);
        if (answered || answered.error().code != base::ErrorCode::kUnavailable) break;
    }
    RAMPART_TRY(const Event event, std::move(answered));
    size_t count = 0;
    const auto* results = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event.get()), &count);
    ConfigsByTopic found;
    for (size_t i = 0; i < count; ++i) {
        const std::string name = rd_kafka_ConfigResource_name(results[i]);
        const auto failure = rd_kafka_ConfigResource_error(results[i]);
        if (failure != RD_KAFKA_RESP_ERR_NO_ERROR) {
            found.insert_or_assign(
                name, to_error(failure, fmt::format("the configuration of topic '{}'", name)));
            continue;
        }
        TopicConfigs configs;
        size_t entries = 0;
        const auto* all = rd_kafka_ConfigResource_configs(results[i], &entries);
        for (size_t e = 0; e < entries; ++e) {
            const char* value = rd_kafka_ConfigEntry_value(all[e]);
            configs[rd_kafka_ConfigEntry_name(all[e])] = value == nullptr ? "" : value;
        }
        found.insert_or_assign(name, std::move(configs));
    }
    return found;
}

/// Adds all entries about resources of one kind, for any principal: those for all users count, too.
Status TopicAdmin::Impl::add_entries(rd_kafka_ResourceType_t kind,
                                     std::vector<AclEntry>& entries) const {
    const Instant since = now();
    std::array<char, 512> why{};
    const AclFilter filter(rd_kafka_AclBindingFilter_new(
        kind, nullptr, RD_KAFKA_RESOURCE_PATTERN_ANY, nullptr, nullptr, RD_KAFKA_ACL_OPERATION_ANY,
        RD_KAFKA_ACL_PERMISSION_TYPE_ANY, why.data(), why.size()));
    if (!filter) return base::make_error(Reason::kRefusedByBroker, "a filter: {}", why.data());
    const Queue queue(rd_kafka_queue_new(client->handle()));
    const auto how = options(RD_KAFKA_ADMIN_OP_DESCRIBEACLS);
    rd_kafka_DescribeAcls(client->handle(), filter.get(), how.get(), queue.get());
    RAMPART_TRY(const Event event,
                answer(queue.get(), "requesting the access control lists", since));
    size_t count = 0;
    const auto* found =
        rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event.get()), &count);
    for (size_t i = 0; i < count; ++i) entries.push_back(entry_of(*found[i]));
    return base::ok();
}

TopicAdmin::TopicAdmin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TopicAdmin::~TopicAdmin() = default;

Result<std::unique_ptr<TopicAdmin>> TopicAdmin::open(const KafkaSettings& settings) {
    auto impl = std::make_unique<Impl>();
    RAMPART_TRY(impl->client, Client::open(settings, Client::Kind::kConsumer));
    return std::unique_ptr<TopicAdmin>(new TopicAdmin(std::move(impl)));
}

Result<std::vector<std::string>> TopicAdmin::create(std::span<const TopicSpec> specs,
                                                    int replication_factor) {
    RAMPART_RETURN_IF_ERROR(check_specs(specs, replication_factor));
    std::vector<const TopicSpec*> missing;
    for (const auto& spec : specs) {
        RAMPART_TRY(const auto state, impl_->find(spec.name));
        if (!state) missing.push_back(&spec);
    }
    std::vector<std::string> made;
    if (missing.empty()) return made;
    RAMPART_RETURN_IF_ERROR(impl_->make(missing, replication_factor));
    for (const auto* spec : missing) {
        RAMPART_RETURN_IF_ERROR(impl_->await(*spec));
        made.push_back(spec->name);
    }
    return made;
}

Result<TopicsFound> TopicAdmin::look(std::span<const TopicSpec> specs) {
    TopicsFound found;
    std::vector<const TopicSpec*> present;
    std::set<int32_t> brokers;
    for (const auto& spec : specs) {
        RAMPART_TRY(const auto state, impl_->find(spec.name));
        found.topics.push_back({spec.name, state.has_value(), 0, 0, {}});
        if (!state) continue;
        found.topics.back().partitions = state->partitions;
        found.topics.back().replicas = state->replicas;
        brokers.insert(state->led_by.begin(), state->led_by.end());
        present.push_back(&spec);
    }
    if (present.empty()) return found;
    const auto configs = impl_->configs(present, brokers);
    for (size_t i = 0; i < specs.size(); ++i) {
        auto& topic = found.topics[i];
        if (!topic.exists) continue;
        const auto shown = configs_of(configs, topic.name);
        if (!shown && !is_not_shown(shown.error())) return shown.error();
        if (!shown && found.settings) found.settings = shown.error();
        const auto settings = shown ? *shown : required_configs(specs[i], topic.replicas);
        topic.differences = differences_of(specs[i], topic.partitions, topic.replicas, settings);
    }
    return found;
}

Result<std::vector<TopicCheck>> TopicAdmin::check(std::span<const TopicSpec> specs) {
    RAMPART_TRY(auto found, look(specs));
    RAMPART_RETURN_IF_ERROR(found.settings);
    return std::move(found.topics);
}

Result<std::vector<AclEntry>> TopicAdmin::acl_entries() {
    std::vector<AclEntry> entries;
    for (const auto kind : {RD_KAFKA_RESOURCE_TOPIC, RD_KAFKA_RESOURCE_BROKER})
        RAMPART_RETURN_IF_ERROR(impl_->add_entries(kind, entries));
    // librdkafka 2.0 drops the error that the broker has put into its answer
    if (!entries.empty()) return entries;
    return base::make_error(Reason::kNoAccessLists,
                            "the brokers show no access control entry: they have none, or no "
                            "authorizer (authorizer.class.name; without one, every client may do "
                            "everything), or the user that asks lacks DESCRIBE on the cluster, "
                            "which the roles auditing and admin have");
}

}  // namespace rampart::streaming_kafka
