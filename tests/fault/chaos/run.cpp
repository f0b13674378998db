#include "fault/chaos/run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <stdexcept>

#include "rampart/base/log.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::chaos {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using base::TimePoint;

constexpr int32_t kPartitions = 4;
constexpr size_t kAskedAgain = 100;  // at each check
constexpr size_t kSmallDiskMib = 768;
constexpr size_t kOldAskedAgain = 50;
const auto kLongAgo = base::Duration::days(-40);  // decisions of then may be erased
const auto kOlder = base::Duration::days(-200);   // applications of then have matured
constexpr auto kPatience = std::chrono::seconds(60);

/// Throws if the step fails: for steps that cannot fail in a correct test.
template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

streaming_kafka::KafkaSettings kafka(const std::string& bootstrap_servers) {
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = bootstrap_servers;
    return settings;
}

wire::Topics make_topics(Arena& arena, const std::string& prefix) {
    auto topics = wire::Topics::with_prefix(prefix);
    arena.create(topics.specs(kPartitions));
    return topics;
}

loan_stream::Stream applicants(uint64_t seed) {
    loan_stream::StreamOptions options;
    options.name = "simulated";
    options.rows = 2000;
    options.seed = seed;
    return must(loan_stream::load(options));
}

/// Returns today in whole seconds: older records would be deleted by the retention of the topic of
/// applications.
TimePoint now_in_seconds() {
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return TimePoint() + base::Duration::seconds(now.count());
}

}  // namespace

Arena::Arena(fs::path folder, uint64_t seed, Kind kind, int brokers)
    : folder_(std::move(folder)), seed_(seed), start_(now_in_seconds()), stream_(applicants(seed)) {
    fs::create_directories(folder_);
    base::set_log_level(base::LogLevel::kOff);  // an unreachable broker is expected here
    // children inherit it: a write beyond a limit is an error, not a signal
    ::signal(SIGXFSZ, SIG_IGN);
    if (kind == Kind::kMock)
        mock_ = std::make_unique<support::KafkaMock>(brokers);
    else
        broker_ = std::make_unique<test_support::KafkaBroker>();
}

void Arena::create(const std::vector<streaming::TopicSpec>& specs) {
    if (mock_) {
        for (const auto& spec : specs) mock_->create(spec.name, spec.partitions);
        return;
    }
    const auto admin = must(streaming_kafka::TopicAdmin::open(kafka(bootstrap())));
    must(admin->create(specs, 1));
}

Arena::~Arena() {
    std::error_code ignored;
    for (const auto& place : mounted_) {
        if (keep_) fs::copy(place, place.string() + "-kept", fs::copy_options::recursive, ignored);
        ::umount2(place.c_str(), MNT_DETACH);
    }
    broker_.reset();
    if (!keep_) fs::remove_all(folder_, ignored);
}

std::optional<fs::path> Arena::small_disk(size_t mebibytes) {
    const auto place = folder_ / fmt::format("disk-{}", mounted_.size());
    fs::create_directories(place);
    const auto size = fmt::format("size={}m,mode=700", mebibytes);
    if (::mount("rampart-chaos", place.c_str(), "tmpfs", 0, size.c_str()) != 0) return std::nullopt;
    mounted_.push_back(place);
    return place;
}

Run::Run(Arena& arena, const std::string& name, const std::vector<std::string>& nodes,
         const RunOptions& options, LoadOptions load)
    : arena_(arena),
      name_(name),
      topics_(make_topics(arena, name + "-")),
      group_{arena.bootstrap(),
             name + "-",
             kPartitions,
             options.lease_ms,
             arena.seed(),
             options.old_customers > 0,
             arena.folder() / (name + "-learner") / "store" / "gate.pub.pem"},
      routes_(kPartitions),
      asker_(routes_, base::Duration::seconds(60), oracle_),
      log_(arena.bootstrap(), topics_.decisions, kPartitions, options.old_customers > 0) {
    if (options.on_small_disk) small_disk_ = arena.small_disk(kSmallDiskMib).value_or(fs::path());
    for (const auto& one : nodes) {
        const fs::path store = small_disk_.empty() ? fs::path() : small_disk_ / one;
        nodes_[one] = std::make_unique<Node>(one, arena.folder() / (name + "-" + one), group_,
                                             arena.stream(), store);
    }
    asker_.tend_with([this] { tend(); });
    load.start = arena.start();
    if (group_.service) {
        load.start = arena.start() + kOlder;
        load.moves_time = false;
        service_ = std::make_unique<Service>(node("learner"), node("reader"), routes_, oracle_,
                                             arena.stream(), load.start, options.old_customers);
        service_->tend_with([this] { tend(); });
    } else {
        Node& first = *nodes_.at(nodes.front());
        first.configure({{0, 1, 2, 3}, {}, true});
        product_ = must(rampartd::load_settings(first.config())).product;
        reader_ = must(streaming_kafka::KafkaReader::open(kafka(arena.bootstrap())));
        reference_ = must(joiner::OutcomeJoiner::open(arena.folder() / (name + "-reference"),
                                                      joiner_options({}), *reader_));
    }
    load.seed = arena.seed();
    load.bootstrap_servers = arena.bootstrap();
    load.topics = topics_;
    load_ = std::make_unique<Load>(load, arena.stream(), routes_, oracle_);
}

joiner::JoinerOptions Run::joiner_options(const std::vector<int32_t>& held) const {
    joiner::JoinerOptions options;
    options.append_times = false;  // as that of a node: event time, over a broker's log
    options.product = product_;
    options.decisions_topic = topics_.decisions;
    options.outcomes_topic = topics_.outcomes;
    options.partitions = kPartitions;
    for (const int32_t p : held) options.held.emplace_back(p);
    return options;
}

void Run::set_owners(const std::vector<Node*>& nodes) {
    owners_ = nodes;
    routes_.set(nodes);
}

bool Run::probe(const Node& node, size_t count) {
    bool acknowledged = false;
    for (size_t i = 0; i < count; ++i) {
        auto application = arena_.stream().applicants[probes_.size() % 1000].application;
        application.id = domain::ApplicationId(fmt::format("probe-{}", probes_.size()));
        application.event_time = arena_.start();
        probes_.push_back(application);
        const auto body = wire::to_json(application);
        const auto answer = asker_.ask(node, "/v1/decisions", &body);
        if (!answer || answer->status != 200) continue;
        acknowledged = true;
        oracle_.acknowledged(must(wire::decision_from_json(answer->body)));
    }
    return acknowledged;
}

void Run::add_probes(std::vector<domain::Application> probes) {
    for (auto& probe : probes) probes_.push_back(std::move(probe));
}

void Run::decide_probes() {
    for (const auto& application : probes_) {
        const auto id = domain::decision_id_of(application.id);
        const auto home = streaming::partition_of(id.value(), kPartitions);
        const auto answer = asker_.post(home, "/v1/decisions", wire::to_json(application));
        if (!answer) return oracle_.violation("a probe was not decided: " + answer.error().message);
        oracle_.acknowledged(must(wire::decision_from_json(*answer)));
    }
}

void Run::resume() {
    load_->resume();
    if (service_) service_->resume_erasing();
}

void Run::tend() {
    if (!may_end_) return;
    auto nodes = owners_;
    if (service_) nodes.push_back(&service_->learner());
    for (Node* node : nodes) {
        if (node->runs()) continue;
        ++ended_by_themselves_;
        if (const int code = node->process().ended().value_or(0); code >= 128)
            oracle_.violation(fmt::format("'{}' was ended by signal {}", node->name(), code - 128));
        if (const auto started = node->keep_starting(); !started)
            oracle_.violation(started.error().message);
    }
}

void Run::expect_progress(const std::string& after) {
    const size_t before = oracle_.acknowledgements();
    const bool progress = wait_until(kPatience, [&] {
        tend();
        return oracle_.acknowledgements() > before + 10;
    });
    if (!progress) oracle_.violation("nothing is decided any more after " + after);
}

/// Checks in the log that every application is decided that must be.
void Run::drain(const std::string& after) {
    std::string missing;
    const bool drained = wait_until(kPatience, [&] {
        tend();
        log_.refresh();
        return oracle_.all_decided(log_, missing);
    });
    if (!drained) oracle_.violation(fmt::format("after {}: never decided: {}", after, missing));
}

/// Lets the node read the log to its end and move its clock.
void Run::tick(Node& node, TimePoint now, const std::string& after) {
    const auto body = fmt::format("{{\"now\":\"{}\"}}", base::to_iso8601(now));
    std::string last;
    const bool done = wait_until(kPatience, [&] {
        const auto answer = asker_.ask(node, "/v1/clock", &body, base::Duration::seconds(30));
        if (answer && answer->status == 200) return true;
        last = answer ? answer->body : answer.error().message;
        return false;
    });
    if (!done) {
        oracle_.violation(fmt::format("after {}: '{}' does not read the log to its end: {}", after,
                                      node.name(), last));
    }
}

void Run::check(const std::string& after) {
    load_->pause();
    if (service_) service_->pause_erasing();
    drain(after);
    oracle_.check(log_);
    ask_again(after, kAskedAgain);
    if (service_) {
        service_->compare(log_, after);
        service_->ask_old_customers(asker_, kOldAskedAgain);
    } else {
        compare_states(after);
    }
    ++checks_;
}

void Run::set_walls(const std::vector<Node*>& nodes, base::Duration ahead) {
    for (Node* node : nodes) {
        if (const auto ended = node->terminate(); !ended) oracle_.violation(ended.error().message);
        node->host().wall_micros = ahead.micros();
        if (const auto started = node->start(); !started)
            oracle_.violation(started.error().message);
    }
}

void Run::begin_service(const std::vector<Node*>& nodes) {
    if (const auto opened = service_->open(); !opened)
        return oracle_.violation(opened.error().message);
    set_owners(nodes);
    set_walls(nodes, kLongAgo);
    if (!oracle_.sound()) return;
    service_->decide_old_customers(asker_);
    set_walls(nodes, {});
}

void Run::finish_service() {
    check("all faults");
    if (!oracle_.sound()) return;
    for (Node* node : owners_) {
        node->kill();
        for (const auto& partition : fs::directory_iterator(node->store() / "partitions"))
            fs::remove_all(partition.path() / "decisions");
        if (const auto started = node->keep_starting(); !started)
            oracle_.violation(started.error().message);
    }
    service_->join_anew();
    ask_again("indexes were made anew from the log", SIZE_MAX);
    service_->compare(log_, "joined states were made anew from the log");
    service_->ask_old_customers(asker_, SIZE_MAX / 2);
    for (auto& [name, node] : nodes_) {
        if (!node->runs()) continue;
        if (const auto ended = node->terminate(); !ended) oracle_.violation(ended.error().message);
        if (oracle_.sound()) check_store(*node);
    }
}

void Run::check_store(const Node& node) {
    const auto ran = test_support::run_program(
        test_support::bin_dir() + "/rampart store check --config " + node.config().string());
    if (ran.exit_code == 0) return;
    oracle_.violation(fmt::format("the store of '{}' ({}): {}", node.name(), ran.exit_code,
                                  ran.output.substr(0, 1000)));
}

void Run::ask_again(const std::string& after, size_t most) {
    for (const auto& decision : oracle_.sample(arena_.seed() + checks_, most)) {
        const auto home = streaming::partition_of(decision.id.value(), kPartitions);
        const auto answer = asker_.post(home, "/v1/decisions", wire::to_json(decision.application));
        if (!answer) {
            return oracle_.violation(fmt::format("after {}: no answer to what was decided: {}",
                                                 after, answer.error().message));
        }
        oracle_.acknowledged(must(wire::decision_from_json(*answer)));
    }
}

/// Lets the undisturbed reader read the log to its end. An error that the broker had prepared for
/// another client may hit it, too, and passes.
void Run::read_reference(const std::string& after) {
    std::string last;
    const bool done = wait_until(kPatience, [&] {
        const auto report = must(reference_->poll(5000));
        if (!report.stopped.empty()) last = report.stopped[0].error.message;
        return report.stopped.empty() && report.records == 0;
    });
    if (!done) throw std::runtime_error(fmt::format("after {}: {}", after, last));
    must(reference_->advance(clock_));
}

void Run::compare_states(const std::string& after) {
    read_reference(after);
    const auto states = must(reference_->partition_states());
    log_.refresh();
    for (Node* node : owners_) {
        tick(*node, clock_, after);
        const auto answer = asker_.ask(*node, "/v1/partitions", nullptr);
        if (!answer || answer->status != 200) {
            oracle_.violation(fmt::format("after {}: '{}' does not show its partitions: {}", after,
                                          node->name(),
                                          answer ? answer->body : answer.error().message));
            continue;
        }
        const auto document = json::parse(answer->body);
        for (const auto& item : document.at("partitions").as_array()) {
            const auto& found = item.as_object();
            const auto p = found.at("partition").to_number<size_t>();
            compare_partition(fmt::format("after {}: '{}', partition {}", after, node->name(), p),
                              states.at(p), found);
        }
    }
}

/// Compares the hash and the counters. The counters are not part of the hash. A node that reads a
/// record twice, or writes offsets apart from the state, has too high counters even if the state is
/// the same.
void Run::compare_partition(const std::string& where, const joiner::PartitionState& right,
                            const json::object& found) {
    if (found.at("state_hash").as_string() != right.hash.hex()) {
        oracle_.violation(where + ": the state is not that of an undisturbed reader");
    }
    const auto between = [&](const char* who, const char* name, uint64_t least, uint64_t most) {
        const auto counted = found.at(who).at(name).to_number<uint64_t>();
        if (counted >= least && counted <= most) return;
        oracle_.violation(fmt::format("{}: {}.{} is {}, and there are {} to {}", where, who, name,
                                      counted, least, most));
    };
    const auto compare = [&](const char* who, const char* name, uint64_t expected) {
        between(who, name, expected, expected);
    };
    for (const auto& [name, expected] : std::initializer_list<std::pair<const char*, uint64_t>>{
             {"decisions", right.counts.decisions},
             {"duplicate_decisions", right.counts.duplicate_decisions},
             {"conflicting_decisions", right.counts.conflicting_decisions},
             {"outcomes", right.counts.outcomes},
             {"duplicate_outcomes", right.counts.duplicate_outcomes},
             {"corrections", right.counts.corrections},
             {"undecodable", right.counts.undecodable},
             {"matured", right.counts.matured},
             {"fenced", right.counts.fenced}}) {
        compare("counts", name, expected);
    }
    // from librdkafka alone, and the rules
    const auto& log = log_.counts(right.partition.value());
    compare("counts", "decisions", log.decisions);
    compare("counts", "fenced", log.fenced);
    if (!found.contains("index")) return;  // it follows only
    const auto& least = log_.least_counts(right.partition.value());
    compare("index", "decisions", log.decisions);
    between("index", "repeated", least.repeats, log.repeats);
    between("index", "fenced", least.fenced, log.fenced);
}

void Run::mature(const std::function<void()>& between) {
    load_->pause();
    drain("the load");
    constexpr int kStepMonths = 108;  // a node refuses jumps larger than 120
    const TimePoint end = base::add_months(arena_.start(), 24);
    for (TimePoint now; now < end;) {
        now = std::min(base::add_months(now, kStepMonths), end);
        clock_ = now;
        for (Node* node : owners_) tick(*node, now, "a step of the clock");
        if (between) between();
    }
    compare_states("maturity");
}

FinalState Run::finish() {
    FinalState state;
    for (auto& [name, node] : nodes_) {
        if (!node->runs()) continue;
        const auto ended = node->terminate();
        if (!ended) oracle_.violation(ended.error().message);
    }
    for (Node* node : owners_) look_into(*node, state);
    const auto expected = reference_->counts();
    const auto differs = [&](const char* what, uint64_t found, uint64_t right) {
        if (found == right) return;
        oracle_.violation(
            fmt::format("the stores counted {} {}, and there are {}", found, what, right));
    };
    differs("decisions", state.counts.decisions, oracle_.expected_decisions());
    differs("outcomes", state.counts.outcomes, oracle_.expected_outcomes());
    differs("matured examples", state.counts.matured, expected.matured);
    differs("corrections", state.counts.corrections, expected.corrections);
    return state;
}

/// Checks in the store what only the store shows: that it has no contradiction, and the counts.
void Run::look_into(Node& node, FinalState& state) {
    const auto joiner = joiner::OutcomeJoiner::open(node.store() / "partitions",
                                                    joiner_options(node.share().own), *reader_);
    if (!joiner) return oracle_.violation("a store does not open: " + joiner.error().message);
    for (const auto& finding : must((*joiner)->check())) {
        oracle_.violation(fmt::format("the store of '{}': {}", node.name(), finding));
    }
    for (const auto& partition : must((*joiner)->partition_states())) {
        state.hashes[partition.partition.value()] = partition.hash.hex();
    }
    const auto counts = (*joiner)->counts();
    state.counts.decisions += counts.decisions;
    state.counts.outcomes += counts.outcomes;
    state.counts.matured += counts.matured;
    state.counts.corrections += counts.corrections;
    state.counts.fenced += counts.fenced;
    state.counts.duplicate_decisions += counts.duplicate_decisions;
    state.counts.duplicate_outcomes += counts.duplicate_outcomes;
    state.counts.undecodable += counts.undecodable;
}

}  // namespace rampart::chaos
