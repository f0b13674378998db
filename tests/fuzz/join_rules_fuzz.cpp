#include <algorithm>
#include <functional>

#include "fuzz.hpp"
#include "rampart/joiner/join_state.hpp"

/// The rules of the joiner. The input decides which records of one decision id arrive, in which
/// order, with which times and revisions, and when measures mature.
namespace rampart::fuzz {
namespace {

using base::TimePoint;
using joiner::Applied;
using joiner::JoinState;

constexpr std::string_view kMeasures[] = {"repaid", "score"};

/// There are few times, so that they coincide.
TimePoint moment(Choices& choices) { return TimePoint::from_micros(choices.byte() % 32); }

std::vector<joiner::Version> versions_of(const JoinState& state, std::string_view measure) {
    std::vector<joiner::Version> found;
    std::copy_if(state.versions.begin(), state.versions.end(), std::back_inserter(found),
                 [&](const auto& version) { return version.measure == measure; });
    return found;
}

/// The guarantees of the header and of schemas/keys.md for any state.
void check(const JoinState& state) {
    const auto bytes = joiner::encode(state);
    const auto back = joiner::decode_join_state(bytes);
    FUZZ_LAW(back.has_value(), "refuses a state that came about: {}", back.error().message);
    FUZZ_LAW(*back == state, "reads back another state");
    FUZZ_LAW(state.reports.size() <= joiner::kMaxReports, "{} reports", state.reports.size());
    for (const auto measure : kMeasures) {
        const auto versions = versions_of(state, measure);
        for (size_t v = 0; v < versions.size(); ++v) {
            const auto& version = versions[v];
            FUZZ_LAW(version.version == v, "version {} stands at {}", version.version, v);
            FUZZ_LAW(version.known_at >= version.matured_at, "known before it matured");
            FUZZ_LAW(v == 0 || version.matured_at == versions[0].matured_at, "matured twice");
            FUZZ_LAW(v < 2 || version.revision > versions[v - 1].revision, "an older revision won");
            FUZZ_LAW(v == 0 || version.value.has_value(), "a correction without a value");
        }
        FUZZ_LAW((joiner::latest(state, measure) == nullptr) == versions.empty(), "no latest");
    }
}

/// The last value of a matured measure has the highest revision, in any order of arrival.
void check_latest(const JoinState& state, std::string_view measure) {
    const auto* latest = joiner::latest(state, measure);
    if (latest == nullptr) return;
    const joiner::Report* best = nullptr;
    for (const auto& report : state.reports) {
        if (report.measure == measure) best = &report;  // sorted by revision
    }
    FUZZ_LAW(latest->value.has_value() == (best != nullptr), "a value without a report");
    FUZZ_LAW(
        best == nullptr || (*latest->value == best->value && latest->revision == best->revision),
        "revision {} is the last, not {}", latest->revision, best->revision);
}

struct World {
    JoinState state;
    TimePoint clock;
};

void step(World& world, Choices& choices) {
    JoinState& state = world.state;
    const JoinState before = state;
    // a guarantee of the joiner: a record that arrives after the clock becomes known later than it
    const auto known_from = world.clock + base::Duration::micros(1);
    switch (choices.byte() % 4) {
        case 0: {
            const auto bytes = choices.text(1 + choices.byte() % 3);
            if (bytes.empty()) return;
            const auto applied = joiner::add_decision(state, bytes, known_from);
            FUZZ_LAW(applied == Applied::kNew || state == before, "a repeat changed the state");
            FUZZ_LAW((applied == Applied::kNew) == before.decision.empty(), "not the first stays");
            break;
        }
        case 1:
        case 2: {
            const domain::Outcome outcome{
                domain::DecisionId("d"), std::string(kMeasures[choices.byte() % 2]),
                choices.byte() % 8u, choices.byte() % 2 * 1.0, moment(choices)};
            const auto applied = joiner::add_report(state, outcome, known_from);
            FUZZ_LAW(applied == Applied::kNew || state == before, "a refusal changed the state");
            const auto again = joiner::add_report(state, outcome, known_from);
            FUZZ_LAW(applied == Applied::kNew ? again == Applied::kDuplicate : again == applied,
                     "a repeat is not a duplicate");
            break;
        }
        default: {
            world.clock = std::max(world.clock, moment(choices));
            if (state.decision.empty()) break;
            const auto matured_at = std::min(moment(choices), world.clock);
            joiner::mature(state, kMeasures[choices.byte() % 2], matured_at);
            break;
        }
    }
}

bool rules(std::string_view bytes) {
    Choices choices(bytes);
    World world;
    for (size_t steps = 0; steps < 100 && !choices.empty(); ++steps) {
        const World before = world;
        step(world, choices);
        check(world.state);
        for (const auto measure : kMeasures) check_latest(world.state, measure);
        // knowledge up to the clock never changes again
        for (const auto& old : before.state.versions) {
            for (int64_t t = 0; t <= before.clock.micros(); ++t) {
                const auto at = TimePoint::from_micros(t);
                const auto* then = joiner::as_known_at(before.state, old.measure, at);
                const auto* now = joiner::as_known_at(world.state, old.measure, at);
                FUZZ_LAW(
                    (then == nullptr) == (now == nullptr) && (then == nullptr || *then == *now),
                    "what was known at {} changed", t);
            }
        }
    }
    return true;
}

/// The same reports in any order make the same state, as long as no measure has matured. The first
/// half of the input gives the reports, the second half their order.
bool order(std::string_view bytes) {
    Choices choices(bytes.substr(0, bytes.size() / 2)), shuffle(bytes.substr(bytes.size() / 2));
    std::vector<domain::Outcome> outcomes;
    while (!choices.empty() && outcomes.size() < 64) {
        const auto measure = kMeasures[choices.byte() % 2];
        const uint32_t revision = choices.byte() % 16;
        // content is a function of the name: no conflicts
        outcomes.push_back({domain::DecisionId("d"), std::string(measure), revision, revision * 1.0,
                            TimePoint::from_micros((revision * 7 + 3) % 20)});
    }
    const auto join = [&] {
        JoinState state;
        joiner::add_decision(state, "d", TimePoint());
        for (const auto& outcome : outcomes) joiner::add_report(state, outcome, TimePoint());
        for (const auto measure : kMeasures)
            joiner::mature(state, measure, TimePoint::from_micros(10));
        return state;
    };
    const JoinState straight = join();
    for (size_t i = outcomes.size(); i > 1; --i)
        std::swap(outcomes[i - 1], outcomes[shuffle.byte() % i]);
    FUZZ_LAW(join() == straight, "the order of arrival changed the state");
    return !outcomes.empty();
}

/// A dated state is a function of its records and of what has matured, in whatever order they were
/// read, and whether a measure matured before, between or after them. As `order` otherwise.
bool dated(std::string_view bytes) {
    Choices choices(bytes.substr(0, bytes.size() / 2)), shuffle(bytes.substr(bytes.size() / 2));
    using Step = std::function<void(JoinState&)>;
    std::vector<Step> steps;
    const auto arrival = [&] { return joiner::Arrival(moment(choices), true); };
    while (!choices.empty() && steps.size() < 64) {
        const std::string measure(kMeasures[choices.byte() % 2]);
        const uint32_t revision = choices.byte() % 16;
        const domain::Outcome outcome{domain::DecisionId("d"), measure, revision, revision * 1.0,
                                      TimePoint::from_micros((revision * 7 + 3) % 20)};
        steps.emplace_back([outcome, at = arrival()](JoinState& state) {
            joiner::add_report(state, outcome, at);
        });
    }
    const bool any = !steps.empty();
    for (const auto measure : kMeasures)
        steps.emplace_back([measure](JoinState& state) {
            joiner::mature(state, measure, TimePoint::from_micros(10));
        });
    const auto join = [&] {
        JoinState state;
        joiner::add_decision(state, "d", joiner::Arrival(TimePoint::from_micros(2), true));
        for (const auto& step : steps) step(state);
        check(state);
        return state;
    };
    const JoinState straight = join();
    for (size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[shuffle.byte() % i]);
    FUZZ_LAW(join() == straight, "the order of reading or maturing changed a dated state");
    return any;
}

using Seeds = std::vector<std::string>;

}  // namespace

std::vector<Target> targets() {
    return {
        {"rules", rules,
         [] {
             // a decision, two reports, maturity of both measures, a correction
             return Seeds{
                 std::string("\0\1d\1\0\0\1\5\1\0\1\0\t\3\n\n\0\3\x0f\n\1\2\0\3\0\x0c", 27)};
         },
         1 << 20},  // each step copies the state, to compare
        {"order", order, [] { return Seeds{"\1\2\1\5\2\7\2\1\3\1\4\1"}; }},
        {"dated", dated, [] { return Seeds{"\1\2\3\1\5\t\2\7\x0e\1\2\7\2\1\3\1\4\1\2\3\5\4"}; }},
    };
}

}  // namespace rampart::fuzz
