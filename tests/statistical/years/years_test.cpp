// Lenders who live through two years of weekly runs with the real loop: decisions, joiner, trainer,
// gate, registry and monitor of one node on event time. Customers return, outcomes are late or
// corrected, attributes come late, persons are erased, epochs end, processes are killed. By the
// truth, which is known, the certificates of an epoch are false with probability at most delta.
//
// RAMPART_YEARS_SEEDS=20, or =6-10, lives lives of 104 weeks with these seeds; by default there is
// one short one.
// RAMPART_YEARS_KEEP: a folder that keeps what was found of each seed, so that a run that was
// broken off goes on; another program begins anew.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "statistical/years/auditor.hpp"
#include "support/binomial.hpp"

namespace rampart::years {
namespace {

namespace fs = std::filesystem;
constexpr double kDelta = 0.1;  // gate.delta_epoch by default

/// Returns a folder of this process, in memory where there is one for files: processes are killed,
/// the machine is not, so that what was written is there, synced or not.
fs::path scratch(const std::string& name) {
    const fs::path memory = "/dev/shm";
    const auto base = fs::is_directory(memory) ? memory : fs::path(testing::TempDir());
    return base / fmt::format("rampart_years.{}.{}", ::getpid(), name);
}

/// Lives to live through.
struct Wanted {
    int first = 11, last = 11;
    std::optional<int> weeks = 28;  // nullopt: all
};

/// Reads RAMPART_YEARS_SEEDS; where it is not set, `ops/test --all` has 20 lives.
Wanted wanted() {
    const char* text = std::getenv("RAMPART_YEARS_SEEDS");
    if (text == nullptr && std::getenv("RAMPART_YEARS_LONG") != nullptr) text = "20";
    if (text == nullptr) return {};
    const std::string range = text;
    const size_t dash = range.find('-');
    if (dash == std::string::npos) return {1, std::atoi(text), std::nullopt};
    return {std::max(1, std::atoi(text)), std::atoi(range.substr(dash + 1).c_str()), std::nullopt};
}

/// Returns the file that keeps the findings of a seed for this very program; empty: none is kept.
fs::path kept(uint64_t seed) {
    const char* folder = std::getenv("RAMPART_YEARS_KEEP");
    if (folder == nullptr) return {};
    static const std::string program =
        base::sha256(base::read_file("/proc/self/exe", size_t{1} << 30).value())
            .hex()
            .substr(0, 16);
    fs::create_directories(folder);
    return fs::path(folder) / fmt::format("{}-{}", program, seed);
}

std::optional<Findings> live_through(uint64_t seed, std::optional<int> weeks) {
    const auto file = weeks ? fs::path() : kept(seed);
    if (!file.empty() && fs::exists(file)) {
        if (auto known = decode(base::read_file(file, 1 << 20).value())) return known;
    }
    Life life = life_of(seed);
    life.weeks = weeks.value_or(life.weeks);
    Lender lender(life, scratch(std::to_string(seed)));
    const auto lived = lender.live();
    EXPECT_TRUE(lived) << "seed " << seed << ": " << lived.error().message;
    if (!lived) return std::nullopt;
    const auto found = audit(lender);
    EXPECT_TRUE(found) << "seed " << seed << ": " << found.error().message;
    if (!found) return std::nullopt;
    if (!file.empty() && !base::write_file_atomically(file, encode(*found)))
        ADD_FAILURE() << "cannot keep " << file;
    return *found;
}

void print(const std::string& name, const Findings& f) {
    std::printf("%-4s %-18s %5s %6d %5d %7d %5d %9d %5d %6d %6d %5d\n", name.c_str(),
                f.world.c_str(), f.look_again != 0 ? "yes" : "no", f.epochs, f.runs, f.charged,
                f.looks, f.certified, f.false_vault, f.false_others, f.false_epochs, f.first_week);
    std::fflush(stdout);
}

void print_head() {
    std::printf("%-4s %-18s %5s %6s %5s %7s %5s %9s %5s %6s %6s %5s\n", "seed", "world", "again",
                "epochs", "runs", "charged", "looks", "certified", "false", "others", "epochs",
                "first");
}

void print_counts(const char* title, const std::map<std::string, int>& counts) {
    std::printf("%s:", title);
    for (const auto& [name, n] : counts) std::printf(" %s %d;", name.c_str(), n);
    std::printf("\n");
}

void print_first_weeks(std::vector<int> weeks, size_t lives) {
    std::sort(weeks.begin(), weeks.end());
    std::printf("lives with a certificate: %zu of %zu", weeks.size(), lives);
    if (!weeks.empty()) {
        std::printf("; weeks to the first: median %d, %d to %d", weeks[weeks.size() / 2],
                    weeks.front(), weeks.back());
    }
    std::printf("\n");
}

TEST(Years, OfWeeklyRunsCertifyFalselyInAtMostTheirShareOfEpochs) {
    const auto [first, last, weeks] = wanted();
    Findings sum;
    sum.world = "all";
    std::map<std::string, std::vector<int>> first_weeks;
    std::map<std::string, size_t> lives;
    print_head();
    for (int seed = first; seed <= last; ++seed) {
        const auto found = live_through(static_cast<uint64_t>(seed), weeks);
        if (!found) continue;
        print(std::to_string(seed), *found);
        sum.epochs += found->epochs, sum.runs += found->runs, sum.charged += found->charged;
        sum.looks += found->looks, sum.certified += found->certified;
        sum.false_vault += found->false_vault, sum.false_others += found->false_others;
        sum.false_epochs += found->false_epochs;
        for (const auto& [reason, n] : found->refusals) sum.refusals[reason] += n;
        for (const auto& [event, n] : found->events) sum.events[event] += n;
        ++lives[found->world];
        if (found->first_week > 0) first_weeks[found->world].push_back(found->first_week);
    }
    print("all", sum);
    print_counts("refused or ended", sum.refusals);
    print_counts("events", sum.events);
    for (const auto& [world, n] : lives) {
        std::printf("%s: ", world.c_str());
        print_first_weeks(first_weeks[world], n);
    }
    std::printf("epochs with a false certificate: %d of %d, red from %d\n", sum.false_epochs,
                sum.epochs, sum.epochs > 0 ? test::red_from(sum.epochs, kDelta) : 0);
    ASSERT_GT(sum.epochs, 0);
    EXPECT_FALSE(test::red(sum.false_epochs, sum.epochs, kDelta));
    EXPECT_TRUE(weeks || sum.certified > 0);
}

TEST(Years, ALifeWithCrashesComesToTheSameAsOneWithout) {
    Life life = life_of(5);  // with further looks
    life.weeks = 24, life.applications = 100;
    Lender wild(life, scratch("wild"));
    life.crashes = false;
    Lender calm(life, scratch("calm"));
    const auto lived = wild.live();
    ASSERT_TRUE(lived) << lived.error().message;
    ASSERT_TRUE(calm.live());
    EXPECT_GT(wild.events().crashes, 0);
    EXPECT_GT(wild.events().reopened, 0);
    EXPECT_EQ(wild.node().state_hash().value().hex(), calm.node().state_hash().value().hex());
    EXPECT_EQ(wild.node().registry().audit_head(), calm.node().registry().audit_head());
    const auto found = audit(wild);
    ASSERT_TRUE(found) << found.error().message;
    print_head();
    print("5", *found);
    print_counts("refused or ended", found->refusals);
    print_counts("events", found->events);
    EXPECT_GT(found->certified, 0);
    EXPECT_EQ(found->false_epochs, 0);
    // had the score of men misled all along, each certificate would be seen to be false
    const auto misled = audit(wild, Truth{World::kTurns, true});
    ASSERT_TRUE(misled) << misled.error().message;
    EXPECT_EQ(misled->false_vault, found->certified);
    EXPECT_EQ(misled->false_others, found->certified);
    EXPECT_GT(misled->false_epochs, 0);
}

TEST(Years, FindingsReadBackAsTheyWereWritten) {
    Findings one;
    one.world = "good";
    one.epochs = 3;
    one.refusals = {{"low_power", 7}};
    one.events = {{"erased", 2}};
    const auto read = decode(encode(one));
    ASSERT_TRUE(read);
    EXPECT_EQ(encode(*read), encode(one));
    EXPECT_FALSE(decode("world=good"));
}

}  // namespace
}  // namespace rampart::years

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view(argv[1]) == "--advance") {
        const auto to = rampart::base::TimePoint::from_micros(std::atoll(argv[3]));
        return rampart::years::advance_once(argv[2], to) ? 0 : 1;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
