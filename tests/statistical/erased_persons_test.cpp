// People whose loan went badly erase themselves more often. The gate that counts only who is left
// certifies harm; the one that counts the erased at the worst does not, and has its power where
// few are erased.
#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

constexpr double kDelta = 0.1;
constexpr int kRepetitions = 300;

/// Persons of one group, half approved, of whom a share repays. The candidate approves more of
/// them. Of those who do not repay a share is erased, and of the others a smaller one.
struct Erasing {
    double repays = 0.66;  // 0.66 * 75 - 0.34 * 150 = -1.5: to approve more is harm
    double defaulters = 0.5, others = 0;

    /// Returns the log of who is left; `counted`: with the number of the erased.
    ope::LoggedFeedback log(base::Random& random, size_t persons, const std::string& prefix,
                            bool counted) const {
        ope::LoggedFeedback f;
        size_t erased = 0;
        for (size_t i = 0; i < persons; ++i) {
            const bool approved = random.bernoulli(0.5), repaid = random.bernoulli(repays);
            if (random.bernoulli(approved && !repaid ? defaulters : others)) {
                ++erased;
                continue;
            }
            add(f,
                {.candidate = i % 8 == 0 ? 0.5 : 0.6,
                 .approved = approved,
                 .impact = repaid ? 75.0 : -150.0,
                 .person = i},
                prefix);
        }
        if (counted && erased > 0) f.decisions.erased = {erased, {erased}};
        return f;
    }
};

double certified_rate(const std::string& name, const Erasing& world, bool counted,
                      double max_missing_rate) {
    auto config = lender_config();
    config.delta_epoch = kDelta;
    config.records_per_person = 1;
    config.max_missing_rate = max_missing_rate;  // 1: the count alone has to hold
    config.calibration_level = 1e-9;  // approvals that vanish would raise this alarm, too
    return rate_of(name, kRepetitions, 23, [&](base::Random& random) {
        const auto selection = world.log(random, 1500, "c", false);
        return certified(config, selection, world.log(random, 1500, "v", counted));
    });
}

TEST(ErasedPersons, DefaultersWhoEraseThemselvesDoNotMakeHarmLookGood) {
    const Erasing half;
    EXPECT_LE(certified_rate("half of the defaulters erased, counted", half, true, 1),
              at_most(kDelta, kRepetitions));
    EXPECT_GT(certified_rate("WRONG: half of the defaulters erased, not counted", half, false, 1),
              0.3);
    // close to the boundary: so few are erased that all bounds are in reach
    const Erasing few{.repays = 0.663, .defaulters = 0.06};
    EXPECT_LE(certified_rate("some defaulters erased, counted", few, true, 1),
              at_most(kDelta, kRepetitions));
}

TEST(ErasedPersons, WhereFewAreErasedForWhateverReasonAGainIsCertified) {
    const Erasing good{.repays = 0.85, .defaulters = 0.004, .others = 0.004};
    const double without = certified_rate("a gain, 0.4 % erased, not counted", good, false, 0.02);
    const double with = certified_rate("a gain, 0.4 % erased, counted", good, true, 0.02);
    EXPECT_GT(with, 0.8);
    EXPECT_GT(with, without - 0.2);
}

}  // namespace
}  // namespace rampart::test
