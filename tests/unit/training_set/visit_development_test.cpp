// TrainingSetBuilder::visit_development
#include <map>

#include "unit/training_set/training_set_fixture.hpp"

namespace rampart::training_set {
namespace {

TEST_F(TrainingSetTest, AVisitOfTheDevelopmentSideSeesDecisionsThatHaveNotMaturedToo) {
    const auto out = names_on(false, 4), in = names_on(true, 1);
    for (const auto& name : {out[0], out[1], in[0]}) decide(name);
    report(out[0], 0);
    report(in[0], 0);
    const domain::PersonId person("p-" + out[2]);
    apply("first", person, 20, 20);
    apply("again", person, 25, 25);
    apply("next", person, 35, 35);
    apply(out[3], domain::PersonId("p-" + out[3]), 60, 36);  // decided later than is asked for
    know(out[0], {{"sex", "female"}, {"age", "young"}});
    know(out[1], {{"sex", "male"}, {"age", "old"}}, day(1));  // known too late
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    std::map<std::string, std::pair<Row, TrainingSetBuilder::Matured>> seen;
    using Matured = TrainingSetBuilder::Matured;
    const auto visit = [&](const Row& row, Matured matured) {
        EXPECT_TRUE(seen.emplace(row.decision.value().substr(2), std::pair(row, matured)).second);
    };
    ASSERT_TRUE(build.visit_development(day(kLabelDay), day(0), day(100), visit));
    std::vector<std::string> names;
    for (const auto& [name, one] : seen) names.push_back(name);
    // not the vault's, nor what was decided later
    EXPECT_EQ(names, (std::vector<std::string>{out[0], out[1], "again", "first", "next"}));
    const auto& [row, matured] = seen.at(out[0]);
    EXPECT_EQ(matured, Matured::kAll);
    EXPECT_EQ(row.label, 0.0);
    EXPECT_EQ(row.impact, -150.0);
    EXPECT_EQ(row.groups.size(), 3u) << "of each attribute, and of both";
    EXPECT_EQ(seen.at(out[1]).second, Matured::kAll);
    EXPECT_TRUE(seen.at(out[1]).first.groups.empty());
    EXPECT_EQ(seen.at("first").second, Matured::kNothing);
    EXPECT_FALSE(seen.at("first").first.label);
    EXPECT_FALSE(seen.at("first").first.repeat);
    EXPECT_TRUE(seen.at("again").first.repeat);
    EXPECT_FALSE(seen.at("next").first.repeat);
    seen.clear();
    ASSERT_TRUE(build.visit_development(day(kLabelDay), day(20), day(35), visit));
    EXPECT_EQ(seen.size(), 2u) << "of that event time";
}

TEST_F(TrainingSetTest, AVisitKnowsADrawThatALateDecisionLiesBetween) {
    const auto out = names_on(false, 2);
    const domain::PersonId person("p-" + out[0]), other("p-" + out[1]);
    apply("first", person, 1, 1, 7);
    apply("late", other, 32, 2, 7);  // decided in a window long after the others'
    apply("again", person, 3, 3, 7);
    const auto build = builder();
    std::map<std::string, bool> repeat;
    ASSERT_TRUE(build.visit_development(day(40), day(0), day(40), [&](const Row& row, auto) {
        repeat[row.decision.value()] = row.repeat;
    }));
    EXPECT_EQ(repeat, (std::map<std::string, bool>{
                          {"d-first", false}, {"d-late", false}, {"d-again", true}}));
}

TEST_F(TrainingSetTest, AVisitSaysWhetherAReportedImpactIsStillToCome) {
    product.impact.measure = "score";
    const auto name = names_on(false, 1)[0];
    decide(name);
    report(name, 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay)));
    for (const auto& [time, expected] : {std::pair(kLabelDay, TrainingSetBuilder::Matured::kLabel),
                                         std::pair(kScoreDay, TrainingSetBuilder::Matured::kAll)})
        ASSERT_TRUE(build.visit_development(
            day(time), day(0), day(1),
            [expected = expected](const Row&, auto matured) { EXPECT_EQ(matured, expected); }));
}

TEST_F(TrainingSetTest, AVisitHandsOutMoreRowsThanItHoldsAtOnce) {
    const auto names = names_on(false, 5000);
    for (const auto& name : names) decide(name);
    const auto build = builder();
    size_t rows = 0;
    ASSERT_TRUE(build.visit_development(
        day(1), day(0), day(1), [&](const Row&, TrainingSetBuilder::Matured matured) {
            rows += matured == TrainingSetBuilder::Matured::kNothing;
        }));
    EXPECT_EQ(rows, names.size());
}

}  // namespace
}  // namespace rampart::training_set
