// Half a year in which people stop exploration for two months: what is decided meanwhile is left
// out, by begin and end alone. Then the gate's guarantee is as ever; read as if it had been drawn
// with exploration, it certifies harm.
#include "applicants.hpp"
#include "monte_carlo.hpp"
#include "rampart/domain/stopped_period.hpp"

namespace rampart::test {
namespace {

constexpr int kWorlds = 100'000, kWrongWorlds = 20'000;
constexpr size_t kApplicants = 90, kPlanApplicants = 300;
constexpr double kDelta = 0.5;

enum class Stopped { kLeftOut, kAsIfExplored, kAsLogged };

base::TimePoint day(double days) {
    return base::TimePoint::from_micros(static_cast<int64_t>(days * 86'400e6));
}

/// Applicants whom the champion approves by exploration only. The candidate is wrong about all:
/// it approves the bad more often, and the good less. `effect`: its own on those that are read.
struct HalfAYear {
    Columns columns;
    double effect = 0;

    HalfAYear(base::Random& random, size_t n, Stopped treatment) {
        const double begin = random.uniform(30, 90);
        const std::vector<domain::StoppedPeriod> stops{
            {day(begin), day(begin + 60), domain::StopKind::kExplorationOff, "anna"}};
        columns.resize(n);
        size_t at = 0;
        for (size_t i = 0; i < n; ++i) {
            const bool stopped = domain::is_stopped(stops, day(random.uniform(0, 180)));
            const bool good = random.bernoulli(0.5);
            const double s = random.uniform(0.3, 0.5), p = stopped ? 0 : s;
            const bool approved = random.bernoulli(p);
            const double mean = good ? 30 : -30;
            const double impact = random.bernoulli((mean + 150) / 225) ? 75 : -150;
            if (stopped && treatment == Stopped::kLeftOut) continue;
            columns.reference[at] = s;
            move(columns, at, good ? -1 : 1);
            columns.p[at] = treatment == Stopped::kAsIfExplored ? s : p;
            columns.approved[at] = approved ? 1 : 0;
            columns.impact[at] = impact;
            effect += (columns.candidate[at] - s) * mean;
            ++at;
        }
        columns.resize(at);
        effect /= static_cast<double>(at);
    }
};

/// Mean wealth over many worlds, in standard errors above 1, and by itself.
struct Mean {
    double mean = 0, z = 0;
};

Mean wealth(const char* name, int worlds, Stopped treatment) {
    double sum = 0, squares = 0;
    for (int w = 0; w < worlds; ++w) {
        base::Random random(base::mix64(4601) + static_cast<uint64_t>(w));
        const HalfAYear development(random, kPlanApplicants, Stopped::kLeftOut);
        const HalfAYear vault(random, kApplicants, treatment);
        auto config = lender_config();
        config.bet_cap = 0.4;
        config.margin = -vault.effect;  // exactly at the boundary
        const VectorGate gate(config);
        const VectorPlan plan = gate.plan(development.columns, vault.columns, kDelta);
        const double x = wealth_of(plan, gate.values(vault.columns, plan));
        sum += x;
        squares += x * x;
    }
    const double mean = sum / worlds;
    const double error = std::sqrt((squares / worlds - mean * mean) / (worlds - 1));
    std::printf("    %-60s %.4f ± %.4f  (%d worlds)\n", name, mean, error, worlds);
    return {mean, (mean - 1) / error};
}

TEST(Stops, TwoMonthsWithoutExplorationLeaveTheGateValidIfTheyAreLeftOut) {
    const auto right = wealth("two months are left out", kWorlds, Stopped::kLeftOut);
    EXPECT_LT(right.z, 4);
    EXPECT_GT(right.mean, 0.9) << "a wealth that only falls would prove nothing";
    const auto wrong =
        wealth("WRONG: read as if drawn with exploration", kWrongWorlds, Stopped::kAsIfExplored);
    EXPECT_GT(wrong.z, 4);
    const auto logged = wealth("read as logged: at their worst", kWrongWorlds, Stopped::kAsLogged);
    EXPECT_EQ(logged.mean, 1) << "valid, and of no use: on what could not be approved it bets "
                                 "nothing, so that a stop would cost more than its records";
}

}  // namespace
}  // namespace rampart::test
