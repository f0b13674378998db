// A challenger decides about a share of the people at the same time as the champion. Each record is
// weighted by the probability of its own arm's policy; then the gate's guarantee is as ever.
#include "applicants.hpp"
#include "monte_carlo.hpp"
#include "rampart/decision/arm.hpp"

namespace rampart::test {
namespace {

constexpr int kWorlds = 100'000, kWrongWorlds = 20'000;
constexpr size_t kRecords = 60, kPlanRecords = 200;
constexpr double kDelta = 0.5;

enum class Logged { kOfTheArm, kOfTheChampion };

/// What the challenger adds to the champion's P(approve), for applicants of two kinds.
struct Challenger {
    double good = 0.3, bad = -0.3;
};

/// Arms of many persons in an assignment of halves, drawn once.
const std::vector<uint8_t>& arms() {
    static const std::vector<uint8_t> drawn = [] {
        const decision::ArmKey key{"arm", "an arm secret"};
        const domain::Assignment halves{
            "month", {}, {{domain::PolicyId("a"), 0.5}, {domain::PolicyId("b"), 0.5}}};
        std::vector<uint8_t> out;
        for (int i = 0; i < 100'000; ++i) {
            const domain::PersonId person(fmt::format("p{}", i));
            out.push_back(decision::arm_for(key, halves, person).number == 1 ? 1 : 0);
        }
        return out;
    }();
    return drawn;
}

/// Applicants in a month of two arms. The champion is the reference; the challenger knows the good
/// from the bad; the candidate approves all persons more often than the champion.
struct Month {
    Columns columns;
    std::vector<uint32_t> arm;
    double effect = 0;  // the candidate's on these persons, per record

    Month(base::Random& random, size_t n, Logged logged, const Challenger& challenger = {}) {
        const size_t first = random.below(arms().size() - n);
        columns.resize(n);
        for (size_t i = 0; i < n; ++i) {
            const bool good = random.bernoulli(0.5);
            const double s = random.uniform(0.4, 0.6);
            arm.push_back(arms()[first + i]);
            const double p = arm[i] == 0 ? s : s + (good ? challenger.good : challenger.bad);
            columns.reference[i] = s;
            move(columns, i, 1);
            columns.p[i] = logged == Logged::kOfTheArm ? p : s;
            columns.approved[i] = random.bernoulli(p) ? 1 : 0;
            const double mean = good ? 30 : -30;
            columns.impact[i] = random.bernoulli((mean + 150) / 225) ? 75 : -150;
            effect += (columns.candidate[i] - s) * mean / static_cast<double>(n);
        }
    }
};

/// Mean wealth over many worlds, in standard errors above 1, and by itself.
struct Mean {
    double mean = 0, z = 0;
};

Mean wealth_with_challengers(const char* name, int worlds, Logged logged) {
    double sum = 0, squares = 0;
    for (int w = 0; w < worlds; ++w) {
        base::Random random(base::mix64(91) + static_cast<uint64_t>(w));
        const Month development(random, kPlanRecords, logged), vault(random, kRecords, logged);
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

TEST(Challengers, AMonthOfThemLeavesTheGateValidAtTheProbabilityOfEachArm) {
    const auto right = wealth_with_challengers("half by a challenger", kWorlds, Logged::kOfTheArm);
    EXPECT_LT(right.z, 4);
    EXPECT_GT(right.mean, 0.9) << "a wealth that only falls would prove nothing";
    const auto wrong = wealth_with_challengers("WRONG: the champion's probabilities", kWrongWorlds,
                                               Logged::kOfTheChampion);
    EXPECT_GT(wrong.z, 4);
}

/// A log of two arms at the same time, for the gate itself. The alarm knows no kinds: a challenger
/// that approves as many, but others, would not be found by it.
ope::LoggedFeedback log_of(base::Random& random, size_t n, const std::string& prefix,
                           Logged logged) {
    const Month month(random, n, logged, {.good = 0.35, .bad = 0});
    ope::LoggedFeedback f;
    auto& d = f.decisions;
    d.logger_ids = {"champion", "challenger"};
    d.groups = {{"a", {}}, {"b", {}}};
    for (size_t i = 0; i < n; ++i) {
        const bool approved = month.columns.approved[i] != 0;
        d.record_id.push_back(fmt::format("{}d{:05}", prefix, i));
        d.unit_id.push_back(fmt::format("{}p{:05}", prefix, i));
        d.p_approve.push_back(month.columns.p[i]);
        d.approved.push_back(approved);
        d.has_impact.push_back(approved);
        d.candidate.push_back(month.columns.candidate[i]);
        d.reference.push_back(month.columns.reference[i]);
        d.logger.push_back(month.arm[i]);
        d.groups[i % 2].records.push_back(static_cast<uint32_t>(i));
        f.impact.push_back(approved ? month.columns.impact[i]
                                    : std::numeric_limits<double>::quiet_NaN());
    }
    return f;
}

/// Returns the reason of the gate's refusal; empty: it would test.
std::string refusal(base::Random& random, Logged logged) {
    auto config = lender_config();
    config.records_per_person = 1;
    const auto ledger = ledger_for(config);
    const auto selection = log_of(random, 600, "c", logged);
    const auto vault = log_of(random, 1500, "v", logged);
    const auto checked = certification::precheck(
        {config, lender_identity(), ledger, kPseudonymKey, selection}, vault.decisions);
    EXPECT_TRUE(checked) << checked.error().message;
    return checked->prepared ? "" : checked->result.reason;
}

TEST(Challengers, TheAlarmFindsProbabilitiesOfTheChampionInRecordsOfTheChallenger) {
    constexpr int kEpochs = 200, kWrong = 40;
    const auto alarms = [](Logged logged) {
        return [logged](base::Random& random) {
            return refusal(random, logged) == "propensities_do_not_fit";
        };
    };
    const double honest =
        rate_of("two arms, logged as drawn", kEpochs, 92, alarms(Logged::kOfTheArm));
    EXPECT_LE(honest, at_most(lender_config().calibration_level, kEpochs));
    const double found =
        rate_of("WRONG: the champion's probabilities", kWrong, 93, alarms(Logged::kOfTheChampion));
    EXPECT_GT(found, 0.9);
}

}  // namespace
}  // namespace rampart::test
