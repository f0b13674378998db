#include "rampart/attribution/waterfall.hpp"

#include "made_up.hpp"

namespace rampart::attribution {
namespace {

using testing::group_for;
using testing::kParts;
using testing::MadeUp;
using testing::Part;

TEST(Waterfall, EndsAtThePolicysPToTheBitAndEachStepStaysInItsRegion) {
    size_t clipped = 0, free = 0;
    for (const Part part : kParts)
        for (size_t links = 1; links <= 6; ++links)
            for (uint64_t seed = 0; seed < 5; ++seed) {
                MadeUp made(1000 * links + 10 * static_cast<size_t>(part) + seed, 7);
                const auto policy = made.policy(links, part);
                const auto row = made.row();
                const auto group = group_for(policy);
                const auto steps = waterfall(policy, row, group);
                ASSERT_TRUE(steps) << steps.error().message;
                ASSERT_EQ(steps->size(), links);
                const auto output = policy.evaluate(row, group);
                EXPECT_EQ(steps->back().approve, output.approve);
                EXPECT_EQ(steps->back().exploit, output.exploit);
                EXPECT_EQ(steps->back().score, output.score);
                for (const auto& step : *steps) {
                    EXPECT_EQ(step.approve, std::clamp(step.explored, step.lo, step.hi));
                    (step.clipped() ? clipped : free) += 1;
                }
            }
    EXPECT_GT(clipped, 100u);
    EXPECT_GT(free, 100u);
}

TEST(Waterfall, ShowsRuleExplorationAndTrustRegion) {
    const auto schema = testing::schema_of(2);
    model::LearnedLink link;  // score 0.5, f = 0
    link.ramp = {0, 0, {0.5}, {1.0}};
    link.exploration = {model::ExplorationMode::kOneSided, 0.1};
    link.kappa = 0.5;
    const auto policy =
        model::Policy::create(schema, {model::BootstrapLink{"f0", {{0, 0.8}}, 0.5}, link}, {}, {})
            .value();
    const auto steps = waterfall(policy, std::vector<float>{1, 1}, {}).value();
    EXPECT_TRUE(steps[0].bootstrap);
    EXPECT_EQ(steps[0].approve, 0.8);
    const auto& second = steps[1];
    EXPECT_FALSE(second.reads_group);
    EXPECT_EQ(second.link, 2u);
    EXPECT_EQ(second.score, 0.5);
    EXPECT_EQ(second.rule, 0);
    EXPECT_EQ(second.explored, 0.1);
    EXPECT_NEAR(second.lo, 0.7, 1e-12);
    EXPECT_NEAR(second.hi, 0.9, 1e-12);
    EXPECT_TRUE(second.clipped());
    EXPECT_NEAR(second.approve, 0.7, 1e-12);
}

}  // namespace
}  // namespace rampart::attribution
