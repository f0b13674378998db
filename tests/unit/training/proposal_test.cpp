#include "rampart/training/proposal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "development_set.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;
using testing::HasSubstr;

/// A recipe with few trees and without a search.
Recipe recipe(Selection selection = Selection::kNone) {
    Recipe out;
    out.selection = selection;
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    out.options.set_fallback("trees", int64_t{40});
    out.options.set_fallback("leaves", int64_t{8});
    return out;
}

GateForecastInputs gate(std::vector<size_t> vault_units = {1300, 1300}) {
    GateForecastInputs out;
    out.config.impact_lo = -150, out.config.impact_hi = 75, out.config.declined_impact = 0;
    out.delta = 0.01;
    out.vault_units = std::move(vault_units);
    return out;
}

/// A development set, its champion, and a model that was trained on it elsewhere.
struct Bench {
    training_set::DevelopmentSet set = development_set();
    model::Policy champion = bootstrap(set);
    Candidate scheduled =
        make_candidate({set, test::impact(), champion, "champion", recipe()}).value();
    GateForecastInputs gate = training::gate();
    domain::Impact impact = test::impact();

    const model::LearnedLink& learned() const {
        return std::get<model::LearnedLink>(scheduled.policy.links().back());
    }
    /// The model as `rampart train` writes it.
    model::LearnedLink plain() const {
        model::LearnedLink link;
        link.ensemble = learned().ensemble;
        return link;
    }
    model::Policy model(model::LearnedLink link, std::vector<std::string> groups = {}) const {
        return model::Policy::create(set.schema, {std::move(link)}, std::move(groups),
                                     {{"learner", "elsewhere"}})
            .value();
    }
    base::Result<Proposal> propose(const model::Policy& model, const Recipe& recipe,
                                   ProposalOptions options = {}, bool aware = false) const {
        return training::propose({set, impact, champion, "champion", model, "file", recipe, aware,
                                  gate, nullptr, options});
    }
    double approve(const model::Policy& policy, size_t i) const {
        return policy.evaluate(set.features_of(i), std::optional<size_t>(*set.rows[i].cell))
            .approve;
    }
};

const Bench& bench() {
    static const Bench one;
    return one;
}

const model::LearnedLink& last(const Proposal& proposal) {
    return std::get<model::LearnedLink>(proposal.candidate.policy.links().back());
}

TEST(Proposal, AScoreGetsTheLinkThatScheduledTrainingGivesIt) {
    const auto& b = bench();
    const auto made = b.propose(b.model(b.plain()), recipe()).value();
    const auto &link = last(made), &trained = b.learned();
    EXPECT_EQ(link.score_slope, trained.score_slope);
    EXPECT_EQ(link.score_intercept, trained.score_intercept);
    EXPECT_EQ(link.ramp.thresholds, trained.ramp.thresholds);
    EXPECT_EQ(link.ramp.gamma, trained.ramp.gamma);
    EXPECT_EQ(link.exploration.epsilon, trained.exploration.epsilon);
    EXPECT_EQ(link.kappa, trained.kappa);
    EXPECT_TRUE(link.exploit_chain);
    for (size_t i = 0; i < b.set.rows.size(); ++i)
        ASSERT_EQ(b.approve(made.candidate.policy, i), b.approve(b.scheduled.policy, i)) << i;
    const auto& said = made.candidate.policy.printed_facts();
    EXPECT_EQ(said.at("model"), "file");
    EXPECT_EQ(said.at("parent"), "champion");
    EXPECT_EQ(said.at("model.learner"), "elsewhere");
    EXPECT_EQ(said.at("proposal.step"), "0.5000");
    EXPECT_EQ(made.candidate.policy.state().reasons->row, b.scheduled.policy.state().reasons->row);
    const auto again = b.propose(b.model(b.plain()), recipe()).value();
    EXPECT_EQ(model::encode_model_file(made.candidate.policy),
              model::encode_model_file(again.candidate.policy));
}

TEST(Proposal, SaysWhatWouldChangeForEveryGroup) {
    const auto& b = bench();
    const auto made = b.propose(b.model(b.plain()), recipe()).value();
    double changed = 0, sum = 0, before[2] = {}, after[2] = {};
    const auto n = static_cast<double>(b.set.rows.size());
    for (size_t i = 0; i < b.set.rows.size(); ++i) {
        const double s = b.approve(b.champion, i), pi = b.approve(made.candidate.policy, i);
        ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12);
        changed += std::abs(pi - s) > 1e-9;
        sum += std::abs(pi - s);
        before[*b.set.rows[i].cell] += s / (n / 2);
        after[*b.set.rows[i].cell] += pi / (n / 2);
    }
    const auto& change = made.change;
    EXPECT_EQ(change.persons, b.set.rows.size());
    EXPECT_NEAR(change.changed, changed / n, 1e-12);
    EXPECT_NEAR(change.mean_change, sum / n, 1e-12);
    EXPECT_GT(change.raised, 0.1);
    EXPECT_LT(change.raised, change.changed);
    ASSERT_EQ(change.groups.size(), 2u);
    double chance = 1;
    for (size_t g = 0; g < 2; ++g) {
        const auto& group = change.groups[g];
        EXPECT_EQ(group.name, b.set.group_names[g]);
        EXPECT_EQ(group.persons, test::kRows / 2);
        EXPECT_NEAR(group.approved_before, before[g], 1e-9);
        EXPECT_NEAR(group.approved_after, after[g], 1e-9);
        ASSERT_TRUE(group.chance);
        chance *= *group.chance;
    }
    ASSERT_TRUE(change.chance);
    EXPECT_NEAR(*change.chance, chance, 1e-9);
    EXPECT_GT(*change.chance, 0.5) << "a good model on 1,300 persons a group";
    EXPECT_EQ(change.no_forecast, "");
}

TEST(Proposal, OneThatHarmsIsForecastToFail) {
    const auto& b = bench();
    auto inverted = b.plain();
    for (auto& tree : inverted.ensemble.trees)
        for (auto& node : tree.nodes) node.value = -node.value;
    const auto made = b.propose(b.model(inverted), recipe()).value();
    EXPECT_LT(made.change.chance.value(), 0.01);
}

TEST(Proposal, ThePlanIsWhatTheNextProposalsWillBe) {
    auto b = bench();
    const auto model = b.model(b.plain());
    const auto made = b.propose(model, recipe(), {.plan_steps = kMaxPlanSteps}).value();
    ASSERT_GE(made.plan.size(), 3u);
    EXPECT_TRUE(made.reached);
    EXPECT_LE(made.plan.back().distance, kReached);
    EXPECT_EQ(made.plan[0].changed, made.change.changed);
    EXPECT_EQ(made.plan[0].distance, made.change.distance);
    EXPECT_EQ(made.plan[0].chance, made.change.chance);
    for (size_t k = 1; k < made.plan.size(); ++k)
        EXPECT_LT(made.plan[k].distance, made.plan[k - 1].distance);
    auto champion = made.candidate.policy;
    for (size_t k = 1; k < 3; ++k) {
        b.champion = champion;
        const auto next = b.propose(model, recipe()).value();
        EXPECT_NEAR(next.change.mean_change, made.plan[k].mean_change, 1e-12) << k;
        EXPECT_NEAR(next.change.distance, made.plan[k].distance, 1e-12) << k;
        EXPECT_NEAR(next.change.chance.value(), made.plan[k].chance.value(), 1e-9) << k;
        champion = next.candidate.policy;
    }
    const auto two = bench().propose(model, recipe(), {.plan_steps = 2}).value();
    EXPECT_EQ(two.plan.size(), 2u);
    EXPECT_FALSE(two.reached);
}

TEST(Proposal, TheGridChoosesWidthAndStepAsTheTrainerDoes) {
    const auto& b = bench();
    const auto made = b.propose(b.model(b.plain()), recipe(Selection::kGrid)).value();
    EXPECT_EQ(made.candidate.figures.at("selection"), "grid, 6 evaluations");
    EXPECT_LE(last(made).ramp.gamma, gamma_of(recipe()));
    const auto given = b.propose(b.model(b.plain()), recipe()).value();
    EXPECT_GE(*made.change.chance + 1e-9, *given.change.chance * 0.9);
}

TEST(Proposal, TheOperatingPointIsTheModelsOwnOrTheOneAskedFor) {
    const auto& b = bench();
    const auto point = [](const Proposal& made) {
        return (last(made).ramp.thresholds.front() - last(made).score_intercept) /
               last(made).score_slope;
    };
    EXPECT_NEAR(point(b.propose(b.model(b.plain()), recipe()).value()), 2.0 / 3, 1e-6);
    auto own = b.plain();
    own.ramp.thresholds = {2 * 0.8 - 1};
    EXPECT_NEAR(point(b.propose(b.model(own), recipe()).value()), 0.8, 1e-6);
    const auto asked = b.propose(b.model(own), recipe(), {.approve_from = 0.5}).value();
    EXPECT_NEAR(point(asked), 0.5, 1e-6);
    EXPECT_THAT(asked.candidate.figures.at("rule"), HasSubstr("0.5000"));
    const auto rate = b.propose(b.model(own), recipe(), {.approve_rate = 0.3}).value();
    double above = 0;
    for (size_t i = 0; i < b.set.rows.size(); ++i)
        above += rate.candidate.policy.evaluate(b.set.features_of(i), std::nullopt).score >=
                 point(rate) - 1e-9;
    EXPECT_NEAR(above / static_cast<double>(b.set.rows.size()), 0.3, 0.02);
    const auto half = b.propose(b.model(own), recipe(), {.step = 0.25}).value();
    EXPECT_EQ(last(half).kappa, 0.25);
}

TEST(Proposal, ARuleOfItsOwnIsKept) {
    const auto& b = bench();
    auto ramp = b.plain();
    ramp.ramp = {0.1, 0.5, {0.2, -0.1}, {1, 1}};
    const auto made =
        b.propose(b.model(ramp, b.set.cell_names), recipe(Selection::kGrid), {}, true).value();
    EXPECT_TRUE(made.candidate.policy.group_aware());
    EXPECT_EQ(last(made).ramp.thresholds, ramp.ramp.thresholds);
    EXPECT_EQ(last(made).score_slope, 2);
    EXPECT_EQ(made.candidate.figures.at("rule"), "the model's own");
    EXPECT_EQ(made.candidate.figures.at("selection"), "the step or half of it");
    EXPECT_TRUE(made.change.chance);
    const auto blind = b.propose(b.model(ramp, b.set.cell_names), recipe());
    ASSERT_FALSE(blind);
    EXPECT_EQ(blind.error().reason, "group_blind_deployment");
    const auto point =
        b.propose(b.model(ramp, b.set.cell_names), recipe(), {.approve_from = 0.7}, true).value();
    EXPECT_FALSE(point.candidate.policy.group_aware()) << "the ramp was replaced";
    auto mixture = b.plain();
    mixture.members = {{.trees = 10, .weight = 0.5}, {.trees = 20, .weight = 0.5}};
    const auto mixed = b.propose(b.model(mixture), recipe(), {.plan_steps = 20}).value();
    EXPECT_EQ(last(mixed).members.size(), 2u);
    EXPECT_LT(mixed.plan.back().distance, mixed.plan.front().distance);
    const auto asked = b.propose(b.model(mixture), recipe(), {.approve_from = 0.7});
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().reason, "not_with_learner");
}

TEST(Proposal, WhereNothingCanBeForecastItSaysWhy) {
    auto b = bench();
    b.gate = gate({1300, 0});
    const auto made = b.propose(b.model(b.plain()), recipe(Selection::kGrid)).value();
    EXPECT_FALSE(made.change.chance);
    EXPECT_FALSE(made.change.groups[0].chance);
    EXPECT_NE(made.change.no_forecast, "");
    EXPECT_GT(made.change.groups[1].approved_after, 0);
    EXPECT_THAT(made.candidate.figures.at("selection"), HasSubstr("as given: "));
    b.gate = gate();
    b.gate.config.max_weight = 10;
    EXPECT_THAT(b.propose(b.model(b.plain()), recipe())->change.no_forecast,
                HasSubstr("gate.max_weight"));
}

TEST(Proposal, ALongChainIsDistilledFirst) {
    auto b = bench();
    b.champion = b.scheduled.policy;
    auto shortest = recipe();
    shortest.max_links = 2;
    const auto made = b.propose(b.model(b.plain()), shortest).value();
    EXPECT_TRUE(made.candidate.distilled);
    EXPECT_EQ(made.candidate.policy.links().size(), 2u);
    EXPECT_EQ(made.candidate.figures.at("distilled"), "yes");
}

TEST(Proposal, OptionsOutOfRangeAndAnEmptySetAreRefused) {
    auto b = bench();
    const auto model = b.model(b.plain());
    const auto refused = [&](ProposalOptions options, const char* part) {
        const auto made = b.propose(model, recipe(), options);
        ASSERT_FALSE(made) << part;
        EXPECT_EQ(made.error().reason, "bad_proposal");
        EXPECT_THAT(made.error().message, HasSubstr(part));
    };
    refused({.step = 0.6}, "the step is 0.6; allowed is (0, 0.5]");
    refused({.step = 0.0}, "the step is 0;");
    refused({.approve_from = 1.0}, "approve from P is 1;");
    refused({.approve_rate = std::nan("")}, "share to approve is nan");
    refused({.approve_from = 0.5, .approve_rate = 0.5}, "two operating points");
    refused({.plan_steps = kMaxPlanSteps + 1}, "33");
    b.set.rows.clear();
    b.set.features.clear();
    const auto empty = b.propose(model, recipe());
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().reason, "no_development_rows");
}

}  // namespace
}  // namespace rampart::training
