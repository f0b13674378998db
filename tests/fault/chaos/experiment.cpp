#include "fault/chaos/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "support/places.hpp"

namespace rampart::chaos {
namespace {

constexpr auto kLong = std::chrono::seconds(600);
const std::string kProgram = test_support::bin_dir() + "/rampart";

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr || *text == '\0' ? otherwise : std::stoull(text);
}

/// Turns an error into a violation.
void expect(Run& run, const base::Status& status) {
    if (!status) run.oracle().violation(status.error().message);
}

/// Sends the same batches and probes to a deployment without faults.
FinalState undisturbed(Run& disturbed, const LoadOptions& load,
                       std::vector<std::string>& violations) {
    LoadOptions fast = load;
    fast.pause = base::Duration();
    fast.workers = 6;
    Run calm(disturbed.arena(), "calm", {"calm"}, {}, fast);
    Node& node = calm.node("calm");
    if (const auto started = node.start(); !started) {
        violations.push_back(started.error().message);
        return {};
    }
    calm.set_owners({&node});
    calm.load().run_to(disturbed.load().whole_batches());
    calm.add_probes(disturbed.probes());
    calm.decide_probes();
    calm.check("no fault");
    calm.mature();
    auto state = calm.finish();
    for (const auto& violation : calm.oracle().violations()) {
        violations.push_back("without any fault: " + violation);
    }
    return state;
}

void compare(const FinalState& found, const FinalState& calm,
             std::vector<std::string>& violations) {
    if (found.hashes != calm.hashes) {
        violations.emplace_back("the state is not that of an undisturbed run");
    }
    const auto same = [&](const char* what, uint64_t a, uint64_t b) {
        if (a == b) return;
        violations.push_back(fmt::format("{} {}, and {} in an undisturbed run", a, what, b));
    };
    same("decisions", found.counts.decisions, calm.counts.decisions);
    same("outcomes", found.counts.outcomes, calm.counts.outcomes);
    same("corrections", found.counts.corrections, calm.counts.corrections);
    same("matured examples", found.counts.matured, calm.counts.matured);
}

/// The number of kills during maturity.
int in_the_end(int kills) { return std::min(kills / 5, 4); }

/// Lets everything mature, with the last kills, and compares it with an undisturbed run. After a
/// violation it does nothing.
void conclude(Run& run, Nemesis& nemesis, const ExperimentOptions& options, const LoadOptions& load,
              Outcome& outcome) {
    if (!run.oracle().sound()) return;
    run.mature([&] {
        if (nemesis.deeds().kills < options.kills) nemesis.kill_quietly();
    });
    if (!run.oracle().sound()) return;
    const auto state = run.finish();
    const auto calm = undisturbed(run, load, outcome.violations);
    compare(state, calm, outcome.violations);
    outcome.decisions = state.counts.decisions;
    outcome.outcomes = state.counts.outcomes;
}

/// Where a script runs.
struct Scene {
    Arena::Kind kind = Arena::Kind::kBroker;
    int brokers = 1;
    std::vector<std::string> nodes;
    std::string spare{};
    size_t old_customers = 0;  // 0: by event time
};

/// What a service shows at its end.
void conclude_service(Run& run, Outcome& outcome) {
    if (run.oracle().sound()) run.finish_service();
    outcome.erased = run.service()->erased();
    outcome.decisions = run.log().totals().decisions;
}

/// Runs the script, then the end that all scripts share, and reports the result.
Outcome experiment(const ExperimentOptions& options, const Scene& scene,
                   const std::function<void(Run&, Nemesis&)>& script) {
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome;
    outcome.seed = options.seed;
    Arena arena(options.folder, options.seed, scene.kind, scene.brokers);
    LoadOptions load;
    load.by_topic = options.by_topic;
    const bool service = scene.old_customers > 0;
    // so that what is kept of each decision fits into memory
    if (options.time > kLong) load.pause = base::Duration::micros(250'000);
    const bool mount = options.may_mount && scene.kind == Arena::Kind::kBroker && !service;
    Run run(arena, "wild", scene.nodes, {options.lease_ms, mount, scene.old_customers}, load);
    Nemesis nemesis(run, options.seed, scene.spare, options.sleep);
    try {
        script(run, nemesis);
        if (service)
            conclude_service(run, outcome);
        else
            conclude(run, nemesis, options, load, outcome);
    } catch (const std::exception& error) {
        run.oracle().violation(error.what());
    }
    const auto violations = run.oracle().violations();  // they were first
    outcome.violations.insert(outcome.violations.begin(), violations.begin(), violations.end());
    if (!outcome.violations.empty()) arena.keep_folder();
    outcome.deeds = nemesis.deeds();
    outcome.acknowledged = run.oracle().acknowledgements();
    outcome.lost = run.oracle().lost();
    if (service) outcome.doubled = run.service()->doubled();
    if (!service && outcome.decisions > run.oracle().expected_decisions())
        outcome.doubled = outcome.decisions - run.oracle().expected_decisions();
    outcome.fenced = run.log().totals().fenced;
    outcome.repeats = run.log().totals().repeats;
    outcome.retries = run.load().retries();
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

Outcome alone(const ExperimentOptions& options, const Scene& scene) {
    return experiment(options, scene, [&](Run& run, Nemesis& nemesis) {
        expect(run, run.node("a").start());
        if (!run.oracle().sound()) return;
        run.set_owners({&run.node("a")});
        // a whole deck on the mock broker, whose errors are its purpose
        const int faults = scene.kind == Arena::Kind::kBroker ? 0 : scene.brokers > 1 ? 10 : 12;
        nemesis.harm_until(options.kills - in_the_end(options.kills), faults);
    });
}

/// Ends the nodes, gives them other partitions, and starts them again. `between` runs while all of
/// them are down.
void reshape(Run& run, const std::vector<std::pair<Node*, Share>>& shares,
             const std::function<void()>& between) {
    for (const auto& [node, share] : shares) expect(run, node->terminate());
    for (const auto& [node, share] : shares) node->configure(share);
    between();
    auto owners = run.owners();
    for (const auto& [node, share] : shares) {
        expect(run, node->keep_starting());
        if (std::find(owners.begin(), owners.end(), node) == owners.end()) owners.push_back(node);
    }
    run.set_owners(owners);
}

/// Runs `rampart partition move`, and kills it once during the move.
void move(Run& run, int32_t partition, const Node& from, const Node& to, base::Random& random) {
    const std::vector<std::string> words{kProgram,   "partition",
                                         "move",     std::to_string(partition),
                                         "--config", from.config().string(),
                                         "--to",     to.config().string()};
    const auto log = run.arena().folder() / "move.log";
    {
        Process first(words, log);
        sleep_ms(static_cast<int64_t>(random.below(80)));
    }  // killed here
    Process again(words, log);
    if (again.wait(std::chrono::seconds(60)) == 0) return;
    // if the first one had reached its end, nothing is left to do, and it says so
    const auto said = tail_of(log);
    if (said.find("is there already") == std::string::npos &&
        said.find("there is no partition at") == std::string::npos) {
        run.oracle().violation("partition move failed: " + said);
    }
}

/// `newcomer` asks for a partition that `owner` has, and is refused.
void expect_refusal(Run& run, Node& newcomer, int32_t partition, const Node& owner) {
    newcomer.configure({{partition}, {}, false});
    const auto started = newcomer.start();
    const auto named = fmt::format("'{}'", owner.name());
    if (started) {
        run.oracle().violation("a node got a partition that a living one owns");
        newcomer.kill();
    } else if (started.error().reason != "ended" ||
               started.error().message.find(named) == std::string::npos) {
        run.oracle().violation("a refusal does not name the owner: " + started.error().message);
    }
    // it made an empty folder; `partition move` requires that there is none
    std::filesystem::remove_all(newcomer.store() / "partitions" / std::to_string(partition));
}

void go_on(Run& run, const std::string& after) {
    run.load().resume();
    run.expect_progress(after);
    run.check(after);
}

/// The script of moving_partitions(), in thirds of the kills.
void share_and_pass_on(Run& run, Nemesis& nemesis, const ExperimentOptions& options) {
    base::Random random(options.seed);
    const int kills = options.kills - in_the_end(options.kills);
    run.node("a").configure({{0, 1}, {2, 3}, true});
    run.node("b").configure({{2, 3}, {}, false});
    expect(run, run.node("a").start());
    expect(run, run.node("b").start());
    if (!run.oracle().sound()) return;
    run.set_owners({&run.node("a"), &run.node("b")});
    expect_refusal(run, run.node("c"), 3, run.node("b"));
    nemesis.harm_until((kills + 2) / 3);
    if (!run.oracle().sound()) return;

    // the faults may have put another node in the place of either one
    Node& third = run.node("c");
    Node* second = run.owners()[1];
    run.load().resume();  // and it must wait
    reshape(run, {{second, {{2}, {}, false}}, {&third, {{3}, {}, false}}},
            [&] { move(run, 3, *second, third, random); });
    go_on(run, "a partition moved as a checkpoint");
    nemesis.harm_until((2 * kills + 2) / 3);
    if (!run.oracle().sound()) return;

    Node* first = run.owners()[0];
    Node* taker = run.owners()[2];
    run.load().resume();
    reshape(run, {{first, {{0}, {1, 2, 3}, true}}, {taker, {{1, 3}, {}, false}}}, [] {});
    go_on(run, "a partition made again from the log");
    nemesis.harm_until(kills);
}

}  // namespace

std::string Outcome::text() const {
    std::string text = fmt::format(
        "seed {}: {} faults with {} kills in {:.0f} s; {} decisions{}, each counted once; "
        "{} records of processes that had lost their partition, not counted; {} take-overs; "
        "{} repeated records; {} retries\n",
        seed, deeds.total, deeds.kills, seconds, decisions,
        outcomes > 0 ? fmt::format(" and {} outcomes", outcomes) : "", fenced, deeds.slept_through,
        repeats, retries);
    text += fmt::format("  a full disk stopped decisions {} times, and {} nodes ended for it\n",
                        deeds.disk_was_full, deeds.ended_by_themselves);
    if (runs > 0)
        text += fmt::format(
            "  {} persons erased, {} runs of training; {} bytes held back, {} slow fsyncs, {} new "
            "connections refused without files\n",
            erased, runs, deeds.bytes_held_back, deeds.slow_syncs, deeds.refused_for_files);
    text += fmt::format("  acknowledged {}, lost {}, doubled {}\n", acknowledged, lost, doubled);
    text += fmt::format("  {:>5}  {:>16}  fault\n", "times", "longest pause ms");
    for (const auto& [fault, times] : deeds.faults) {
        const auto pause = deeds.pauses.find(fault);
        text += fmt::format(
            "  {:>5}  {:>16}  {}\n", times,
            pause == deeds.pauses.end() ? "" : std::to_string(pause->second.count()), fault);
    }
    if (violations.empty()) return text;
    text += fmt::format("FAILED with seed {}. First contradiction: {}\nSchedule:\n", seed,
                        violations.front());
    for (const auto& fault : deeds.schedule) text += "  " + fault + "\n";
    for (size_t i = 1; i < violations.size(); ++i) {
        text += fmt::format("  violation {}: {}\n", i + 1, violations[i]);
    }
    return text;
}

Outcome one_node(const ExperimentOptions& options) {
    return alone(options, {.nodes = {"a", "b"}, .spare = "b"});
}

Outcome injected_errors(const ExperimentOptions& options) {
    return alone(options, {.kind = Arena::Kind::kMock, .nodes = {"a"}});
}

Outcome three_brokers(const ExperimentOptions& options) {
    return alone(options, {.kind = Arena::Kind::kMock, .brokers = 3, .nodes = {"a"}});
}

Outcome service(const ExperimentOptions& options) {
    const auto customers = static_cast<size_t>(200 + options.time.count() / 2);
    const Scene scene{
        .nodes = {"a", "b", "d", "learner", "reader"}, .spare = "d", .old_customers = customers};
    size_t runs = 0;
    auto outcome = experiment(options, scene, [&](Run& run, Nemesis& nemesis) {
        run.node("a").configure({{0, 1}, {}, false, R"("decide")"});
        run.node("b").configure({{2, 3}, {}, false, R"("decide")"});
        run.begin_service({&run.node("a"), &run.node("b")});
        if (run.oracle().sound()) nemesis.harm_for(std::max(options.time, std::chrono::seconds(1)));
        if (run.oracle().sound()) runs = run.service()->runs();
    });
    outcome.runs = runs;
    return outcome;
}

Outcome moving_partitions(const ExperimentOptions& options) {
    return experiment(
        options, {.nodes = {"a", "b", "c", "d"}, .spare = "d"},
        [&](Run& run, Nemesis& nemesis) { share_and_pass_on(run, nemesis, options); });
}

uint64_t seed_from_environment() {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return number_from_environment("RAMPART_SEED", static_cast<uint64_t>(now) % 1'000'000);
}

int kills_from_environment(int otherwise) {
    return static_cast<int>(
        number_from_environment("RAMPART_KILLS", static_cast<uint64_t>(otherwise)));
}

std::chrono::seconds time_from_environment() {
    return std::chrono::seconds(number_from_environment("RAMPART_CHAOS_SECONDS", 0));
}

}  // namespace rampart::chaos
