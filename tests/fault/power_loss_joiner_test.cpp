// Power cuts under the joiner: after each of them the joined state is whole, and goes on to that of
// a joiner that read the same log without a cut.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "rampart/base/random.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/child.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"
#include "support/power_loss.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using base::Random;
using test_support::in_child;
using test_support::Loss;
using test_support::PowerLossFileSystem;
using test_support::Shared;

constexpr int kSeeds = 2, kCuts = 5;
constexpr uint64_t kDecisions = 300;
constexpr int64_t kLastDay = 200;  // by then all has matured

using Environment = std::shared_ptr<rocksdb::Env>;

/// What children say to their parent.
struct Report {
    uint64_t wrong = 0, joined = 0;
    char message[1024] = {};

    void complain(const std::string& text) {
        if (wrong++ == 0) text.copy(message, sizeof message - 1);
    }
};

uint64_t first_seed() {
    const char* wanted = std::getenv("RAMPART_SEED");
    return wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10);
}

/// The same log for a seed: decisions with early, late, repeated, corrected and missing outcomes,
/// repeats of decisions, and records that make no sense.
support::MemoryLog make_log(uint64_t seed) {
    support::MemoryLog log;
    log.create("decisions", 3);
    log.create("outcomes", 2);
    Random random(seed);
    const auto append = [&](const char* topic, const streaming::Record& record) {
        EXPECT_TRUE(log.append(topic, std::span(&record, 1)));
    };
    for (uint64_t n = 0; n < kDecisions; ++n) {
        const auto name = std::to_string(n);
        const int64_t day = static_cast<int64_t>(n / 6);
        const auto decision =
            support::make_decision(name, support::day(day), random.bernoulli(0.8));
        const auto outcome = [&](uint32_t revision, double value, int64_t after) {
            return wire::to_record(
                support::make_outcome(name, "repaid", revision, value, support::day(day + after)));
        };
        if (random.bernoulli(0.1)) append("outcomes", outcome(0, 1, 20));
        append("decisions", wire::to_record(decision, 0));
        if (random.bernoulli(0.1)) append("decisions", wire::to_record(decision, 0));
        if (random.bernoulli(0.6)) append("outcomes", outcome(0, 1, 20));
        if (random.bernoulli(0.2)) append("outcomes", outcome(1, 0, 90));
        if (random.bernoulli(0.03)) append("outcomes", {name, "no outcome", support::day(day), {}});
    }
    return log;
}

JoinerOptions options(Environment environment) {
    JoinerOptions made{.product = support::two_measure_product(), .partitions = 3};
    made.environment = std::move(environment);
    return made;
}

/// Joins to the end of the log in small steps, with steps of the clock between them.
base::Status join(OutcomeJoiner& joiner, Report& report) {
    while (true) {
        RAMPART_TRY(const auto polled, joiner.poll(5));
        if (!polled.stopped.empty()) return polled.stopped[0].error;
        report.joined += polled.records;
        const auto counts = joiner.counts();
        const auto day = static_cast<int64_t>(counts.decisions / 6);
        const auto now = support::day(polled.records == 0 ? kLastDay : day);
        const auto advanced = joiner.advance(now);
        if (!advanced && advanced.error().reason != "state_rebuilding") return advanced.error();
        if (advanced && polled.records == 0) return base::ok();
    }
}

/// What a kept record that is read again, or left out, would change.
std::string text_of(const std::vector<PartitionState>& states) {
    std::string text;
    for (const auto& state : states) {
        const auto& counts = state.counts;
        text += fmt::format(
            "partition {}: hash {}, {} decisions, {} repeated, {} outcomes, {} repeated, {} "
            "corrections, {} undecodable, {} matured\n",
            state.partition, state.hash.hex(), counts.decisions, counts.duplicate_decisions,
            counts.outcomes, counts.duplicate_outcomes, counts.corrections, counts.undecodable,
            counts.matured);
    }
    return text;
}

void check(OutcomeJoiner& joiner, const std::string& when, Report& report) {
    const auto findings = joiner.check();
    if (!findings) return report.complain(when + findings.error().message);
    for (const auto& finding : *findings) report.complain(when + finding);
}

void look(const fs::path& folder, uint64_t seed, const Environment& environment, Report& report) {
    const auto log = make_log(seed);
    fs::remove_all(folder / "calm");
    const auto cut = OutcomeJoiner::open(folder / "cut", options(environment), log);
    if (!cut) return report.complain("it does not open: " + cut.error().message);
    const auto calm = OutcomeJoiner::open(folder / "calm", options(environment), log);
    if (!calm) return report.complain(calm.error().message);
    check(**cut, "after a cut: ", report);
    for (auto* joiner : {cut->get(), calm->get()}) {
        const auto joined = join(*joiner, report);
        if (!joined) return report.complain(joined.error().message);
        check(*joiner, "after the joining: ", report);
    }
    const auto found = text_of((*cut)->partition_states().value());
    const auto right = text_of((*calm)->partition_states().value());
    if (found != right) report.complain("joined:\n" + found + "and without a cut:\n" + right);
}

/// Those in the folder that were damaged, and made anew.
uint64_t set_aside_in(const fs::path& folder) {
    uint64_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        found += entry.is_directory() && storage::is_set_aside(entry.path());
    return found;
}

TEST(PowerLossOfTheJoiner, LeavesWholeJoinsThatGoOnToTheStateOfAReplay) {
    const uint64_t first = first_seed();
    uint64_t cuts = 0, set_aside = 0, joined = 0;
    for (const Loss loss : {Loss::kAll, Loss::kPrefix, Loss::kPages}) {
        for (uint64_t seed = first; seed < first + kSeeds; ++seed) {
            const auto folder =
                fs::path(testing::TempDir()) / fmt::format("power_loss_joiner.{}", ::getpid());
            Random random(seed * 3 + static_cast<uint64_t>(loss));
            for (int cut = 0; cut < kCuts; ++cut) {
                fs::remove_all(folder);
                fs::create_directories(folder);
                Shared<Report> report;
                const auto files = [&](uint64_t at) {
                    return rocksdb::NewCompositeEnv(std::make_shared<PowerLossFileSystem>(
                        folder.string() + ".kept", loss, at, random.fork(at)));
                };
                // several cuts of the same store, then a look
                for (int life = 0; life < 3; ++life) {
                    const uint64_t nth = 1 + random.below(400);
                    const int ended = in_child([&] {
                        const auto log = make_log(seed);
                        const auto joiner =
                            OutcomeJoiner::open(folder / "cut", options(files(nth)), log);
                        if (!joiner) return report->complain(joiner.error().message);
                        const auto status = join(**joiner, *report);
                        if (!status) report->complain(status.error().message);
                    });
                    cuts += ended == PowerLossFileSystem::kPowerCut;
                    ASSERT_TRUE(ended == PowerLossFileSystem::kPowerCut || ended == 0) << ended;
                }
                ASSERT_EQ(in_child([&] {
                              look(folder, seed, files(PowerLossFileSystem::kNever), *report);
                          }),
                          0);
                set_aside += set_aside_in(folder / "cut");
                joined += report->joined;
                ASSERT_EQ(report->wrong, 0u) << "loss " << static_cast<int>(loss) << ", seed "
                                             << seed << ", cut " << cut << ": " << report->message;
            }
            fs::remove_all(folder);
            fs::remove_all(folder.string() + ".kept");
        }
    }
    EXPECT_GT(cuts, 40u) << "the power was hardly ever cut";
    EXPECT_GT(joined, 7'000u);
    fmt::print("{} cuts; {} databases were damaged by one and made anew\n", cuts, set_aside);
}

/// Has each partition begin behind a gap, which is accepted: the store then has what the log lacks.
void accept_gaps(OutcomeJoiner& joiner, support::MemoryLog& log, Report& report) {
    if (const auto polled = joiner.poll(5); !polled) report.complain(polled.error().message);
    for (int32_t p = 0; p < 3; ++p) {
        log.drop_front("decisions", streaming::PartitionId(p), 40);
        const auto accepted = joiner.accept_gap("decisions", streaming::PartitionId(p));
        if (!accepted) report.complain(accepted.error().message);
    }
}

/// Joins the log on a disk that loses nothing, then moves the clock by seconds for so long that the
/// power is cut before the end.
void tick_until_cut(const fs::path& folder, support::MemoryLog& log, bool gaps,
                    const Environment& calm, const Environment& cut, Report& report) {
    {
        const auto joiner = OutcomeJoiner::open(folder / "cut", options(calm), log);
        if (!joiner) return report.complain(joiner.error().message);
        if (gaps) accept_gaps(**joiner, log, report);
        const auto joined = join(**joiner, report);
        if (!joined) return report.complain(joined.error().message);
    }
    const auto joiner = OutcomeJoiner::open(folder / "cut", options(cut), log);
    if (!joiner) return report.complain(joiner.error().message);
    for (int64_t second = 1; second < 2000; ++second) {
        const auto now = support::day(kLastDay) + base::Duration::seconds(second);
        const auto advanced = (*joiner)->advance(now);
        if (!advanced) return report.complain(advanced.error().message);
    }
    report.complain("the power was not cut");
}

/// Looks whether the store still has what the log does not.
void look_for_gaps(const fs::path& folder, const support::MemoryLog& log, const Environment& calm,
                   Report& report) {
    const auto joiner = OutcomeJoiner::open(folder / "cut", options(calm), log);
    if (!joiner) return report.complain("it does not open: " + joiner.error().message);
    check(**joiner, "after a cut: ", report);
    const auto gaps = (*joiner)->counts().gaps_accepted;
    if (gaps != 3) report.complain(fmt::format("{} accepted gaps are left of 3", gaps));
}

/// A node without records moves its clock each second, and no sync comes: a cut then takes any
/// pages of what was written.
void cut_while_the_clock_moves(bool gaps) {
    const auto folder =
        fs::path(testing::TempDir()) / fmt::format("power_loss_clock.{}", ::getpid());
    for (const Loss loss : {Loss::kAll, Loss::kPrefix, Loss::kPages}) {
        for (uint64_t seed = first_seed(); seed < first_seed() + 3; ++seed) {
            fs::remove_all(folder);
            fs::create_directories(folder);
            Random random(seed * 3 + static_cast<uint64_t>(loss));
            Shared<Report> report;
            const auto files = [&](uint64_t at) {
                return rocksdb::NewCompositeEnv(std::make_shared<PowerLossFileSystem>(
                    folder.string() + fmt::format(".kept{}", at), loss, at, random.fork(at)));
            };
            const auto calm = [&] { return files(PowerLossFileSystem::kNever); };
            auto log = make_log(seed);
            const uint64_t nth = 2000 + random.below(3000);
            ASSERT_EQ(
                in_child([&] { tick_until_cut(folder, log, gaps, calm(), files(nth), *report); }),
                PowerLossFileSystem::kPowerCut)
                << report->message;
            ASSERT_EQ(in_child([&] {
                          gaps ? look_for_gaps(folder, log, calm(), *report)
                               : look(folder, seed, calm(), *report);
                      }),
                      0);
            ASSERT_EQ(report->wrong, 0u) << "loss " << static_cast<int>(loss) << ", seed " << seed
                                         << ": " << report->message;
            EXPECT_EQ(set_aside_in(folder / "cut"), 0u)
                << "loss " << static_cast<int>(loss) << ", seed " << seed;
            fs::remove_all(folder);
            fs::remove_all(folder.string() + fmt::format(".kept{}", nth));
            fs::remove_all(folder.string() + fmt::format(".kept{}", PowerLossFileSystem::kNever));
        }
    }
}

TEST(PowerLossOfTheJoiner, DamagesNothingWhileOnlyTheClockMoves) {
    cut_while_the_clock_moves(false);
}

TEST(PowerLossOfTheJoiner, TakesNothingThatTheLogDoesNotHave) { cut_while_the_clock_moves(true); }

}  // namespace
}  // namespace rampart::joiner
