#include "fault/wrong/judge.hpp"

#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fault/chaos/oracle.hpp"
#include "fault/chaos/process.hpp"
#include "fault/wrong/events.hpp"
#include "rampart/base/random.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/event_codec.hpp"
#include "support/kafka_broker.hpp"
#include "support/places.hpp"

namespace rampart::wrong {
namespace {

namespace fs = std::filesystem;
using chaos::Process;
using chaos::sleep_ms;
using chaos::wait_until;

const std::string kProgram = test_support::build_dir() + "/tests/wrong_variant";
constexpr auto kPatience = std::chrono::seconds(60);
constexpr uint64_t kLeastEvents = 1000;  // fewer say nothing

template <class T>
T must(base::Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

streaming_kafka::KafkaSettings settings_of(const std::string& bootstrap_servers) {
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = bootstrap_servers;
    return settings;
}

std::string make_topic(const std::string& bootstrap_servers, const std::string& name,
                       int32_t partitions) {
    streaming::TopicSpec spec;
    spec.name = test_support::unique_topic(name);
    spec.partitions = partitions;
    const auto admin = must(streaming_kafka::TopicAdmin::open(settings_of(bootstrap_servers)));
    must(admin->create({&spec, 1}, 1));
    return spec.name;
}

size_t lines_with(const fs::path& file, std::string_view beginning) {
    std::ifstream in(file);
    size_t count = 0;
    for (std::string line; std::getline(in, line);) count += line.starts_with(beginning);
    return count;
}

/// Sends events, each with its own id, until it is stopped.
class Sender {
  public:
    Sender(const std::string& bootstrap_servers, const std::string& topic)
        : writer_(must(streaming_kafka::KafkaWriter::open(settings_of(bootstrap_servers)))),
          thread_([this, topic] { run(topic); }) {}
    ~Sender() { end(); }
    uint64_t end() {
        ending_ = true;
        if (thread_.joinable()) thread_.join();
        return sent_;
    }
    uint64_t sent() const { return sent_; }

  private:
    void run(const std::string& topic) {
        while (!ending_) {
            std::vector<streaming::Record> records;
            for (int i = 0; i < 50; ++i) {
                const auto id = fmt::format("event-{}", sent_ + records.size());
                records.push_back({id, "1", base::TimePoint(), {}});
            }
            if (!writer_->append(topic, records)) continue;
            sent_ += records.size();
            sleep_ms(10);
        }
    }
    std::unique_ptr<streaming_kafka::KafkaWriter> writer_;
    std::atomic<bool> ending_ = false;
    std::atomic<uint64_t> sent_ = 0;
    std::thread thread_;
};

/// One consumer, with a store that outlives its processes.
struct Consumer {
    std::vector<std::string> words;
    fs::path store, log;
    std::unique_ptr<Process> process;
    size_t starts = 0;

    void start() {
        process = std::make_unique<Process>(words, log);
        ++starts;
        if (!wait_until(kPatience, [&] { return lines_with(log, "started") >= starts; })) {
            throw std::runtime_error("a consumer does not start: " + chaos::tail_of(log));
        }
    }
};

void tally(const std::vector<Consumer>& consumers, Verdict& verdict) {
    std::map<std::string, uint64_t> counts;
    for (const auto& consumer : consumers) {
        const auto database = must(storage::Database::open(consumer.store, event_families()));
        const auto read =
            database->scan(storage::ColumnFamily{0}, storage::KeyRange::all(),
                           [&](std::string_view key, std::string_view value) -> base::Result<bool> {
                               counts[std::string(key)] += std::stoull(std::string(value));
                               return true;
                           });
        if (!read) throw std::runtime_error(read.error().message);
    }
    verdict.lost = verdict.events - counts.size();
    for (const auto& [id, count] : counts) verdict.doubled += count > 1;
}

/// Whether it has read all of it to the end and stays there.
bool settled(const std::vector<Consumer>& consumers) {
    for (const auto& consumer : consumers) {
        const size_t before = lines_with(consumer.log, "at end");
        const bool again = wait_until(std::chrono::seconds(30),
                                      [&] { return lines_with(consumer.log, "at end") > before; });
        if (!again && lines_with(consumer.log, "at end") == 0) return false;
    }
    return true;
}

}  // namespace

std::string Verdict::text(const std::string& variant) const {
    return fmt::format("{:<14} {:>3} kills  {:>7} events  {:>6} lost  {:>6} counted twice\n",
                       variant, kills, events, lost, doubled);
}

Verdict judge_consumer(const std::string& bootstrap_servers, const std::string& variant, int kills,
                       uint64_t seed, const fs::path& folder) {
    fs::create_directories(folder);
    const auto topic = make_topic(bootstrap_servers, variant, 2);
    std::vector<Consumer> consumers(variant == "subscribe" ? 2 : 1);
    for (size_t i = 0; i < consumers.size(); ++i) {
        auto& one = consumers[i];
        one.store = folder / fmt::format("store-{}", i);
        one.log = folder / fmt::format("log-{}", i);
        one.words = {kProgram, variant, bootstrap_servers, topic, topic, one.store.string()};
    }
    base::Random random(seed);
    Verdict verdict;
    {
        Sender sender(bootstrap_servers, topic);
        for (auto& consumer : consumers) consumer.start();
        for (; verdict.kills < kills; ++verdict.kills) {
            auto& victim = consumers[random.below(consumers.size())];
            if (consumers.size() == 1) {  // else the group assigns the readers
                wait_until(kPatience,
                           [&] { return lines_with(victim.log, "consuming") >= victim.starts; });
            }
            sleep_ms(static_cast<int64_t>(100 + random.below(250)));
            victim.process->kill();
            victim.start();
        }
        sleep_ms(300);
        // a busy machine sends less in that time
        wait_until(kPatience, [&] { return sender.sent() > kLeastEvents; });
        verdict.events = sender.end();
    }
    for (auto& consumer : consumers) {  // after a new start, to the end
        consumer.process->kill();
        fs::remove(consumer.log);
        consumer.starts = 0;
        consumer.start();
    }
    if (!settled(consumers)) throw std::runtime_error(variant + " does not come to the end");
    for (auto& consumer : consumers) consumer.process->kill();
    tally(consumers, verdict);
    return verdict;
}

namespace {

/// A writer of decisions, and the file with its requests.
struct Writer {
    fs::path requests, log;
    std::unique_ptr<Process> process;

    Writer(const fs::path& folder, const std::string& bootstrap_servers, const std::string& topic,
           const std::string& variant, uint64_t epoch)
        : requests(folder / fmt::format("requests-{}", epoch)),
          log(folder / fmt::format("answers-{}", epoch)) {
        std::ofstream(requests) << "";
        process = std::make_unique<Process>(
            std::vector<std::string>{kProgram, variant, bootstrap_servers, topic,
                                     std::to_string(epoch), requests.string()},
            log);
        if (!wait_until(kPatience, [&] { return lines_with(log, "started") > 0; })) {
            throw std::runtime_error("a writer does not start: " + chaos::tail_of(log));
        }
    }
    void ask(int from, int to) const {
        std::ofstream out(requests, std::ios::app);
        for (int i = from; i < to; ++i) out << "application-" << i << "\n";
    }
    std::set<std::string> acknowledged() const {
        std::set<std::string> ids;
        std::ifstream in(log);
        const std::string beginning = "acknowledged ";
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with(beginning)) ids.insert(line.substr(beginning.size()));
        }
        return ids;
    }
};

}  // namespace

WriterVerdict judge_writer(const std::string& bootstrap_servers, const std::string& variant,
                           uint64_t seed, const fs::path& folder) {
    constexpr int kEach = 60;
    fs::create_directories(folder);
    const auto topic = make_topic(bootstrap_servers, variant, 1);
    base::Random random(seed);
    Writer first(folder, bootstrap_servers, topic, variant, 1);
    first.ask(0, kEach);
    const size_t some = 5 + random.below(20);
    wait_until(kPatience, [&] { return first.acknowledged().size() >= some; });
    first.process->stop();
    Writer second(folder, bootstrap_servers, topic, variant, 2);
    second.ask(kEach / 2, 2 * kEach);  // also some that the first one has not answered
    wait_until(kPatience, [&] { return second.acknowledged().size() >= kEach / 2; });
    first.ask(2 * kEach, 3 * kEach);  // it does not know about the other one yet
    first.process->cont();

    chaos::DecisionLog log(bootstrap_servers, topic, 1);
    WriterVerdict verdict;
    // every request is in the log, from either writer: then no writer writes any more
    const uint64_t expected = kEach + (2 * kEach - kEach / 2) + kEach + 2;
    wait_until(kPatience, [&] {
        log.refresh();
        return log.records() >= expected;
    });
    sleep_ms(200);
    for (const auto& [writer, epoch] : {std::pair(&first, 1u), std::pair(&second, 2u)}) {
        for (const auto& id : writer->acknowledged()) {
            ++verdict.acknowledged;
            const auto decision = decision_on(id, epoch);
            const auto found = log.decisions().find(decision.id.value());
            verdict.lost +=
                found == log.decisions().end() || found->second.bytes != wire::encode(decision);
        }
    }
    verdict.fenced = log.totals().fenced;
    return verdict;
}

}  // namespace rampart::wrong
