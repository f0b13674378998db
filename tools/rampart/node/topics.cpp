// topics create|check: the topics of a deployment on a Kafka cluster.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <set>
#include <string>

#include "frame/commands.hpp"
#include "node/acls.hpp"
#include "node/topics_options.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using streaming::TopicSpec;
using streaming_kafka::TopicCheck;

std::string kept(const TopicSpec& spec) {
    if (spec.cleanup == TopicSpec::Cleanup::kCompact) return "latest per key";
    if (!spec.max_age) return "for ever";
    return fmt::format("{} days", spec.max_age->micros() / base::Duration::days(1).micros());
}

std::string state_of(const TopicCheck& topic, bool made) {
    if (!topic.exists) return "missing";
    if (!topic.differences.empty()) return "differs";
    return made ? "made" : "good";
}

/// Exit code 1 where a topic is not what it has to be.
Answer report(std::span<const TopicSpec> specs, std::span<const TopicCheck> topics,
              const std::set<std::string>& made) {
    size_t width = 5;
    for (const auto& topic : topics) width = std::max(width, topic.name.size());
    Answer answer;
    answer.text = fmt::format("{:<{}}  {:>10}  {:>8}  {:<14}  {}\n", "topic", width, "partitions",
                              "replicas", "kept", "state");
    json::array list;
    std::string remedies;
    for (size_t i = 0; i < topics.size(); ++i) {
        const auto& topic = topics[i];
        const auto state = state_of(topic, made.contains(topic.name));
        if (!topic.good()) answer.exit_code = ExitCode::kNo;
        answer.text +=
            fmt::format("{:<{}}  {:>10}  {:>8}  {:<14}  {}\n", topic.name, width,
                        topic.exists ? topic.partitions : specs[i].partitions,
                        topic.exists ? std::to_string(topic.replicas) : "-", kept(specs[i]), state);
        if (!topic.exists) remedies += fmt::format("{}: rampart topics create\n", topic.name);
        json::array differences;
        for (const auto& d : topic.differences) {
            remedies += fmt::format(
                "{}: {} is {}, has to be {}{}: {}\n", topic.name, d.property, d.found, d.wanted,
                d.loses_records ? " (loses acknowledged records)" : "", d.remedy);
            differences.push_back({{"property", d.property},
                                   {"found", d.found},
                                   {"wanted", d.wanted},
                                   {"loses_records", d.loses_records},
                                   {"remedy", d.remedy}});
        }
        list.push_back({{"name", topic.name},
                        {"state", state},
                        {"partitions", topic.partitions},
                        {"replicas", topic.replicas},
                        {"differences", differences}});
    }
    if (!remedies.empty()) answer.text += "\n" + remedies;
    answer.json = json::serialize(
        json::object{{"good", answer.exit_code == ExitCode::kDone}, {"topics", list}});
    return answer;
}

struct CheckOptions {
    TopicsOptions topics;
    SubjectOptions subject;
    bool acls = false;
};

Result<Answer> check(const CheckOptions& options) {
    if (options.acls) return check_acls(options.topics, options.subject);
    RAMPART_TRY(const auto wanted, options.topics.wanted());
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(wanted.kafka));
    const auto& specs = wanted.specs;
    RAMPART_TRY(const auto topics, admin->check(specs));
    return report(specs, topics, {});
}

Result<Answer> create(const TopicsOptions& options) {
    RAMPART_TRY(const auto wanted, options.wanted());
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(wanted.kafka));
    const auto& specs = wanted.specs;
    RAMPART_TRY(const auto made, admin->create(specs, options.replication));
    RAMPART_TRY(const auto topics, admin->check(specs));
    auto answer = report(specs, topics, {made.begin(), made.end()});
    if (options.replication == 1 && !made.empty()) {
        answer.notes.push_back(
            "one replica: if the broker's disk is lost, the log is lost; nodes start on it with "
            "kafka.development = true only");
    }
    return answer;
}

}  // namespace

void add_topics_create(Frame& frame) {
    auto options = std::make_shared<TopicsOptions>();
    auto& command = frame.add(
        {.name = "topics create",
         .summary = "Create the topics that do not exist",
         .example = "rampart topics create --config rampartd.toml",
         .detail =
             "Topics that exist are not changed. Exit code 1: one of them differs from what is "
             "required."},
        [options](const Context&) { return create(*options); });
    options->add_to(command);
    command.add_option("--replication", options->replication, "replicas of each partition")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
}

void add_topics_check(Frame& frame) {
    auto options = std::make_shared<CheckOptions>();
    auto& command = frame.add(
        {.name = "topics check",
         .summary = "Compare the topics, or the rights on them, with what is required",
         .example = "rampart topics check --config rampartd.toml",
         .detail = "Exit code 1: a topic is missing or differs, or a right is missing or too many; "
                   "the remedy is shown."},
        [options](const Context&) { return check(*options); });
    options->topics.add_to(command);
    auto* acls = command.add_flag("--acls", options->acls,
                                  "compare the brokers' access control lists with what the role "
                                  "needs, in place of the topics");
    for (auto* option : options->subject.add_to(command)) option->needs(acls);
    command
        .add_option("--host", options->subject.host,
                    "address that the principal connects from; without it a right has to be there "
                    "for all")
        ->needs(acls);
}

}  // namespace rampart::cli
