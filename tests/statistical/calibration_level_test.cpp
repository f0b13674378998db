// The test of the logged probabilities is repeated at every run, for each logger and each group, on
// records that grow. Over an epoch it may refuse honest logs at most at its level.
#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

constexpr unsigned kLooks = 12, kMonths = 24;
constexpr size_t kRecords = 900;  // records of the last look
constexpr double kOldBound = 3.29;

/// Four policies, one after the other, decide about people of four groups, some of them almost with
/// certainty. `shift`: the last policy draws with a probability higher by this than it logs.
ope::LoggedFeedback log_of(base::Random& random, size_t records, const std::string& prefix,
                           double shift) {
    ope::LoggedFeedback f;
    f.decisions.logger_ids = {"first", "second", "third", "fourth"};
    f.decisions.groups = {{"a", {}}, {"b", {}}, {"c", {}}, {"d", {}}};
    for (size_t i = 0; i < records; ++i) {
        const auto logger = static_cast<uint32_t>(4 * i / records);
        const double p = random.uniform(0.05, 0.8), up = logger == 3 ? shift : 0;
        const bool approved = random.bernoulli(p + up);
        auto& d = f.decisions;
        d.record_id.push_back(fmt::format("{}d{:05}", prefix, i));
        d.unit_id.push_back(fmt::format("{}p{:05}", prefix, i));
        d.p_approve.push_back(p);
        d.approved.push_back(approved);
        d.has_impact.push_back(approved);
        d.candidate.push_back(p + 0.2 * std::min(p, 1 - p));
        d.reference.push_back(p);
        d.logger.push_back(logger);
        d.groups[random.below(4)].records.push_back(static_cast<uint32_t>(i));
        f.impact.push_back(approved ? (random.bernoulli(0.7) ? 75.0 : -150.0)
                                    : std::numeric_limits<double>::quiet_NaN());
    }
    return f;
}

/// The beginning of a log, for a gate that looks early.
ope::LoggedDecisions beginning(const ope::LoggedDecisions& all, size_t records) {
    ope::LoggedDecisions d = all;
    for (auto* part : {&d.record_id, &d.unit_id}) part->resize(records);
    for (auto* part : {&d.p_approve, &d.candidate, &d.reference}) part->resize(records);
    d.approved.resize(records);
    d.has_impact.resize(records);
    d.logger.resize(records);
    d.logger_ids.resize(d.logger.back() + 1);
    for (auto& group : d.groups) {
        std::erase_if(group.records, [&](uint32_t i) { return i >= records; });
    }
    return d;
}

bool beyond(const certification::RunPlan& plan, double bound) {
    bool any = std::abs(plan.calibration_z) > bound || plan.decile_z > bound;
    for (const double z : plan.logger_calibration) any = any || std::abs(z) > bound;
    for (const double z : plan.logger_decile_z) any = any || z > bound;
    for (const auto& g : plan.groups) {
        any = any || std::abs(g.weights.calibration_z) > bound || g.weights.decile_z > bound;
    }
    return any;
}

struct Alarms {
    bool by_level = false, by_old_bound = false;
};

/// An epoch of looks at a log that grows.
Alarms epoch_of_looks(base::Random& random, double shift, unsigned looks = kLooks,
                      unsigned records_per_person = 0) {
    auto config = lender_config();
    config.min_units = 2;
    config.records_per_person = records_per_person;
    const auto ledger = ledger_for(config);
    const auto selection = log_of(random, 300, "c", 0);
    const auto vault = log_of(random, kRecords, "v", shift);
    Alarms alarms;
    for (unsigned look = 1; look <= looks; ++look) {
        const auto known = beginning(vault.decisions, kRecords * look / looks);
        const auto checked = certification::precheck(
            {config, lender_identity(), ledger, kPseudonymKey, selection}, known);
        EXPECT_TRUE(checked) << checked.error().message;
        if (!checked->prepared) {
            EXPECT_EQ(checked->result.reason, "propensities_do_not_fit");
        }
        alarms.by_level = alarms.by_level || !checked->prepared;
        alarms.by_old_bound = alarms.by_old_bound || !checked->prepared ||
                              beyond(checked->prepared->plan(), kOldBound);
    }
    return alarms;
}

TEST(CalibrationLevel, HonestLogsAlarmInAtMostItsShareOfEpochsAndAWrongLogStillDoes) {
    constexpr int kEpochs = 600, kWrong = 60;
    int old_alarms = 0;
    const double honest =
        rate_of("honest logs, level 0.01", kEpochs, 71, [&](base::Random& random) {
            const Alarms alarms = epoch_of_looks(random, 0);
            old_alarms += alarms.by_old_bound;
            return alarms.by_level;
        });
    const double old = static_cast<double>(old_alarms) / kEpochs;
    std::printf("    %-60s %.4f\n", "WRONG: |z| above 3.29 at each look", old);
    EXPECT_LE(honest, at_most(lender_config().calibration_level, kEpochs));
    EXPECT_GT(old, at_most(lender_config().calibration_level, kEpochs));
    const double found =
        rate_of("a policy that approves 20 points more often than it logs", kWrong, 72,
                [](base::Random& random) { return epoch_of_looks(random, 0.2).by_level; });
    EXPECT_GT(found, 0.9);
}

TEST(CalibrationLevel, BetsAlarmInAtMostItsShareOfEpochsHoweverOftenTheyAreLookedAt) {
    constexpr int kEpochs = 600, kWrong = 60;
    const double honest = rate_of(
        "honest logs, bets at level 0.01", kEpochs, 73,
        [](base::Random& random) { return epoch_of_looks(random, 0, kMonths, 1).by_level; });
    EXPECT_LE(honest, at_most(lender_config().calibration_level, kEpochs));
    const double found = rate_of(
        "bets, a policy that approves 20 points more often than it logs", kWrong, 74,
        [](base::Random& random) { return epoch_of_looks(random, 0.2, kMonths, 1).by_level; });
    EXPECT_GT(found, 0.9);
}

}  // namespace
}  // namespace rampart::test
