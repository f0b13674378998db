#include "rampart/training/gate_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "development_set.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::kRows;

TEST(GateInputs, DecisionsCarryPropensitiesPoliciesAndGroupsButNoImpact) {
    const auto development = development_set();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows = development.rows;
    vault.features = development.features;
    vault.group_names = development.group_names;
    const auto champion = bootstrap(development);
    const auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_EQ(decisions.size(), kRows);
    EXPECT_EQ(decisions.p_approve[0], 0.5);
    EXPECT_EQ(decisions.candidate, decisions.reference);
    EXPECT_EQ(decisions.logger_ids, std::vector<std::string>{"bootstrap"});
    EXPECT_EQ(decisions.groups[1].records[0], 1u);
    ASSERT_EQ(decisions.second_half.size(), kRows);
    for (size_t i = 0; i < kRows; ++i)
        ASSERT_EQ(decisions.second_half[i], i > (kRows - 1) / 2)
            << "the rows are equally far apart";
    auto ledger = certification::DeltaLedger::open({}).value();
    ASSERT_TRUE(ledger.append(
        ledger.next_epoch(0.1, 1, certification::Spending::kEqual, "test", {}).value()));
    const certification::DeltaLedger::RunRequest request{"candidate", "reference", {}, "rule"};
    ASSERT_TRUE(ledger.append(ledger.next_registration(request, {}).value()));
    const auto impacts =
        vault_outcomes(ledger.ticket(request).value(), vault, champion, champion).impact;
    for (size_t i = 0; i < kRows; ++i) {
        ASSERT_EQ(decisions.has_impact[i] == 1, vault.rows[i].impact.has_value());
        ASSERT_EQ(std::isnan(impacts[i]), !vault.rows[i].impact.has_value());
    }
}

training_set::VaultSet vault_of(const training_set::DevelopmentSet& from) {
    training_set::VaultSet vault;
    vault.schema = from.schema;
    vault.rows = from.rows;
    vault.features = from.features;
    vault.group_names = from.group_names;
    return vault;
}

TEST(GateInputs, ReferralsAreColumnsAndARuleStandsBeforeThePolicies) {
    auto development = development_set();
    const auto champion = bootstrap(development);
    EXPECT_TRUE(vault_decisions(vault_of(development), champion, champion)->referred.empty());
    auto& rows = development.rows;
    const auto refer = [&](size_t i, double p, std::optional<bool> answer) {
        rows[i].approved = false;
        rows[i].p_approve = (1 - p) / 2;
        rows[i].p_refer = p;
        rows[i].referred = true;
        rows[i].answer = answer;
        rows[i].impact = answer.value_or(false) ? std::optional(75.0) : std::nullopt;
    };
    refer(0, 1, true);
    refer(1, 0.2, false);
    refer(2, 0.2, std::nullopt);
    rows[3].p_refer = 0.2;
    rows[3].p_approve = 0.4;
    auto decisions = vault_decisions(vault_of(development), champion, champion).value();
    using Numbers = std::vector<double>;
    const auto first = [](const Numbers& column) { return Numbers(&column[0], &column[4]); };
    EXPECT_EQ(first(decisions.p_refer), (Numbers{1, 0.2, 0.2, 0.2}));
    EXPECT_EQ(first(decisions.candidate_refer), (Numbers{1, 0, 0, 0}));
    EXPECT_EQ(first(decisions.reference_refer), (Numbers{1, 0, 0, 0}));
    EXPECT_EQ(decisions.candidate[0], 0);
    EXPECT_EQ(decisions.reference[0], 0);
    EXPECT_GT(decisions.candidate[1], 0);
    EXPECT_EQ(decisions.referral(0), ope::Referral::kApproved);
    EXPECT_EQ(decisions.referral(1), ope::Referral::kDeclined);
    EXPECT_EQ(decisions.referral(2), ope::Referral::kUnanswered);
    EXPECT_EQ(decisions.referral(3), ope::Referral::kNone);
    set_anchor(decisions, Numbers(kRows, 0.4));
    EXPECT_EQ(decisions.anchor[0], 0);
    EXPECT_EQ(decisions.anchor[1], 0.4);
    EXPECT_EQ(first(decisions.anchor_refer), (Numbers{1, 0, 0, 0}));
    EXPECT_TRUE(ope::validate(decisions));
    auto selection = selection_feedback(development, champion, champion).value();
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.declined_impact = 0;
    const auto vault = vault_of(development);
    EXPECT_TRUE(add_control_variates({development, vault, champion, champion, config}, selection,
                                     decisions));
}

TEST(GateInputs, OnlyTheFirstRecordOfAPersonIsRead) {
    auto development = development_set();
    // the declined apply again: by the client's clock before, by the service's after
    for (size_t i = 0; i + 1 < kRows; i += 2) {
        development.rows[i + 1].person = development.rows[i].person;
        development.rows[i].event_time = base::TimePoint::from_micros(100'000);
        development.rows[i + 1].decided_at = base::TimePoint::from_micros(1);
    }
    training_set::number_records(development.rows);
    const auto champion = bootstrap(development);
    const auto vault = vault_of(development);
    const auto selection = selection_feedback(development, champion, champion).value();
    const auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_EQ(decisions.size(), kRows / 2);
    ASSERT_EQ(selection.impact.size(), kRows / 2);
    ASSERT_EQ(gate_rows(development, champion, champion).size(), kRows / 2);
    for (size_t i = 0; i < kRows / 2; ++i) {
        const auto& first = development.rows[2 * i];
        ASSERT_EQ(decisions.record_id[i], first.decision.value());
        ASSERT_EQ(selection.decisions.record_id[i], first.decision.value());
        ASSERT_EQ(std::isnan(selection.impact[i]), !first.impact.has_value());
        ASSERT_EQ(decisions.approved[i] != 0, first.approved);
    }
}

TEST(GateInputs, AfterTheDaysExplorationPoliciesCountAsTheyDecideThen) {
    auto development = development_set();
    // declines all, and explores with 0.1
    model::LearnedLink link;
    link.ramp = {0.0, 0.5, {0.1}, {1.0}};
    link.exploration = {model::ExplorationMode::kOneSided, 0.1};
    const auto exploring = model::Policy::create(development.schema, {link}, {}, {}).value();
    const auto champion = bootstrap(development);
    development.rows[1].exploration_spent = true;
    auto vault = vault_of(development);
    const auto decisions = vault_decisions(vault, exploring, champion).value();
    const auto output = exploring.evaluate(vault.features_of(1), {});
    ASSERT_LT(output.exploit, output.approve);
    EXPECT_EQ(decisions.candidate[0], exploring.evaluate(vault.features_of(0), {}).approve);
    EXPECT_EQ(decisions.candidate[1], output.exploit);
    EXPECT_EQ(vault_decisions(vault, champion, exploring).value().reference[1], output.exploit);
    EXPECT_EQ(selection_feedback(development, exploring, champion).value().decisions.candidate[1],
              output.exploit);
    EXPECT_EQ(anchor_probabilities(vault, champion, champion, exploring)[1], output.exploit);
    EXPECT_EQ(decided_without_exploration(vault), 1u);
    vault.rows[1].repeat = true;
    EXPECT_EQ(decided_without_exploration(vault), 0u);
}

TEST(GateInputs, AnEpochsFirstRecordOfAPersonIsTheFirstFromItsBeginOn) {
    auto development = development_set();
    development.rows[10].person = development.rows[3].person;
    development.rows[20].person = development.rows[3].person;
    for (auto& row : development.rows) row.decided_at = row.event_time;
    training_set::number_records(development.rows);
    EXPECT_EQ(development.rows[20].ordinal, 2u);
    const auto later = decided_since(vault_of(development), base::TimePoint::from_micros(10));
    ASSERT_EQ(later.rows.size(), kRows - 10);
    EXPECT_EQ(later.rows[0].ordinal, 0u);
    EXPECT_EQ(later.rows[10].ordinal, 1u);
    EXPECT_EQ(later_records(later), 1u);
}

TEST(GateInputs, ARepeatIsNeverReadNotEvenAsTheFirstRecordOfAnEpoch) {
    auto development = development_set();
    // the person of row 3 applies again in the window, and in the next one
    for (const size_t i : {10, 20}) development.rows[i].person = development.rows[3].person;
    for (auto& row : development.rows) row.decided_at = row.event_time;
    development.rows[3].window = development.rows[10].window = {"loan", 30, 5};
    development.rows[20].window = {"loan", 30, 6};
    EXPECT_EQ(training_set::number_records(development.rows), 1u);
    const auto champion = bootstrap(development);
    const auto vault = vault_of(development);
    const auto ids_of = [&](const training_set::VaultSet& set) {
        return vault_decisions(set, champion, champion).value().record_id;
    };
    const auto has = [](const std::vector<std::string>& ids, const char* id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    const auto all = ids_of(vault);
    EXPECT_EQ(all.size(), kRows - 2);
    EXPECT_TRUE(has(all, "d3") && !has(all, "d10") && !has(all, "d20"));
    const auto later = decided_since(vault, base::TimePoint::from_micros(10));
    EXPECT_EQ(later.repeats, 1u);
    const auto rest = ids_of(later);
    EXPECT_EQ(rest.size(), kRows - 11);
    EXPECT_TRUE(!has(rest, "d10") && has(rest, "d20"));
    const auto before = persons_by_group(later);
    EXPECT_EQ(before[0] + before[1], kRows - 11);
}

TEST(GateInputs, TheVaultIsExpectedToHaveTwoPersonsForThreeOfTheDevelopmentSet) {
    auto set = development_set();  // 2,000 persons in each of two groups, one row each
    EXPECT_EQ(expected_vault_persons(set), (std::vector<size_t>{1333, 1333}));
    set.rows[0].repeat = true;                // no record
    set.rows[2].person = set.rows[4].person;  // a later record
    EXPECT_EQ(expected_vault_persons(set), (std::vector<size_t>{1332, 1333}));
    set.extent = {{}, 3 * set.rows.size(), set.rows.size(), 1};  // a sample of a third
    EXPECT_EQ(expected_vault_persons(set), (std::vector<size_t>{3996, 4000}));
}

/// Points that an approval of the row is expected to bring, by the generating model.
double expected_points(std::span<const float> row) {
    const double p = model::sigmoid(1.0 + 1.5 * row[0]);
    return 75 * p - 150 * (1 - p);
}

certification::ConstraintSet constraint_set(const std::string& expression) {
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.named_constraints = {{"c", expression}};
    return certification::ConstraintSet::compile(config).value();
}

TEST(GateInputs, ForConstraintsTheyHoldConditionsMetAndKnownLabels) {
    const auto development = development_set();
    const auto champion = bootstrap(development);
    const auto constraints =
        constraint_set("mean(decision | x0 >= 0 and label = 1) >= mean(decision | sex = \"male\")");
    const auto feedback = selection_feedback(development, champion, champion, constraints).value();
    ASSERT_EQ(feedback.label.size(), kRows);
    for (size_t i = 0; i < kRows; ++i) {
        const uint64_t high = development.features_of(i)[0] >= 0 ? 0b0010 : 0,
                       male = i % 2 == 1 ? 0b1100 : 0;
        ASSERT_EQ(feedback.decisions.conditions[i], high | male);
        ASSERT_EQ(feedback.decisions.has_label[i] == 1, development.rows[i].label.has_value());
        ASSERT_EQ(std::isnan(feedback.label[i]), !development.rows[i].label.has_value());
    }
    const auto without = selection_feedback(development, champion, champion).value();
    EXPECT_TRUE(without.label.empty() && without.decisions.conditions.empty() &&
                without.decisions.has_label.empty());
}

TEST(GateInputs, NamesThatConstraintsMentionAreLookedUpBeforeThereAreData) {
    const auto set = development_set();
    const auto reason = [&](const std::string& expression) {
        const auto status =
            check_conditions(constraint_set(expression), set.schema, set.group_names);
        return status ? "" : status.error().reason;
    };
    EXPECT_EQ(reason("mean(decision | x1 < 0 and sex != \"male\") >= 0"), "");
    EXPECT_EQ(reason("mean(decision | x2 < 0) >= 0"), "unknown_feature");
    EXPECT_EQ(reason("mean(decision | sex = \"other\") >= 0"), "unknown_category");
    EXPECT_EQ(reason("mean(decision | group = \"women\") >= 0"), "unknown_group");
}

TEST(GateInputs, ControlVariatesComeFromTheDevelopmentSetOnly) {
    auto development = development_set();
    const auto champion = bootstrap(development);
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows.assign(development.rows.end() - 500, development.rows.end());
    vault.features.assign(development.features.end() - 1000, development.features.end());
    vault.group_names = development.group_names;
    development.rows.resize(kRows - 500);
    development.features.resize(2 * (kRows - 500));
    certification::GateConfig config;
    config.impact_lo = -150, config.impact_hi = 75, config.declined_impact = 0;
    auto selection = selection_feedback(development, champion, champion).value();
    auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_TRUE(add_control_variates({development, vault, champion, champion, config}, selection,
                                     decisions));
    ASSERT_EQ(decisions.control_variates.size(), 500u);
    ASSERT_EQ(selection.decisions.control_variates.size(), kRows - 500);
    EXPECT_TRUE(ope::validate(decisions));
    double constant = 0, regression = 0, mean = 0;
    for (size_t i = 0; i < 500; ++i) mean += expected_points(vault.features_of(i)) / 500;
    for (size_t i = 0; i < 500; ++i) {
        const double truth = expected_points(vault.features_of(i)),
                     q = decisions.control_variates[i].approve;
        EXPECT_TRUE(q >= -150 && q <= 75);
        constant += (truth - mean) * (truth - mean);
        regression += (truth - q) * (truth - q);
    }
    EXPECT_LT(regression, 0.2 * constant) << "they follow the features";
    // no outcome of the vault has a part in them, and no outcome of a development record in its own
    const auto before = decisions.control_variates;
    for (auto& row : vault.rows) row.impact.reset();
    const double own = selection.decisions.control_variates[0].approve;
    for (size_t i = 0; i < selection.impact.size(); ++i) {
        if (selection.decisions.unit_id[i] == selection.decisions.unit_id[0] &&
            !std::isnan(selection.impact[i]))
            selection.impact[i] = -150;
    }
    ASSERT_TRUE(add_control_variates({development, vault, champion, champion, config}, selection,
                                     decisions));
    EXPECT_EQ(selection.decisions.control_variates[0].approve, own);
    vault.features[0] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_TRUE(add_control_variates({development, vault, champion, champion, config}, selection,
                                     decisions));
    EXPECT_NE(decisions.control_variates[0].approve, before[0].approve)
        << "an unknown feature counts as its mean";
}

TEST(GateInputs, CategoriesAreReadOneByOne) {
    auto development = development_set();
    development.schema = dataset::FeatureSchema::create(
                             {{"x0", dataset::FeatureKind::kNumeric, {}},
                              {"job", dataset::FeatureKind::kCategorical, {"a", "b", "c"}}})
                             .value();
    for (size_t i = 0; i < kRows; ++i) {  // not in the order of the codes: b is the best
        const float job = static_cast<float>(i % 3);
        development.features[2 * i + 1] = job;
        auto& row = development.rows[i];
        if (row.approved) row.impact = job == 1 ? 75.0 : -75.0;
    }
    const model::BootstrapLink link{"x0", {{-2, 0.3}, {2, 0.8}}, 0.5};
    const auto champion = model::Policy::create(development.schema, {link}, {}, {}).value();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows.assign(development.rows.begin(), development.rows.begin() + 3);
    vault.features.assign(development.features.begin(), development.features.begin() + 6);
    vault.group_names = development.group_names;
    certification::GateConfig config;
    config.impact_lo = -150, config.impact_hi = 75, config.declined_impact = 0;
    auto selection = selection_feedback(development, champion, champion).value();
    auto decisions = vault_decisions(vault, champion, champion).value();
    ASSERT_TRUE(add_control_variates({development, vault, champion, champion, config}, selection,
                                     decisions));
    EXPECT_NEAR(decisions.control_variates[0].approve, -75, 5);
    EXPECT_NEAR(decisions.control_variates[1].approve, 75, 5);
    EXPECT_NEAR(decisions.control_variates[2].approve, -75, 5);
}

TEST(GateInputs, AnEpochHasVaultRecordsOfItsOwn) {
    const auto development = development_set();
    training_set::VaultSet vault;
    vault.schema = development.schema;
    vault.rows = development.rows;
    vault.features = development.features;
    const auto later = decided_since(vault, base::TimePoint::from_micros(kRows - 10));
    ASSERT_EQ(later.rows.size(), 10u);
    EXPECT_EQ(later.rows[0].decision, vault.rows[kRows - 10].decision);
    EXPECT_EQ(later.features_of(0)[0], vault.features_of(kRows - 10)[0]);
}

TEST(GateInputs, APolicyThatDoesNotFitTheDeploymentIsRefused) {
    const auto set = development_set();
    const auto blind = bootstrap(set);
    EXPECT_TRUE(check_fits(blind, set.schema, set.cell_names, false));
    const auto other = dataset::FeatureSchema::create({{"x1", dataset::FeatureKind::kNumeric, {}},
                                                       {"x0", dataset::FeatureKind::kNumeric, {}}})
                           .value();
    EXPECT_EQ(check_fits(blind, other, set.cell_names, true).error().reason, "other_schema");
    model::LearnedLink link;
    link.ramp = {0.3, 0.5, {0.0, 0.1}, {1.0, 1.0}};
    const auto aware = model::Policy::create(set.schema, {link}, set.cell_names, {}).value();
    EXPECT_TRUE(check_fits(aware, set.schema, set.cell_names, true));
    EXPECT_EQ(check_fits(aware, set.schema, set.cell_names, false).error().reason,
              "group_blind_deployment");
    EXPECT_EQ(check_fits(aware, set.schema, {"sex=male", "sex=female"}, true).error().reason,
              "other_groups");
}

}  // namespace
}  // namespace rampart::training
