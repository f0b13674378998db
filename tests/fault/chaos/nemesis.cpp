#include "fault/chaos/nemesis.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "rampart/http/client.hpp"

namespace rampart::chaos {
namespace {

using enum Fault;

// 14 kills in 17 faults. Starts of the broker take most of the time.
const std::vector<std::pair<Fault, int>> kDeck{
    {kKillNode, 6},   {kKillStarting, 2}, {kPauseNode, 1}, {kOversleep, 1}, {kReplaceSleeper, 2},
    {kKillBroker, 1}, {kPauseBroker, 1},  {kKillBoth, 1},  {kFillDisk, 2},
};
// 4 kills in 12
const std::vector<std::pair<Fault, int>> kMockDeck{
    {kKillNode, 2},    {kKillStarting, 1}, {kPauseNode, 1}, {kRefuseProduce, 4},
    {kRefuseFetch, 2}, {kMockAway, 1},     {kFillDisk, 1},
};
// 3 kills in 10, with three brokers
const std::vector<std::pair<Fault, int>> kClusterDeck{
    {kKillNode, 1},    {kKillStarting, 1}, {kLoseLeader, 3}, {kMoveLeaders, 1},
    {kFewReplicas, 2}, {kOneAway, 1},      {kPauseNode, 1},
};
// 8 kills in 16
const std::vector<std::pair<Fault, int>> kServiceDeck{
    {kKillNode, 3},    {kKillStarting, 1}, {kReplaceSleeper, 1}, {kKillBroker, 1},
    {kPauseBroker, 1}, {kPauseNode, 1},    {kSlowDisk, 2},       {kNoFiles, 2},
    {kClockAhead, 1},  {kClockBehind, 1},  {kLoseRequests, 1},   {kLoseAnswers, 1},
};
constexpr int64_t kMomentMs = 600;  // longest load before a fault
constexpr size_t kProbes = 25;

/// Whether a new connection gets an answer soon.
bool accepts_connections(const Node& node) {
    const auto endpoint = node.endpoint();
    if (!endpoint) return false;
    http::ClientOptions options;
    options.timeout = base::Duration::micros(500'000);
    options.token = node.token();
    auto client = http::Client::create(*endpoint, options);
    return client && client->get("/readyz");
}

std::vector<Fault> shuffled_deck(base::Random& random, Run& run) {
    std::vector<Fault> deck;
    const auto* mock = run.arena().mock();
    const auto& kinds = run.service() != nullptr ? kServiceDeck
                        : mock == nullptr        ? kDeck
                        : mock->brokers() > 1    ? kClusterDeck
                                                 : kMockDeck;
    for (const auto& [fault, times] : kinds)
        deck.insert(deck.end(), static_cast<size_t>(times), fault);
    random.shuffle(std::span(deck));
    return deck;
}

/// Fills all free space.
void fill(const std::filesystem::path& ballast) {
    const int file = ::open(ballast.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::string block(1 << 16, 'x');
    for (size_t size = block.size(); file >= 0 && size > 0;) {
        if (::write(file, block.data(), size) <= 0) size /= 2;
    }
    if (file >= 0) ::close(file);
}

}  // namespace

std::string to_string(Fault fault) {
    switch (fault) {
        case kKillNode:
            return "kill -9 of a node";
        case kKillStarting:
            return "kill -9 of a node that starts";
        case kPauseNode:
            return "a node stopped for a moment";
        case kOversleep:
            return "a node asleep for longer than its lease";
        case kReplaceSleeper:
            return "a node asleep while another takes over";
        case kKillBroker:
            return "kill -9 of the broker";
        case kPauseBroker:
            return "the broker stopped for a moment";
        case kKillBoth:
            return "kill -9 of broker and node";
        case kRefuseProduce:
            return "writes refused by the broker";
        case kRefuseFetch:
            return "reads refused by the broker";
        case kMockAway:
            return "the broker away for a moment";
        case kLoseLeader:
            return "a partition without a leader, then another";
        case kMoveLeaders:
            return "other leaders for all partitions";
        case kFewReplicas:
            return "too few replicas at one of three brokers";
        case kOneAway:
            return "one of three brokers away for a moment";
        case kFillDisk:
            return "a full disk";
        case kSlowDisk:
            return "each fsync slow for a moment";
        case kNoFiles:
            return "no further file can be opened";
        case kClockAhead:
            return "the wall clock a year ahead for a moment";
        case kClockBehind:
            return "the wall clock a year behind for a moment";
        case kLoseRequests:
            return "nothing from node to broker for a moment";
        case kLoseAnswers:
            return "nothing from broker to node for a moment";
    }
    return "?";
}

Nemesis::Nemesis(Run& run, uint64_t seed, std::string spare, std::chrono::milliseconds sleep)
    : run_(run), random_(base::mix64(seed) ^ 0x6e656d65), spare_(std::move(spare)), sleep_(sleep) {}

void Nemesis::harm_until(int kills, int faults) {
    while ((deeds_.kills < kills || deeds_.total < faults) && run_.oracle().sound()) {
        commit(draw());
    }
}

void Nemesis::harm_for(std::chrono::seconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (run_.oracle().sound() && (std::chrono::steady_clock::now() < end || !deck_.empty()))
        commit(draw());
}

Fault Nemesis::draw() {
    if (deck_.empty()) deck_ = shuffled_deck(random_, run_);
    const Fault fault = deck_.back();
    deck_.pop_back();
    return fault;
}

void Nemesis::commit(Fault fault) {
    if (fault == kReplaceSleeper && spare_.empty()) fault = kKillNode;
    const auto what = fmt::format("fault {} ({})", ++deeds_.total, to_string(fault));
    ++deeds_.faults[to_string(fault)];
    deeds_.schedule.push_back(what);
    fmt::print("{}", what);
    std::fflush(stdout);
    const auto start = std::chrono::steady_clock::now();
    run_.resume();
    detail_.clear();
    wait_a_moment(kMomentMs);
    run_.oracle().watch_pauses(run_.partitions());
    run_.may_end(fault == kFillDisk || fault == kNoFiles || fault == kLoseRequests ||
                 fault == kLoseAnswers);
    apply(fault);
    deeds_.schedule.back() += ":" + detail_;
    run_.expect_progress(what);
    auto& pause = deeds_.pauses[to_string(fault)];
    pause = std::max(pause, run_.oracle().longest_pause());
    if (!run_.oracle().sound()) return;
    const auto recovered = std::chrono::steady_clock::now();
    run_.check(what);
    deeds_.ended_by_themselves = run_.ended_by_themselves();
    const auto ms = [](auto duration) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    };
    fmt::print(":{}; went on after {} ms, checked in {} ms; {} kills, {} acknowledged\n", detail_,
               ms(recovered - start), ms(std::chrono::steady_clock::now() - recovered),
               deeds_.kills, run_.oracle().acknowledgements());
    std::fflush(stdout);
}

void Nemesis::apply(Fault fault) {
    switch (fault) {
        case kKillNode:
            kill_node(victim());
            break;
        case kKillStarting:
            kill_starting(victim());
            break;
        case kPauseNode:
            pause_node(victim());
            break;
        case kOversleep:
            oversleep(victim());
            break;
        case kReplaceSleeper:
            replace_sleeper(deciding_victim());
            break;
        case kKillBroker:
            kill_broker();
            break;
        case kPauseBroker:
            pause_broker();
            break;
        case kKillBoth:
            kill_both(victim());
            break;
        case kFillDisk:
            fill_disk();
            break;
        default:
            run_.arena().mock() != nullptr ? apply_mock(fault) : apply_service(fault);
    }
}

void Nemesis::apply_mock(Fault fault) {
    switch (fault) {
        case kMockAway:
            return mock_away();
        case kLoseLeader:
            return lose_leader();
        case kMoveLeaders:
            return move_leaders();
        case kFewReplicas:
            return few_replicas();
        case kOneAway:
            return one_away();
        default:
            return refuse(fault);
    }
}

void Nemesis::apply_service(Fault fault) {
    Node& node = victim();
    switch (fault) {
        case kSlowDisk:
            return slow_disk(node);
        case kNoFiles:
            return no_files(node);
        case kClockAhead:
            return step_clock(node, base::Duration::days(400));
        case kClockBehind:
            return step_clock(node, base::Duration::days(-400));
        case kLoseRequests:
            return hold(node, rough_host::OneWay::Held::kRequests);
        default:
            return hold(node, rough_host::OneWay::Held::kAnswers);
    }
}

void Nemesis::kill_quietly() {
    detail_.clear();
    kill_node(victim());
    ++deeds_.faults[to_string(kKillNode)];
    deeds_.schedule.push_back(
        fmt::format("fault {} (kill -9 of a node, in the end):{}", ++deeds_.total, detail_));
}

/// One that decides; of a service also the one that learns.
Node& Nemesis::victim() {
    const size_t deciding = run_.owners().size();
    const size_t chosen = random_.below(deciding + (run_.service() != nullptr ? 1 : 0));
    Node& node = chosen < deciding ? *run_.owners()[chosen] : run_.service()->learner();
    detail_ += fmt::format(" '{}'", node.name());
    return node;
}

Node& Nemesis::deciding_victim() {
    Node& node = *run_.owners()[random_.below(run_.owners().size())];
    detail_ += fmt::format(" '{}'", node.name());
    return node;
}

void Nemesis::wait_a_moment(int64_t at_most_ms) {
    const auto moment = static_cast<int64_t>(random_.below(static_cast<uint64_t>(at_most_ms)));
    detail_ += fmt::format(" +{} ms", moment);
    sleep_ms(moment);
}

void Nemesis::kill(Node& node) {
    node.kill();
    ++deeds_.kills;
}

void Nemesis::kill_the_broker() {
    run_.arena().broker().kill();
    ++deeds_.kills;
}

void Nemesis::revive(Node& node) {
    const auto started = node.keep_starting();
    if (!started) run_.oracle().violation(started.error().message);
}

void Nemesis::kill_node(Node& node) {
    kill(node);
    revive(node);
}

void Nemesis::kill_starting(Node& node) {
    kill(node);
    node.spawn();
    wait_a_moment(400);
    kill(node);
    revive(node);
}

void Nemesis::pause_node(Node& node) {
    node.process().stop();
    wait_a_moment(1500);
    node.process().cont();
}

/// No other node was there to take over, so it may continue.
void Nemesis::oversleep(Node& node) {
    node.process().stop();
    sleep_ms(std::max(run_.lease_ms() + 500, sleep_.count()));
    node.process().cont();
}

/// The sleeper continues after another node took over. It may append a record, but acknowledges
/// none that does not count.
void Nemesis::replace_sleeper(Node& node) {
    Node& heir = run_.node(spare_);
    const auto asleep = std::chrono::steady_clock::now();
    node.process().stop();
    detail_ += fmt::format(" '{}' takes over", heir.name());
    heir.configure(node.share());
    revive(heir);  // waits for the lease to run out
    auto owners = run_.owners();
    std::replace(owners.begin(), owners.end(), &node, &heir);
    run_.set_owners(owners);
    run_.expect_progress("a take-over");
    std::this_thread::sleep_until(asleep + sleep_);
    node.process().cont();
    if (run_.probe(node, kProbes)) {
        run_.oracle().violation("a node acknowledged new decisions after another had taken over");
    }
    ++deeds_.slept_through;
    if (random_.bernoulli(0.5)) {
        kill(node);
    } else if (const auto ended = node.terminate(); !ended) {
        run_.oracle().violation(ended.error().message);
    }
    run_.decide_probes();
    spare_ = node.name();
}

void Nemesis::kill_broker() {
    kill_the_broker();
    wait_a_moment(1000);
    run_.arena().broker().start();
}

void Nemesis::pause_broker() {
    run_.arena().broker().stop();
    wait_a_moment(4000);
    run_.arena().broker().cont();
}

void Nemesis::kill_both(Node& node) {
    kill_the_broker();
    wait_a_moment(300);
    kill(node);
    run_.arena().broker().start();
    revive(node);
}

/// A full file system; if none can be mounted, files that may not grow.
void Nemesis::fill_disk() {
    const bool mounted = !run_.small_disk().empty();
    detail_ += mounted ? " a tmpfs" : " no file may grow";
    const auto ballast = run_.small_disk() / "ballast";
    if (mounted) fill(ballast);
    const auto freeze = [&](bool frozen) {
        for (Node* node : run_.owners()) {
            if (!mounted && node->runs()) node->process().freeze_files(frozen);
        }
    };
    freeze(true);
    deeds_.disk_was_full += wait_until(std::chrono::seconds(5), [&] {
        const size_t before = run_.oracle().acknowledgements();
        sleep_ms(300);
        return run_.oracle().acknowledgements() == before;
    });
    wait_a_moment(2000);
    if (mounted) std::filesystem::remove(ballast);
    freeze(false);
    revive_those_that_ended();
}

/// A node whose database has stopped ends by itself, and is started again, as a supervisor does.
void Nemesis::revive_those_that_ended() {
    const size_t before = run_.oracle().acknowledgements();
    wait_until(std::chrono::seconds(30), [&] {
        run_.tend();
        return run_.oracle().acknowledgements() > before + 10;
    });
}

/// Some requests in a row get one error, from any client.
void Nemesis::refuse(Fault fault) {
    static const std::vector<rd_kafka_resp_err_t> kProduce{
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
    };
    static const std::vector<rd_kafka_resp_err_t> kFetch{
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_UNKNOWN,
    };
    const auto& errors = fault == kRefuseProduce ? kProduce : kFetch;
    const auto error = errors[random_.below(errors.size())];
    const auto api =
        fault == kRefuseProduce ? support::KafkaMock::kProduce : support::KafkaMock::kFetch;
    const auto times = 1 + random_.below(8);
    detail_ += fmt::format(" {} times {}", times, rd_kafka_err2name(error));
    run_.arena().mock()->fail(api, error, times);
    wait_a_moment(1000);
}

void Nemesis::mock_away() {
    run_.arena().mock()->down();
    wait_a_moment(3000);
    run_.arena().mock()->up();
}

/// A partition of the log of decisions.
void Nemesis::lose_leader() {
    const auto& mock = *run_.arena().mock();
    const streaming::PartitionId partition(
        static_cast<int32_t>(random_.below(static_cast<uint64_t>(run_.partitions()))));
    mock.lead(run_.topics().decisions, partition, -1);
    wait_a_moment(4000);
    const auto next = static_cast<int32_t>(1 + random_.below(3));
    mock.lead(run_.topics().decisions, partition, next);
    detail_ += fmt::format(" partition {}, then led by {}", partition, next);
}

void Nemesis::move_leaders() {
    for (int32_t p = 0; p < run_.partitions(); ++p) {
        for (const auto* topic :
             {&run_.topics().decisions, &run_.topics().outcomes, &run_.topics().applications}) {
            run_.arena().mock()->lead(*topic, streaming::PartitionId(p),
                                      static_cast<int32_t>(1 + random_.below(3)));
        }
    }
}

/// One broker refuses the next writes, and the client tries until the delivery has timed out.
void Nemesis::few_replicas() {
    const auto broker = static_cast<int32_t>(1 + random_.below(3));
    const auto times = 5 + random_.below(40);
    detail_ += fmt::format(" broker {}, {} times", broker, times);
    run_.arena().mock()->fail_at(broker, support::KafkaMock::kProduce,
                                 RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, times);
    wait_a_moment(4000);
}

void Nemesis::one_away() {
    const auto broker = static_cast<int32_t>(1 + random_.below(3));
    detail_ += fmt::format(" broker {}", broker);
    run_.arena().mock()->down(broker);
    wait_a_moment(3000);
    run_.arena().mock()->up(broker);
}

void Nemesis::slow_disk(Node& node) {
    const auto each = static_cast<int64_t>(100 + random_.below(500));
    detail_ += fmt::format(" {} ms each", each);
    const uint64_t before = node.host().slow_syncs;
    node.host().sync_micros = each * 1000;
    sleep_ms(1000);
    wait_a_moment(3000);
    node.host().sync_micros = 0;
    deeds_.slow_syncs += node.host().slow_syncs - before;
}

void Nemesis::no_files(Node& node) {
    node.process().deny_files(true);
    sleep_ms(500);
    deeds_.refused_for_files += !accepts_connections(node);
    wait_a_moment(2500);
    node.process().deny_files(false);
    revive_those_that_ended();
}

/// The process may also be started again while the clock is wrong.
void Nemesis::step_clock(Node& node, base::Duration by) {
    node.host().wall_micros = by.micros();
    sleep_ms(2000);  // it looks each second
    if (random_.bernoulli(0.5)) {
        detail_ += " started again";
        kill_node(node);
    }
    wait_a_moment(1000);
    node.host().wall_micros = 0;
    run_.service()->accept_clock(node);
}

void Nemesis::hold(Node& node, rough_host::OneWay::Held held) {
    const uint64_t before = node.way().held_back();
    node.way().hold(held);
    sleep_ms(500);
    wait_a_moment(5000);
    const bool breaks = random_.bernoulli(0.5);
    node.way().release(breaks);
    deeds_.bytes_held_back += node.way().held_back() - before;
    detail_ += breaks ? " then reset" : " then late";
    revive_those_that_ended();
}

}  // namespace rampart::chaos
