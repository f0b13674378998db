#include "fault/chaos/nemesis.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

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
constexpr int64_t kMomentMs = 600;  // longest load before a fault
constexpr size_t kProbes = 25;

std::vector<Fault> shuffled_deck(base::Random& random, bool mock) {
    std::vector<Fault> deck;
    for (const auto& [fault, times] : mock ? kMockDeck : kDeck)
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
        case kFillDisk:
            return "a full disk";
    }
    return "?";
}

Nemesis::Nemesis(Run& run, uint64_t seed, std::string spare, std::chrono::milliseconds sleep)
    : run_(run), random_(base::mix64(seed) ^ 0x6e656d65), spare_(std::move(spare)), sleep_(sleep) {}

void Nemesis::harm_until(int kills, int faults) {
    while ((deeds_.kills < kills || deeds_.total < faults) && run_.oracle().sound()) {
        if (deck_.empty()) deck_ = shuffled_deck(random_, run_.arena().mock() != nullptr);
        const Fault fault = deck_.back();
        deck_.pop_back();
        commit(fault);
    }
}

void Nemesis::commit(Fault fault) {
    if (fault == kReplaceSleeper && spare_.empty()) fault = kKillNode;
    const auto what = fmt::format("fault {} ({})", ++deeds_.total, to_string(fault));
    ++deeds_.faults[to_string(fault)];
    deeds_.schedule.push_back(what);
    fmt::print("{}", what);
    std::fflush(stdout);
    const auto start = std::chrono::steady_clock::now();
    run_.load().resume();
    detail_.clear();
    wait_a_moment(kMomentMs);
    apply(fault);
    deeds_.schedule.back() += ":" + detail_;
    run_.expect_progress(what);
    if (!run_.oracle().sound()) return;
    const auto recovered = std::chrono::steady_clock::now();
    run_.check(what);
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
            replace_sleeper(victim());
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
        case kRefuseProduce:
        case kRefuseFetch:
            refuse(fault);
            break;
        case kMockAway:
            mock_away();
            break;
        case kFillDisk:
            fill_disk();
            break;
    }
}

void Nemesis::kill_quietly() {
    detail_.clear();
    kill_node(victim());
    ++deeds_.faults[to_string(kKillNode)];
    deeds_.schedule.push_back(
        fmt::format("fault {} (kill -9 of a node, in the end):{}", ++deeds_.total, detail_));
}

Node& Nemesis::victim() {
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
    // A node whose database has stopped ends by itself, and is started again, as a supervisor does.
    const size_t before = run_.oracle().acknowledgements();
    wait_until(std::chrono::seconds(30), [&] {
        for (Node* node : run_.owners()) {
            if (node->runs()) continue;
            ++deeds_.ended_by_themselves;
            revive(*node);
        }
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

}  // namespace rampart::chaos
