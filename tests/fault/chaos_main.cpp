// Runs a deployment under faults for any length of time, and reports whether all guarantees held.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "fault/chaos/experiment.hpp"

int main(int argc, char** argv) {
    using namespace rampart::chaos;
    ExperimentOptions options;
    options.seed = seed_from_environment();
    options.folder = std::filesystem::temp_directory_path() / fmt::format("chaos.{}", ::getpid());
    bool one = false, mock = false, no_mount = false, three = false, as_service = false;
    int64_t lease = options.lease_ms / 1000, sleep = 0;
    CLI::App app("Kills, stops and starves nodes and their broker, and checks what they promised.");
    app.add_option("--kills", options.kills, "how many SIGKILLs; other faults come with them")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "repeats the faults of an earlier run");
    app.add_option("--folder", options.folder, "for stores and logs; removed in the end");
    app.add_option("--by-topic", options.by_topic, "share of applications that come by topic")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--lease", lease, "seconds without a heartbeat until a partition is taken over")
        ->check(CLI::Range(1, 60))
        ->capture_default_str();
    app.add_option("--sleep", sleep, "seconds of a SIGSTOP, at least; always longer than the lease")
        ->check(CLI::Range(0, 3600))
        ->capture_default_str();
    auto* one_flag = app.add_flag("--one", one, "one node and one in reserve; nothing is moved");
    auto* mock_flag =
        app.add_flag("--mock", mock, "one node on a mock of a broker that makes errors on demand")
            ->excludes(one_flag);
    auto* three_flag =
        app.add_flag("--three-brokers", three, "one node on three such brokers: leaders, replicas")
            ->excludes(one_flag)
            ->excludes(mock_flag);
    app.add_flag("--service", as_service,
                 "by the wall clock, sealed, with training and erasures; --kills does not count")
        ->excludes(one_flag)
        ->excludes(mock_flag)
        ->excludes(three_flag);
    int64_t seconds = time_from_environment().count();
    app.add_option("--seconds", seconds, "with --service: how long; default: RAMPART_CHAOS_SECONDS")
        ->check(CLI::Range(0, 1'000'000));
    app.add_flag("--no-mount", no_mount, "a full disk by a limit of files, as without root");
    CLI11_PARSE(app, argc, argv);
    options.lease_ms = lease * 1000;
    options.sleep = std::chrono::seconds(sleep);
    options.time = std::chrono::seconds(seconds);
    options.may_mount = !no_mount;
    std::error_code ignored;
    if (std::filesystem::exists(options.folder, ignored)) {
        fmt::print(stderr, "--folder '{}' is there already; name a new one\n",
                   options.folder.string());
        return 2;
    }
    fmt::print("seed {}\n", options.seed);
    try {
        const auto outcome = as_service ? service(options)
                             : three    ? three_brokers(options)
                             : mock     ? injected_errors(options)
                             : one      ? one_node(options)
                                        : moving_partitions(options);
        fmt::print("{}", outcome.text());
        if (outcome.violations.empty()) return 0;
        fmt::print("stores and logs are in {}\n", options.folder.string());
        return 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "seed {}: {}\n", options.seed, error.what());
        return 2;
    }
}
