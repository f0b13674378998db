#include "rampart/training_set/training_set_builder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <type_traits>

#include "rampart/decision/encode.hpp"
#include "rampart/wire/record_codec.hpp"
#include "unit/training_set/training_set_fixture.hpp"

namespace rampart::training_set {
namespace {

static_assert(!std::is_convertible_v<VaultSet, DevelopmentSet>);
static_assert(!std::is_constructible_v<DevelopmentSet, VaultSet>);
static_assert(!std::is_invocable_v<decltype(to_dataset), VaultSet, DatasetOptions>);

TEST_F(TrainingSetTest, APersonIsOnOneSideForEverInTheShareOfTheVault) {
    size_t vault = 0;
    for (int i = 0; i < 10'000; ++i)
        vault += in_vault(kSalt, domain::PersonId(fmt::format("{}", i))) ? 1u : 0u;
    EXPECT_NEAR(static_cast<double>(vault) / 10'000, kVaultShare, 0.02);
    EXPECT_EQ(in_vault(kSalt, domain::PersonId("p")), base::keyed_uniform(kSalt, "p") >= 0.6);
    const auto fixed = {std::pair{"alice", true}, {"bob", false}, {"carol", false}, {"eve", true}};
    for (const auto& [person, side] : fixed)
        EXPECT_EQ(in_vault("salt", domain::PersonId(person)), side) << person;
}

TEST_F(TrainingSetTest, WhatOldApplicationsLackCountsAsTheSchemaSays) {
    const auto names = names_on(false, 2);
    decide(names[0]);
    decide(names[1], true, 0.25, {{"pay", 20.0}, {"tenure", 7.0}, {"job", std::string("nurse")}});
    report(names[0], 1);
    report(names[1], 0);
    auto specs = schema().features();
    specs[0].name = "pay";
    specs.push_back({"tenure", dataset::FeatureKind::kNumeric, {}});
    specs.push_back({"town", dataset::FeatureKind::kCategorical, {"a", "b"}});
    std::vector<dataset::FeatureTerms> terms(specs.size());
    const auto until = day(1000);
    terms[0] = {{}, {"income"}, false, until};
    terms[1] = {std::monostate(), {}, true, until};
    terms[2].absent = 12.0;
    terms[3].absent = std::string("b");
    const auto served =
        dataset::ServedSchema::create(dataset::FeatureSchema::create(std::move(specs)).value(),
                                      std::move(terms))
            .value();
    (void)builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay)));
    const auto build = TrainingSetBuilder::create(*joiner, product, served, *store, kSalt).value();
    const auto set = build.development_rows(day(kScoreDay)).value();
    ASSERT_EQ(set.rows.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        const bool first = set.rows[i].person.value() == "p-" + names[0];
        const auto row = set.features_of(i);
        EXPECT_EQ(row[0], first ? 10.0f : 20.0f);
        EXPECT_EQ(row[1], first ? 1.0f : 0.0f) << "policies of before read it";
        EXPECT_EQ(row[2], first ? 12.0f : 7.0f);
        EXPECT_EQ(row[3], 1.0f);
        EXPECT_TRUE(std::isnan(set.learnt(i, 1)));
        EXPECT_EQ(set.learnt(i, 0), row[0]);
    }
    const auto table = to_dataset(set).value();
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(std::isnan(table.data.columns[1][i])) << "nothing is learnt from it";
        EXPECT_FALSE(std::isnan(table.data.columns[2][i]));
    }
}

TEST_F(TrainingSetTest, GroupsAreThoseThatWereKnownWhenTheDecisionWasMade) {
    for (const char* name : {"early", "late", "changed", "unknown"}) decide(name);
    know("early", {{"sex", "male"}, {"age", "young"}});
    know("late", {{"sex", "male"}, {"age", "young"}}, day(1));
    know("changed", {{"sex", "male"}, {"age", "young"}});
    know("changed", {{"sex", "female"}, {"age", "young"}}, day(1));
    for (const auto rule : {LateAttributes::kMissing, LateAttributes::kAssumed}) {
        const auto build = builder(rule);
        ASSERT_TRUE(joiner->advance(day(kLabelDay)));
        const auto development = build.development_rows(day(kLabelDay)).value();
        const auto vault = build.vault_rows(day(kLabelDay)).value();
        EXPECT_EQ(development.late + vault.late, 2u);
        std::map<std::string, std::vector<uint32_t>> groups;
        for (const auto& row : development.rows) groups[row.person.value()] = row.groups;
        for (const auto& row : vault.rows) groups[row.person.value()] = row.groups;
        const auto& names = store->catalog().groups();
        const auto in_group = [&](const char* person, std::string_view group) {
            const auto& of = groups.at(person);
            return std::any_of(of.begin(), of.end(),
                               [&](uint32_t one) { return names[one] == group; });
        };
        const bool assumed = rule == LateAttributes::kAssumed;
        EXPECT_TRUE(in_group("p-early", "sex=male"));
        EXPECT_EQ(in_group("p-late", "sex=male"), assumed);
        EXPECT_EQ(in_group("p-changed", "sex=male"), !assumed);
        EXPECT_EQ(in_group("p-changed", "sex=female"), assumed);
        EXPECT_TRUE(groups.at("p-unknown").empty());
    }
}

TEST(Rows, AreNumberedByPersonInTheOrderOfTheServicesClock) {
    const auto row = [](const char* person, const char* decision, int64_t decided, int64_t event) {
        Row made;
        made.person = domain::PersonId(person);
        made.decision = domain::DecisionId(decision);
        made.decided_at = base::TimePoint::from_micros(decided);
        made.event_time = base::TimePoint::from_micros(event);
        return made;
    };
    std::vector rows{row("a", "4", 9, 1), row("b", "1", 3, 2), row("a", "3", 5, 3),
                     row("a", "2", 5, 4)};
    number_records(rows);
    EXPECT_EQ(rows[0].ordinal, 2u) << "an early event time is the client's word";
    EXPECT_EQ(rows[1].ordinal, 0u);
    EXPECT_EQ(rows[2].ordinal, 1u);
    EXPECT_EQ(rows[3].ordinal, 0u) << "of equal times the lower id";
    const auto aside = [](const char* person, const char* decision, int64_t decided) {
        const auto at = base::TimePoint::from_micros(decided);
        return SetAside{domain::PersonId(person), domain::DecisionId(decision), at, at, {}, false};
    };
    std::vector set_aside{aside("a", "6", 8), aside("a", "5", 7), aside("b", "2", 3),
                          aside("c", "8", 2), aside("c", "7", 2)};
    number_records(rows, set_aside);
    EXPECT_EQ(rows[0].ordinal, 3u) << "one more, however many were set aside";
    EXPECT_EQ(rows[1].ordinal, 0u) << "that one is later";
    EXPECT_EQ(rows[2].ordinal, 1u);
    EXPECT_EQ(rows[3].ordinal, 0u);
    const auto later = [&] {
        std::vector<bool> found;
        for (const auto& one : set_aside) found.push_back(one.later);
        return found;
    };
    EXPECT_EQ(later(), (std::vector{true, true, true, true, false}));
    rows[1].repeat = true;  // no record of b is left but the one that was set aside
    std::erase_if(rows, [](const Row& one) { return one.person.value() == "a"; });
    number_records(rows, set_aside);
    EXPECT_EQ(later(), (std::vector{true, false, false, true, false}))
        << "one of each person, which is the first";
}

Row windowed(const char* person, const char* decision, int64_t decided,
             std::optional<domain::DrawWindow> window) {
    Row made;
    made.person = domain::PersonId(person);
    made.decision = domain::DecisionId(decision);
    made.decided_at = base::TimePoint::from_micros(decided);
    made.window = std::move(window);
    return made;
}

TEST(Rows, OfAPersonAndAWindowAllButTheFirstAreRepeats) {
    const domain::DrawWindow window{"loan", 30, 5};
    std::vector rows{windowed("a", "3", 9, window),
                     windowed("a", "1", 9, window),
                     windowed("a", "2", 12, {{"loan", 30, 6}}),
                     windowed("a", "4", 12, {{"card", 30, 5}}),
                     windowed("a", "5", 12, {{"loan", 31, 5}}),
                     windowed("b", "6", 12, window),
                     windowed("a", "7", 12, {}),
                     windowed("a", "8", 12, {})};
    EXPECT_EQ(number_records(rows), 1u);
    std::vector<bool> repeats;
    std::vector<uint32_t> ordinals;
    for (const auto& row : rows) {
        repeats.push_back(row.repeat);
        ordinals.push_back(row.ordinal);
    }
    EXPECT_EQ(repeats, (std::vector{true, false, false, false, false, false, false, false}))
        << "another window, product, cool-off or person, and none, are draws of their own";
    EXPECT_EQ(ordinals, (std::vector<uint32_t>{1, 0, 1, 2, 3, 0, 4, 5}));
}

TEST(Rows, ARepeatStaysOneWithoutItsFirstAndIsNotCounted) {
    const domain::DrawWindow window{"loan", 30, 5};
    std::vector rows{windowed("a", "1", 1, window), windowed("a", "2", 2, window),
                     windowed("a", "3", 3, window), windowed("a", "4", 4, {{"loan", 30, 6}})};
    EXPECT_EQ(number_records(rows), 2u);
    rows.erase(rows.begin());
    EXPECT_EQ(number_records(rows), 2u);
    EXPECT_TRUE(rows[0].repeat && rows[1].repeat && !rows[2].repeat);
    EXPECT_EQ(rows[2].ordinal, 0u);
}

TEST_F(TrainingSetTest, ARepeatIsOneAlsoWhereItsFirstIsNotInTheSet) {
    const auto name = names_on(false, 1)[0];
    const domain::PersonId person("p-" + name);
    apply("first", person, 0, 0);
    apply("again", person, 5, 0);
    apply("dated-back", person, 6, -20);
    apply("next-window", person, 33, -20);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto repeats_at = [&](int64_t at, std::optional<base::TimePoint> from) {
        const auto set = build.development_rows(day(at), from).value();
        std::set<std::string> repeats;
        for (const auto& row : set.rows) {
            if (row.repeat) repeats.insert(row.decision.value());
        }
        EXPECT_EQ(set.repeats, repeats.size());
        const auto sample = build.development_sample(day(at), {.from = from, .max_rows = 4});
        EXPECT_EQ(sample->repeats, repeats.size());
        return repeats;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(repeats_at(kLabelDay, {}), (Names{"d-again", "d-dated-back"}));
    ASSERT_EQ(build.development_rows(day(kLabelDay - 20))->rows.size(), 2u);
    EXPECT_EQ(repeats_at(kLabelDay - 20, {}), Names{"d-dated-back"}) << "the first is to mature";
    EXPECT_EQ(repeats_at(kLabelDay, day(0)), Names{"d-again"});
}

TEST_F(TrainingSetTest, ARepeatIsOneAlsoWhereItsFirstIsSetAside) {
    const auto name = names_on(false, 1)[0];
    const domain::PersonId person("p-" + name);
    auto other = support::make_decision("first", day(0));
    other.application.person = person;
    other.application.features = {{"of another file", 10.0}};
    other.draw_window = {"loan", 30, domain::window_number(day(0), 30, {})};
    const auto record = support::to_record(other);
    ASSERT_TRUE(log.append("decisions", std::span(&record, 1)));
    apply("again", person, 3, 3);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay + 3)));
    const auto set = build.development_rows(day(kLabelDay + 3)).value();
    EXPECT_EQ(set.unexplained.decisions, 1u);
    ASSERT_EQ(set.rows.size(), 1u);
    EXPECT_TRUE(set.rows[0].repeat);
}

TEST_F(TrainingSetTest, ARepeatIsOneAlsoWhereItsFirstLiesBeforeTheBeginOfTheSet) {
    const auto name = names_on(false, 1)[0];
    const domain::PersonId person("p-" + name);
    apply("first", person, 0, 0);
    apply("again", person, 3, 3);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay + 3)));
    const auto set = build.development_rows(day(kLabelDay + 3), day(1)).value();
    ASSERT_EQ(set.rows.size(), 1u);
    EXPECT_TRUE(set.rows[0].repeat);
    EXPECT_EQ(set.rows[0].ordinal, 0u);
}

TEST_F(TrainingSetTest, WithoutWindowsNothingIsARepeatAndTheDigestIsAsEver) {
    const auto name = names_on(false, 1)[0];
    const domain::PersonId person("p-" + name);
    apply("first", person, 0, 0, std::nullopt);
    apply("again", person, 1, 0, std::nullopt);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.development_rows(day(kLabelDay)).value();
    ASSERT_EQ(set.rows.size(), 2u);
    EXPECT_EQ(set.repeats, 0u);
    EXPECT_EQ(set.rows[1].ordinal + set.rows[0].ordinal, 1u);
    EXPECT_EQ(set.rows[0].window, std::nullopt);
}

TEST_F(TrainingSetTest, EveryMaturedDecisionIsOnExactlyOneSideWithItsPerson) {
    for (int i = 0; i < 40; ++i) decide(fmt::format("{}", i));
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto development = build.development_rows(day(kLabelDay)).value();
    const auto vault = build.vault_rows(day(kLabelDay)).value();
    EXPECT_EQ(development.rows.size() + vault.rows.size(), 40u);
    EXPECT_GT(vault.rows.size(), 5u);
    for (const auto& row : development.rows) EXPECT_FALSE(in_vault(kSalt, row.person));
    for (const auto& row : vault.rows) EXPECT_TRUE(in_vault(kSalt, row.person));
    EXPECT_TRUE(build.development_rows(day(kLabelDay - 1))->rows.empty());
    EXPECT_EQ(build.development_rows(day(kLabelDay), day(0))->digest, development.digest);
    EXPECT_TRUE(build.development_rows(day(kLabelDay), day(1))->rows.empty());
    EXPECT_NE(development.digest, vault.digest);
}

TEST_F(TrainingSetTest, ARowHoldsWhatWasLoggedAndWhatBecameOfIt) {
    const auto names = names_on(false, 3);
    decide(names[0], true, 0.25);
    decide(names[1], true, 0.5);
    decide(names[2], false, 0.75);
    report(names[0], 1);
    report(names[1], 0);
    know(names[0], {{"sex", "male"}, {"age", "young"}});
    know(names[1], {{"sex", "female"}});
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.development_rows(day(kLabelDay)).value();
    ASSERT_EQ(set.rows.size(), 3u);
    std::map<std::string, Row> rows;
    for (const auto& row : set.rows) rows.emplace(row.decision.value().substr(2), row);
    const Row& good = rows.at(names[0]);
    EXPECT_EQ(good.person.value(), "p-" + names[0]);
    EXPECT_EQ(good.event_time, day(0));
    EXPECT_EQ(good.p_approve, 0.25);
    EXPECT_TRUE(good.approved);
    EXPECT_EQ(good.label, 1.0);
    EXPECT_EQ(good.impact, 75.0);
    EXPECT_EQ(good.cell, 2u);
    EXPECT_EQ(good.groups, (std::vector<uint32_t>{1, 2, 6}));
    EXPECT_EQ(rows.at(names[1]).impact, -150.0);
    EXPECT_EQ(rows.at(names[1]).cell, std::nullopt);
    EXPECT_EQ(rows.at(names[1]).groups, (std::vector<uint32_t>{0}));
    const Row& declined = rows.at(names[2]);
    EXPECT_FALSE(declined.approved);
    EXPECT_EQ(declined.p_approve, 0.75);
    EXPECT_EQ(declined.label, std::nullopt);
    EXPECT_EQ(declined.impact, std::nullopt);
    EXPECT_EQ(set.without_attributes, 2u);
    EXPECT_EQ(set.cell_names.at(2), "sex=male,age=young");
    EXPECT_EQ(set.group_names.at(6), "sex=male,age=young");
}

TEST_F(TrainingSetTest, ApplicantsOfAPeriodAreEverybodyWithFeaturesAlone) {
    for (int i = 0; i < 40; ++i) decide(fmt::format("{}", i));
    const auto build = builder();  // nothing has matured, no clock was ever set
    const auto set = build.applicants(day(0), day(1)).value();
    ASSERT_EQ(set.persons.size(), 40u);
    ASSERT_EQ(set.features.size(), 80u);
    EXPECT_EQ(set.features[0], 10.0f);
    EXPECT_EQ(set.features[1], 1.0f);
    EXPECT_EQ(set.schema.digest(), schema().digest());
    EXPECT_TRUE(build.applicants(day(1), day(2))->persons.empty());
    EXPECT_TRUE(build.applicants(day(-1), day(0))->persons.empty());
}

TEST_F(TrainingSetTest, FeaturesAreEncodedAsForServing) {
    const auto names = names_on(false, 3);
    decide(names[0]);
    decide(names[1], true, 0.5, {{"job", std::string("nurse")}, {"income", std::monostate()}});
    decide(names[2], true, 0.5, {{"income", std::monostate()}, {"job", std::string("pilot")}});
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.development_rows(day(kLabelDay)).value();
    ASSERT_EQ(set.rows.size(), 3u);
    ASSERT_EQ(set.features.size(), 6u);
    for (size_t i = 0; i < 3; ++i) {
        const auto row = set.features_of(i);
        const auto name = set.rows[i].decision.value().substr(2);
        if (name == names[0]) {
            const auto decision = joiner->find_decision(set.rows[i].decision).value();
            EXPECT_EQ(std::vector(row.begin(), row.end()),
                      decision::encode_row(decision->application, schema()).value());
            EXPECT_EQ(row[0], 10.0f);
            EXPECT_EQ(row[1], 1.0f);
        } else {
            EXPECT_TRUE(std::isnan(row[0]));
            EXPECT_EQ(std::isnan(row[1]), name == names[2]) << "an unseen category is missing";
        }
    }
}

TEST_F(TrainingSetTest, AValueThatDoesNotFitItsFeatureIsSetAsideAndTheFeatureNamed) {
    const auto names = names_on(false, 2);
    decide(names[0], true, 0.5, {{"income", std::string("much")}, {"job", std::string("cook")}});
    decide(names[1]);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.development_rows(day(kLabelDay)).value();
    EXPECT_EQ(set.rows.size(), 1u);
    EXPECT_EQ(set.unexplained.decisions, 1u);
    EXPECT_EQ(set.unexplained.why.find("d-" + names[0]), std::string::npos);
    EXPECT_NE(set.unexplained.why.find("feature 'income' is a number"), std::string::npos);
}

TEST_F(TrainingSetTest, AReportedImpactIsReadAndTheVaultWaitsForIt) {
    product.impact.measure = "score";
    const auto in = names_on(true, 2), out = names_on(false, 1);
    for (const auto& name : {in[0], in[1], out[0]}) decide(name);
    report(in[0], 1);
    report(in[0], -20, "score");
    report(in[1], 0);
    report(out[0], 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kScoreDay)));
    EXPECT_TRUE(build.vault_rows(day(kLabelDay))->rows.empty());
    EXPECT_EQ(build.development_rows(day(kLabelDay))->rows.size(), 1u);
    const auto vault = build.vault_rows(day(kScoreDay)).value();
    ASSERT_EQ(vault.rows.size(), 2u);
    for (const auto& row : vault.rows) {
        const bool reported = row.decision.value() == "d-" + in[0];
        EXPECT_EQ(row.impact, reported ? std::optional(-20.0) : std::nullopt);
    }
}

TEST_F(TrainingSetTest, AnImpactThatIsTheLabelMeasureItselfNeedsNoSecondReading) {
    product.impact = {"repaid share", 0, 1, "repaid", 0, 0, 0};
    const auto name = names_on(true, 1)[0];
    decide(name);
    report(name, 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(build.vault_rows(day(kLabelDay))->rows.at(0).impact, 1.0);
}

TEST_F(TrainingSetTest, TheSetAsOfATimeAndItsDigestStayAndLaterOnesDiffer) {
    const auto names = names_on(false, 2);
    decide(names[0]);
    report(names[0], 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(50)));
    const auto before = build.development_rows(day(50)).value();
    report(names[0], 0, "repaid", 1);
    while (joiner->poll(100)->records > 0) continue;
    ASSERT_TRUE(joiner->advance(day(51)));
    const auto again = build.development_rows(day(50)).value();
    EXPECT_EQ(again.digest, before.digest);
    EXPECT_EQ(again.rows.at(0).label, 1.0);
    const auto later = build.development_rows(day(51)).value();
    EXPECT_NE(later.digest, before.digest);
    EXPECT_EQ(later.rows.at(0).label, 0.0);
    know(names[0], {{"sex", "male"}});
    EXPECT_NE(build.development_rows(day(50))->digest, before.digest);
}

TEST_F(TrainingSetTest, WhatPeopleDidInsteadCountsForTheActionThatWasDrawn) {
    const auto names = names_on(true, 4);
    decide(names[0], false);  // granted, repaid
    decide(names[1], true);   // refused; an outcome is reported all the same
    decide(names[2], true);   // granted as drawn, paid off early
    decide(names[3], false);  // declined; the override was withdrawn
    const auto take = [&](const std::string& name, uint32_t revision, domain::Action action) {
        const auto record = wire::to_record(domain::Override{
            domain::DecisionId("d-" + name), revision, action, "underwriter", "verified", day(1)});
        ASSERT_TRUE(log.append("outcomes", std::span(&record, 1)));
    };
    take(names[0], 0, domain::Action::kApprove);
    take(names[1], 0, domain::Action::kDecline);
    take(names[3], 0, domain::Action::kApprove);
    take(names[3], 1, domain::Action::kDecline);
    report(names[0], 1);
    report(names[1], 1);
    const auto censored = wire::to_record(
        domain::Outcome{domain::DecisionId("d-" + names[2]), "repaid", 0, 0, day(20), true});
    ASSERT_TRUE(log.append("outcomes", std::span(&censored, 1)));
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.vault_rows(day(kLabelDay)).value();
    ASSERT_EQ(set.rows.size(), 4u);
    std::map<std::string, Row> rows;
    for (const auto& row : set.rows) rows.emplace(row.decision.value().substr(2), row);
    const Row &granted = rows[names[0]], &refused = rows[names[1]], &early = rows[names[2]],
              &declined = rows[names[3]];
    EXPECT_FALSE(granted.approved);
    EXPECT_TRUE(granted.granted());
    EXPECT_EQ(granted.impact, 75);
    EXPECT_FALSE(granted.is_training_example());
    EXPECT_TRUE(refused.approved);
    EXPECT_FALSE(refused.granted());
    EXPECT_EQ(refused.label, std::nullopt);
    EXPECT_EQ(refused.impact, std::nullopt);
    EXPECT_TRUE(early.censored);
    EXPECT_EQ(early.impact, std::nullopt);
    EXPECT_FALSE(declined.overridden);
    EXPECT_FALSE(declined.censored);
}

TEST_F(TrainingSetTest, AReferralIsWhatPeopleAnsweredAndNoReversal) {
    const auto names = names_on(true, 4);
    for (size_t i = 0; i < 4; ++i) {
        auto decision = support::make_decision(names[i], day(0), false);
        decision.application.features = {{"income", 10.0}, {"job", std::string("cook")}};
        decision.p_approve = decision.p_exploit = 0.25;
        decision.p_refer = 0.5;
        decision.action = i < 3 ? domain::Action::kRefer : domain::Action::kDecline;
        decision.draw = i < 3 ? 0.3 : 0.8;
        decision.propensity = i < 3 ? 0.5 : 0.25;
        const auto record = support::to_record(decision);
        ASSERT_TRUE(log.append("decisions", std::span(&record, 1)));
    }
    const auto answer = [&](size_t i, domain::Action action) {
        const auto record = wire::to_record(domain::Override{
            domain::DecisionId("d-" + names[i]), 0, action, "underwriter", "seen", day(1)});
        ASSERT_TRUE(log.append("outcomes", std::span(&record, 1)));
    };
    answer(0, domain::Action::kApprove);
    answer(1, domain::Action::kDecline);
    report(names[0], 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto set = build.vault_rows(day(kLabelDay)).value();
    std::map<std::string, Row> rows;
    for (const auto& row : set.rows) rows.emplace(row.decision.value().substr(2), row);
    ASSERT_EQ(rows.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
        const Row& row = rows[names[i]];
        EXPECT_EQ(row.p_refer, 0.5);
        EXPECT_EQ(row.referred, i < 3);
        EXPECT_FALSE(row.approved || row.overridden || row.is_training_example());
        EXPECT_EQ(row.granted(), i == 0);
    }
    EXPECT_EQ(rows[names[0]].impact, 75);
    EXPECT_EQ(rows[names[0]].answer, true);
    EXPECT_EQ(rows[names[1]].answer, false);
    EXPECT_EQ(rows[names[1]].impact, std::nullopt);
    EXPECT_EQ(rows[names[2]].answer, std::nullopt);
    // a later answer is another set
    answer(2, domain::Action::kDecline);
    while (joiner->poll(100)->records > 0) continue;
    ASSERT_TRUE(joiner->advance(day(kLabelDay + 1)));
    EXPECT_NE(build.vault_rows(day(kLabelDay + 1))->digest, set.digest);
}

TEST_F(TrainingSetTest, AnOverrideThatBecomesKnownChangesTheDigest) {
    const auto names = names_on(false, 1);
    decide(names[0]);
    report(names[0], 1);
    const auto build = builder();
    ASSERT_TRUE(joiner->advance(day(50)));
    const auto before = build.development_rows(day(50)).value();
    const auto record = wire::to_record(domain::Override{
        domain::DecisionId("d-" + names[0]), 0, domain::Action::kDecline, "a", "r", day(1)});
    ASSERT_TRUE(log.append("outcomes", std::span(&record, 1)));
    while (joiner->poll(100)->records > 0) continue;
    ASSERT_TRUE(joiner->advance(day(51)));
    EXPECT_EQ(build.development_rows(day(50))->digest, before.digest);
    EXPECT_NE(build.development_rows(day(51))->digest, before.digest);
    EXPECT_TRUE(build.development_rows(day(51))->rows.at(0).overridden);
}

TEST_F(TrainingSetTest, BuildersThatCannotWorkAreRefused) {
    open();
    const auto salt =
        TrainingSetBuilder::create(*joiner, product, schema(), *store, std::string(15, 's'));
    EXPECT_EQ(salt.error().reason, "bad_split_salt");
    EXPECT_TRUE(
        TrainingSetBuilder::create(*joiner, product, schema(), *store, std::string(16, 's')));
    EXPECT_EQ(TrainingSetBuilder::create(*joiner, product, {}, *store, kSalt).error().reason,
              "no_features");
}

}  // namespace
}  // namespace rampart::training_set
