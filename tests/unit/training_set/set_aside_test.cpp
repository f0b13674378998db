// Decisions that the schema file does not explain.
#include <gtest/gtest.h>

#include "rampart/training_set/training_set_builder.hpp"
#include "unit/training_set/training_set_fixture.hpp"

namespace rampart::training_set {
namespace {

TEST_F(TrainingSetTest, WhatAnotherSchemaFileHasDecidedIsSetAsideAndNotMissing) {
    const auto names = names_on(false, 4);
    const auto why_aside = [&](const std::string& name, std::vector<domain::Feature> features,
                               const dataset::ServedSchema& served) {
        joiner.reset();
        log.topics["decisions"].partitions[0].clear();
        decide(name, true, 0.25, std::move(features));
        decide(names[3]);  // is read all the same
        (void)builder();
        const auto build =
            TrainingSetBuilder::create(*joiner, product, served, *store, kSalt).value();
        EXPECT_TRUE(joiner->advance(day(kScoreDay)));
        const auto set = build.development_rows(day(kScoreDay)).value();
        const auto sample = build.development_sample(day(kScoreDay), {.max_rows = 1}).value();
        const auto latest = build.applicants(day(0), day(kScoreDay)).value();
        EXPECT_EQ(set.rows.size(), 2 - set.unexplained.decisions);
        EXPECT_EQ(set.extent.there, set.rows.size());
        EXPECT_EQ(set.features.size(), set.rows.size() * 2);
        EXPECT_EQ(latest.persons.size(), set.rows.size());
        EXPECT_EQ(latest.features.size(), set.features.size());
        EXPECT_EQ(latest.unexplained.why, set.unexplained.why);
        EXPECT_EQ(sample.unexplained.decisions, set.unexplained.decisions);
        EXPECT_EQ(sample.extent.there, set.rows.size());
        EXPECT_TRUE(set.omitted.empty());
        return set.unexplained.why;
    };
    const domain::Feature job{"job", std::string("cook")};
    const auto of = [](std::optional<dataset::FeatureValue> absent) {
        std::vector<dataset::FeatureTerms> terms(2);
        terms[0].absent = std::move(absent);
        return dataset::ServedSchema::create(schema(), std::move(terms)).value();
    };
    // another node has the later file, in which "income" is called "pay"
    const auto renamed = why_aside(names[0], {{"pay", 20.0}, job}, of({}));
    EXPECT_NE(renamed.find("it has feature 'pay', which the schema file of this node does not "
                           "have"),
              std::string::npos)
        << renamed;
    EXPECT_NE(renamed.find("Give this node the same file"), std::string::npos);
    EXPECT_EQ(renamed.find("d-" + names[0]), std::string::npos) << "which one is not said";
    EXPECT_NE(why_aside(names[0], {{"pay", 20.0}, job}, of(5.0)), "")
        << "nor does it count as the default";
    // there it has a default, and here none
    const auto left_out = why_aside(names[1], {job}, of({}));
    EXPECT_NE(left_out.find("it lacks feature 'income'"), std::string::npos) << left_out;
    EXPECT_EQ(why_aside(names[1], {job}, of(5.0)), "");
    EXPECT_EQ(why_aside(names[2], {{"income", std::monostate()}, job}, of({})), "") << "said so";
    // put right: all are rows
    const std::vector<dataset::FeatureTerms> terms{{{}, {"income"}, false, day(1000)}, {}};
    auto specs = schema().features();
    specs[0].name = "pay";
    const auto served =
        dataset::ServedSchema::create(dataset::FeatureSchema::create(specs).value(), terms).value();
    EXPECT_EQ(why_aside(names[0], {{"pay", 20.0}, job}, served), "");
}

/// Where all are of one side, a certificate's number shows it: none of them may be named.
TEST_F(TrainingSetTest, WhatIsSetAsideIsCountedWithoutItsSideAndNotNamed) {
    const auto in = names_on(true, 2), out = names_on(false, 2);
    const std::vector<domain::Feature> other{{"pay", 20.0}};
    for (const auto& name : {in[0], out[0]}) decide(name, true, 0.25, other);
    for (const auto& name : {in[1], out[1]}) decide(name);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay)));
    const auto development = build.development_rows(day(kScoreDay)).value();
    const auto vault = build.vault_rows(day(kScoreDay)).value();
    const auto latest = build.applicants(day(0), day(kScoreDay)).value();
    for (const auto* one : {&development.unexplained, &vault.unexplained, &latest.unexplained}) {
        EXPECT_EQ(one->decisions, 2u);
        EXPECT_EQ(one->why, latest.unexplained.why);
        for (const auto& name : {in[0], out[0]})
            EXPECT_EQ(one->why.find("-" + name), std::string::npos) << one->why;
    }
    ASSERT_EQ(development.set_aside.size(), 1u);
    EXPECT_EQ(development.set_aside[0].person.value(), "p-" + out[0]);
    ASSERT_EQ(vault.set_aside.size(), 1u);
    EXPECT_EQ(vault.set_aside[0].person.value(), "p-" + in[0]);
    EXPECT_EQ(development.rows.size() + vault.rows.size(), 2u);
}

TEST_F(TrainingSetTest, AfterADecisionThatIsSetAsideAPersonsNextOneIsALaterOne) {
    for (const bool vault : {false, true}) {
        const domain::PersonId person("p-" + names_on(vault, 1)[0]);
        auto other = support::make_decision(vault ? "vault" : "development", day(0));
        other.application.person = person;
        other.application.features = {{"of another file", 10.0}};
        const auto record = support::to_record(other);
        ASSERT_TRUE(log.append("decisions", std::span(&record, 1)));
        apply(vault ? "later-vault" : "later", person, 40, 40);
    }
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay + 50)));
    const auto ordinals = [&](const auto& set) {
        std::vector<uint32_t> found;
        for (const auto& row : set.rows) found.push_back(row.ordinal);
        return found;
    };
    const std::vector<uint32_t> later{1};
    EXPECT_EQ(ordinals(build.development_rows(day(kScoreDay + 50)).value()), later);
    EXPECT_EQ(ordinals(build.vault_rows(day(kScoreDay + 50)).value()), later);
}

TEST_F(TrainingSetTest, WhatIsSetAsideOfTheVaultIsCountedAmongItsDecisionsInItsGroups) {
    const auto names = names_on(true, 3);
    for (const auto& name : names) know(name, {{"sex", "female"}, {"age", "old"}});
    decide(names[0], true, 0.25, {{"pay", 20.0}, {"job", std::string("cook")}});
    decide(names[1]);
    decide(names[2]);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay)));
    const auto set = build.vault_rows(day(kScoreDay)).value();
    EXPECT_EQ(set.rows.size(), 2u);
    EXPECT_EQ(set.known, 3u);
    EXPECT_EQ(set.unexplained.decisions, 1u);
    EXPECT_TRUE(set.omitted.empty());
    ASSERT_EQ(set.set_aside.size(), 1u);
    EXPECT_EQ(to_string(Omission::kOtherSchema), "other_schema");
    EXPECT_EQ(set.set_aside[0].groups, set.rows[0].groups);
    EXPECT_FALSE(set.set_aside[0].later);
    EXPECT_FALSE(set.rows[0].groups.empty());
}

}  // namespace
}  // namespace rampart::training_set
