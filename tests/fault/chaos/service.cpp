#include "fault/chaos/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <span>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"

namespace rampart::chaos {
namespace {

namespace json = boost::json;
using streaming::PartitionId;

constexpr auto kPatience = std::chrono::seconds(90);
constexpr int64_t kBetweenErasuresMs = 400;

PartitionId home_of(const domain::Application& one, const Routes& routes) {
    return streaming::partition_of(domain::decision_id_of(one.id).value(), routes.partitions());
}

/// Counters that follow from the log alone, whenever it was read.
constexpr std::array kCounters{
    "duplicate_decisions", "conflicting_decisions", "outcomes", "duplicate_outcomes",
    "corrections",         "undecodable",           "matured"};

/// What is compared of a partition.
struct Joined {
    std::string hash;
    uint64_t decisions = 0, fenced = 0;
    std::string counters;
    bool operator==(const Joined&) const = default;
    std::string text() const {
        return fmt::format("{} decisions, {} fenced, {}hash {}", decisions, fenced, counters, hash);
    }
};

std::map<int32_t, Joined> joined_in(const std::string& answer) {
    std::map<int32_t, Joined> found;
    const auto document = json::parse(answer);
    for (const auto& item : document.at("partitions").as_array()) {
        const auto& counts = item.at("counts");
        const auto number = [&](const char* name) { return counts.at(name).to_number<uint64_t>(); };
        auto& one = found[item.at("partition").to_number<int32_t>()];
        one = {std::string(item.at("state_hash").as_string()), number("decisions"),
               number("fenced"), ""};
        for (const char* name : kCounters)
            one.counters += fmt::format("{} {}, ", number(name), name);
    }
    return found;
}

}  // namespace

Service::Service(Node& learner, Node& reader, const Routes& routes, Oracle& oracle,
                 const loan_stream::Stream& stream, base::TimePoint start, size_t customers)
    : learner_(learner),
      reader_(reader),
      routes_(routes),
      oracle_(oracle),
      asker_(routes, base::Duration::seconds(60), oracle) {
    for (size_t n = 0; n < customers; ++n) {
        auto one = stream.applicants.at(n % stream.applicants.size()).application;
        one.id = domain::ApplicationId(fmt::format("old-{}", n));
        one.person = domain::PersonId(fmt::format("old-person-{}", n));
        one.event_time = start;
        old_.push_back(one);
    }
    thread_ = std::thread([this] { work(); });
}

Service::~Service() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

base::Status Service::open() {
    learner_.configure({{}, {}, true, R"("join", "train", "monitor")"});
    RAMPART_RETURN_IF_ERROR(learner_.start());
    static_cast<void>(ask(learner_, "/readyz"));  // until then its public key is not there
    reader_.configure({{}, {}, false, R"("join")"});
    return reader_.start();
}

void Service::decide_old_customers(Asker& asker) {
    for (const auto& one : old_) {
        const auto answer = asker.post(home_of(one, routes_), "/v1/decisions", wire::to_json(one));
        if (!answer)
            return oracle_.violation("an old customer was not decided: " + answer.error().message);
        const auto decision = wire::decision_from_json(*answer);
        if (!decision)
            return oracle_.violation("an answer makes no sense: " + answer->substr(0, 200));
        oracle_.acknowledged(*decision);
        oracle_.may_be_erased(decision->id);
    }
}

void Service::resume_erasing() {
    {
        const std::lock_guard lock(mutex_);
        running_ = true;
    }
    changed_.notify_all();
}

void Service::pause_erasing() {
    std::unique_lock lock(mutex_);
    running_ = false;
    // the erasure under way may wait for a learner that has ended by itself
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !busy_; })) {
        lock.unlock();
        tend_();
        lock.lock();
    }
}

void Service::work() {
    Asker asker(routes_, base::Duration::seconds(90), oracle_);
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return ending_ || (running_ && next_ < old_.size()); });
        if (ending_) return;
        busy_ = true;
        lock.unlock();
        erase(old_[next_], asker);
        lock.lock();
        ++next_;
        busy_ = false;
        changed_.notify_all();
        changed_.wait_for(lock, std::chrono::milliseconds(kBetweenErasuresMs),
                          [&] { return ending_; });
    }
}

/// Asks until the person is erased. An earlier request may have done it without an answer.
void Service::erase(const domain::Application& one, Asker& asker) {
    const auto body =
        fmt::format(R"({{"person_id":"{}","reason":"asked to be forgotten","dry_run":false}})",
                    one.person.value());
    std::string last = "no answer";
    bool unanswered = false;
    const bool done = wait_until(kPatience, [&] {
        if (!oracle_.sound()) return true;
        const auto answer = asker.ask(learner_, "/v1/erasures", &body, base::Duration::seconds(30));
        if (answer && answer->status == 200) return true;
        if (answer && answer->status == 404 && unanswered) return true;
        last = answer ? answer->body : answer.error().message;
        unanswered = unanswered || !answer || answer->status == 202 || answer->status >= 500;
        sleep_ms(50);
        return false;
    });
    if (!done) oracle_.violation(fmt::format("'{}' is not erased: {}", one.person, last));
}

std::string Service::ask(Node& node, std::string_view target, const std::string* body) {
    std::string last;
    std::string found;
    const bool done = wait_until(kPatience, [&] {
        tend_();
        const auto answer = asker_.ask(node, target, body, base::Duration::seconds(10));
        if (answer && answer->status == 200) found = answer->body;
        last = answer ? answer->body : answer.error().message;
        return !found.empty();
    });
    if (!done)
        oracle_.violation(fmt::format("'{}' does not answer {}: {}", node.name(), target, last));
    return found;
}

/// Returns what differs between the log, the learner and the reader; empty: nothing.
std::string Service::differs(const DecisionLog& log) {
    const auto learnt = ask(learner_, "/v1/partitions"), read = ask(reader_, "/v1/partitions");
    if (learnt.empty() || read.empty()) return "no answer";
    const auto found = joined_in(learnt), right = joined_in(read);
    std::map<int32_t, uint64_t> erased;
    for (size_t n = 0; n < next_; ++n) ++erased[home_of(old_[n], routes_).value()];
    doubled_ = 0;
    std::string what;
    for (int32_t p = 0; p < routes_.partitions(); ++p) {
        const auto a = found.find(p), b = right.find(p);
        if (a == found.end() || b == right.end()) return fmt::format("partition {} is missing", p);
        const uint64_t decisions = log.counts(p).decisions - erased[p];
        if (a->second.decisions > decisions) doubled_ += a->second.decisions - decisions;
        if (a->second == b->second && a->second.decisions == decisions &&
            a->second.fenced == log.counts(p).fenced)
            continue;
        what += fmt::format(
            "partition {}: the learner has {}; the reader without faults {}; the log {} decisions, "
            "{} of them erased, {} fenced. ",
            p, a->second.text(), b->second.text(), log.counts(p).decisions, erased[p],
            log.counts(p).fenced);
    }
    return what;
}

void Service::compare(const DecisionLog& log, const std::string& after) {
    std::string what;
    const bool same = wait_until(kPatience, [&] {
        what = differs(log);
        if (!what.empty()) sleep_ms(100);
        return what.empty();
    });
    if (!same) oracle_.violation(fmt::format("after {}: {}", after, what));
}

void Service::ask_old_customers(Asker& asker, size_t most) {
    const uint64_t erased = next_;
    const size_t first = erased - std::min(most, erased);
    for (size_t n = first; n < std::min(erased + most, old_.size()); ++n) {
        const auto target =
            fmt::format("/v1/decisions/{}", domain::decision_id_of(old_[n].id).value());
        const Node* owner = routes_.owner(home_of(old_[n], routes_));
        const bool expected = n >= erased;
        std::string last;
        const bool right = wait_until(kPatience, [&] {
            tend_();
            const auto answer = asker.ask(*owner, target, nullptr, base::Duration::seconds(10));
            last = answer ? fmt::format("{} {}", answer->status, answer->body)
                          : answer.error().message;
            if (!answer || answer->status >= 500) return false;
            return (answer->status == 200) == expected;
        });
        if (right) continue;
        return oracle_.violation(fmt::format("'{}', who is{} erased, is answered {}",
                                             old_[n].person, expected ? " not" : "", last));
    }
}

void Service::accept_clock(Node& node) {
    static const std::string body = R"({"reason":"the clock is right again"})";
    static_cast<void>(ask(node, "/v1/clock/accept", &body));
}

size_t Service::runs() {
    const auto answer = ask(learner_, "/v1/runs");
    if (answer.empty()) return 0;
    return json::parse(answer).at("runs").as_array().size();
}

void Service::join_anew() {
    learner_.kill();
    std::filesystem::remove_all(learner_.store() / "partitions");
    if (const auto started = learner_.keep_starting(); !started)
        oracle_.violation(started.error().message);
}

}  // namespace rampart::chaos
