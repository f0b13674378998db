#include "fault/chaos/load.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "rampart/base/random.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::chaos {
namespace {

using base::Duration;
using base::Result;
using base::TimePoint;
using streaming::PartitionId;
using Steady = std::chrono::steady_clock;

constexpr int64_t kRetryPauseMs = 25;

bool over(Steady::time_point start, Duration patience) {
    return Steady::now() - start > std::chrono::microseconds(patience.micros());
}

}  // namespace

void Routes::set(const std::vector<Node*>& nodes) {
    const std::lock_guard lock(mutex_);
    for (const Node* node : nodes) {
        for (const int32_t p : node->share().own) owners_[static_cast<size_t>(p)] = node;
    }
}

const Node* Routes::owner(PartitionId partition) const {
    const std::lock_guard lock(mutex_);
    return owners_.at(static_cast<size_t>(partition.value()));
}

Result<http::Response> Asker::ask(const Node& node, std::string_view target,
                                  const std::string* body, Duration timeout) {
    const auto endpoint = node.endpoint();
    if (!endpoint)
        return base::Error{base::ErrorCode::kUnavailable, "no_endpoint",
                           fmt::format("'{}' does not serve", node.name())};
    auto& connection = connections_[&node];
    if (connection.endpoint != *endpoint || connection.timeout != timeout || !connection.client) {
        http::ClientOptions options;
        options.timeout = timeout;
        options.token = node.token();
        RAMPART_TRY(connection.client, http::Client::create(*endpoint, options));
        connection.endpoint = *endpoint;
        connection.timeout = timeout;
    }
    auto response = body ? connection.client->post(target, *body) : connection.client->get(target);
    if (!response) connection.client.reset();
    return response;
}

Result<std::string> Asker::post(PartitionId partition, std::string_view target,
                                const std::string& body) {
    const auto start = Steady::now();
    while (true) {
        const Node* node = routes_.owner(partition);
        auto response = ask(*node, target, &body);
        if (response && response->status < 300) return std::move(response->body);
        const bool passes = !response || response->status == 503 || response->status == 421;
        if (!passes) {
            return base::Error{base::ErrorCode::kFailedPrecondition, "refused",
                               fmt::format("'{}' answered {}: {}", node->name(), response->status,
                                           response->body.substr(0, 400))};
        }
        if (over(start, patience_) || !oracle_.sound()) {
            return base::Error{base::ErrorCode::kUnavailable, "stalled",
                               fmt::format("no node answers for partition {}: {}", partition,
                                           response ? response->body : response.error().message)};
        }
        ++retries_;
        tend_();
        sleep_ms(kRetryPauseMs);
    }
}

Load::Load(LoadOptions options, const loan_stream::Stream& stream, const Routes& routes,
           Oracle& oracle)
    : options_(std::move(options)), stream_(stream), routes_(routes), oracle_(oracle) {
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = options_.bootstrap_servers;
    settings.delivery_timeout = Duration::seconds(3);
    settings.stall_limit = Duration::seconds(1);
    auto writer = streaming_kafka::KafkaWriter::open(settings);
    if (!writer) throw std::runtime_error(writer.error().message);
    kafka_writer_ = std::move(*writer);
    auto reader = streaming_kafka::KafkaReader::open(settings);
    if (!reader) throw std::runtime_error(reader.error().message);
    kafka_reader_ = std::move(*reader);
    writer_ = std::make_unique<authenticated_log::AuthenticatedLog>(
        *kafka_reader_, *kafka_writer_,
        authenticated_log::AuthenticatedTopics{{std::string(32, '\xaa')},
                                               {options_.topics.decisions}});
    for (size_t i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { work(); });
}

Load::~Load() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
}

void Load::resume() {
    {
        const std::lock_guard lock(mutex_);
        limit_ = UINT64_MAX;
        running_ = true;
    }
    changed_.notify_all();
}

void Load::pause() {
    std::unique_lock lock(mutex_);
    running_ = false;
    changed_.wait(lock, [&] { return busy_ == 0; });
}

void Load::run_to(uint64_t batches) {
    std::unique_lock lock(mutex_);
    limit_ = batches;
    running_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return next_ >= limit_ && busy_ == 0; });
    running_ = false;
}

void Load::work() {
    Asker asker(routes_, options_.patience, oracle_);
    uint64_t retries = 0;
    while (true) {
        uint64_t number = 0;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return ending_ || (running_ && next_ < limit_); });
            if (ending_) return;
            number = next_++;
            ++busy_;
        }
        send(number, asker);
        retries_ += asker.retries() - std::exchange(retries, asker.retries());
        {
            const std::lock_guard lock(mutex_);
            --busy_;
        }
        changed_.notify_all();
        if (options_.pause.micros() > 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(options_.pause.micros()));
        }
    }
}

PartitionId Load::home(const domain::DecisionId& id) const {
    return streaming::partition_of(id.value(), routes_.partitions());
}

void Load::send(uint64_t number, Asker& asker) {
    const auto batch = plan_batch(options_, stream_, routes_.partitions(), number);
    std::vector<streaming::Record> early, late, applications;
    std::vector<domain::Outcome> by_http;
    for (const auto& report : batch.reports) {
        for (int copy = 0; copy < report.copies; ++copy) {
            if (!report.by_topic)
                by_http.push_back(report.outcome);
            else
                (report.early ? early : late).push_back(wire::to_record(report.outcome));
        }
    }
    append(options_.topics.outcomes, early);
    for (const auto& poison : batch.poison) {
        const bool placed = poison.partition.value() >= 0;
        append(poison.topic, {&poison.record, 1},
               placed ? std::optional(poison.partition) : std::nullopt);
    }
    for (const auto& application : batch.by_topic) {
        applications.push_back(wire::to_record(application));
    }
    append(options_.topics.applications, applications);
    for (const auto& application : batch.by_topic) {
        oracle_.must_be_decided(domain::decision_id_of(application.id));
    }
    send_applications(batch.by_http, asker);
    send_outcomes(by_http, asker);
    append(options_.topics.outcomes, late);
    if (options_.moves_time) join_on(number, asker);
    for (const auto& report : batch.reports) oracle_.reported(report.outcome);
}

/// Event time stands still, but a node that gets the same time again joins the records in the log.
/// So kills interrupt that, too. Its answer does not matter.
void Load::join_on(uint64_t number, Asker& asker) {
    static const auto body = fmt::format("{{\"now\":\"{}\"}}", base::to_iso8601(TimePoint()));
    const auto partitions = static_cast<uint64_t>(routes_.partitions());
    const Node* node = routes_.owner(PartitionId(static_cast<int32_t>(number % partitions)));
    static_cast<void>(asker.ask(*node, "/v1/clock", &body));
}

/// Sends each node the applications that it owns in one request, again until it has decided them.
void Load::send_applications(std::span<const domain::Application> applications, Asker& asker) {
    std::map<PartitionId, std::vector<domain::Application>> by_home;
    for (const auto& application : applications) {
        by_home[home(domain::decision_id_of(application.id))].push_back(application);
    }
    for (const auto& [partition, some] : by_home) {
        const auto answer = asker.post(partition, "/v1/decisions",
                                       wire::to_json(std::span<const domain::Application>(some)));
        if (!answer) {
            oracle_.violation("an application was not decided: " + answer.error().message);
            continue;
        }
        const auto decisions = wire::decisions_from_json(*answer);
        if (!decisions || decisions->size() != some.size()) {
            oracle_.violation("an answer makes no sense: " + answer->substr(0, 200));
            continue;
        }
        for (const auto& decision : *decisions) oracle_.acknowledged(decision);
    }
}

void Load::send_outcomes(std::span<const domain::Outcome> outcomes, Asker& asker) {
    std::map<PartitionId, std::vector<domain::Outcome>> by_home;
    for (const auto& outcome : outcomes) by_home[home(outcome.decision)].push_back(outcome);
    for (const auto& [partition, some] : by_home) {
        const auto answer = asker.post(partition, "/v1/outcomes",
                                       wire::to_json(std::span<const domain::Outcome>(some)));
        if (!answer) {
            oracle_.violation("an outcome was not taken in: " + answer.error().message);
        }
    }
}

/// Sends until it is acknowledged. If the first result was unknown, the log has the same record
/// twice.
void Load::append(const std::string& topic, std::span<const streaming::Record> records,
                  std::optional<PartitionId> partition) {
    if (records.empty()) return;
    const auto start = Steady::now();
    while (true) {
        const auto done = partition ? writer_->append_to(topic, *partition, records)
                                    : writer_->append(topic, records);
        if (done) return;
        if (over(start, options_.patience) || !oracle_.sound()) {
            return oracle_.violation("the log takes nothing: " + done.error().message);
        }
        ++retries_;
        sleep_ms(kRetryPauseMs);
    }
}

}  // namespace rampart::chaos
