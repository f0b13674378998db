// All guarantees on a real broker, under faults that a seed selects.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fault/chaos/experiment.hpp"

namespace rampart::chaos {
namespace {

ExperimentOptions options(const std::string& name, int kills) {
    ExperimentOptions options;
    options.seed = seed_from_environment();
    options.kills = kills_from_environment(kills);
    options.folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
    fmt::print("repeat it with RAMPART_SEED={}\n", options.seed);
    return options;
}

/// Each contradiction is its own failure: a shortened log still shows it.
void expect_sound(const Outcome& outcome) {
    fmt::print("{}", outcome.text());
    for (const auto& violation : outcome.violations)
        ADD_FAILURE() << "seed " << outcome.seed << ": " << violation;
}

TEST(Chaos, TwentyKillsOfNodesThatPassOnPartitionsLoseAndDoubleNothing) {
    RAMPART_NEEDS_KAFKA();
    const auto outcome = moving_partitions(options("chaos", 20));
    expect_sound(outcome);
    EXPECT_GE(outcome.deeds.kills, 20);
    EXPECT_GE(outcome.decisions, 500u) << "too little was decided for the faults to mean anything";
    EXPECT_GT(outcome.deeds.slept_through, 0);
    EXPECT_GT(outcome.deeds.disk_was_full, 0);
}

/// Each fault once, or for as long as $RAMPART_CHAOS_SECONDS says.
TEST(Chaos, AServiceByTheWallClockThatTrainsAndErasesLosesAndDoublesNothing) {
    RAMPART_NEEDS_KAFKA();
    auto chosen = options("service", 0);
    chosen.time = time_from_environment();
    const auto outcome = service(chosen);
    expect_sound(outcome);
    EXPECT_EQ(outcome.lost, 0u);
    EXPECT_EQ(outcome.doubled, 0u);
    EXPECT_GE(outcome.acknowledged, 300u) << "too little was decided for the faults to mean much";
    EXPECT_GE(outcome.erased, 10u) << "too few were erased";
    EXPECT_GT(outcome.runs, 0u) << "nothing was trained";
    EXPECT_GT(outcome.deeds.bytes_held_back, 0u) << "no way was one-way";
    EXPECT_GT(outcome.deeds.slow_syncs, 0u) << "no disk was slow";
    EXPECT_GT(outcome.deeds.refused_for_files, 0) << "files could be opened at any time";
    EXPECT_GT(outcome.deeds.slept_through, 0);
}

TEST(Chaos, ThreeBrokersWithoutLeadersAndReplicasLoseAndDoubleNothing) {
    const auto outcome = three_brokers(options("three", 3));
    expect_sound(outcome);
    EXPECT_GE(outcome.decisions, 200u) << "too little was decided for the faults to mean anything";
    EXPECT_EQ(outcome.deeds.faults.size(), 7u);
}

TEST(Chaos, ErrorsOfTheBrokerLoseAndDoubleNothing) {
    const auto outcome = injected_errors(options("errors", 5));
    expect_sound(outcome);
    EXPECT_GE(outcome.deeds.kills, 5);
    EXPECT_GE(outcome.decisions, 200u) << "too little was decided for the errors to mean anything";
}

}  // namespace
}  // namespace rampart::chaos
