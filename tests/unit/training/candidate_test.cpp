#include "rampart/training/candidate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "development_set.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;
using test::kRows;

/// A recipe with few trees; `set` has further options.
Recipe recipe(const std::string& learner = "gbdt",
              const std::map<std::string, learning::OptionValue>& set = {}) {
    Recipe out;
    out.selection = Selection::kNone;  // no gate is known
    out.learner = learner;
    out.options = learning::OptionValues(learning::find_learner(learner).value()->options());
    out.options.set_fallback("trees", int64_t{60});
    out.options.set_fallback("leaves", int64_t{8});
    if (out.options.has("early_stopping_rounds"))
        out.options.set_fallback("early_stopping_rounds", int64_t{10});
    for (const auto& [name, value] : set) EXPECT_TRUE(out.options.set(name, value)) << name;
    return out;
}

/// Mean true gain, by the generating model, over all rows.
double mean_gain(const training_set::DevelopmentSet& set, const model::Policy& candidate,
                 const model::Policy& reference) {
    double sum = 0;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const auto row = set.features_of(i);
        const double p = model::sigmoid(1.0 + 1.5 * row[0]);
        const auto cell = std::optional<size_t>(*set.rows[i].cell);
        sum += (candidate.evaluate(row, cell).approve - reference.evaluate(row, cell).approve) *
               (75 * p - 150 * (1 - p));
    }
    return sum / static_cast<double>(set.rows.size());
}

TEST(Candidate, GainsOnTheChampionAndStaysInItsTrustRegion) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    const auto candidate = make_candidate({set, impact(), champion, "champion", recipe()}).value();
    EXPECT_EQ(candidate.policy.links().size(), 2u);
    EXPECT_FALSE(candidate.policy.group_aware());
    EXPECT_GT(mean_gain(set, candidate.policy, champion), 5);
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(set.features_of(i), std::nullopt).approve;
        const double pi = candidate.policy.evaluate(set.features_of(i), std::nullopt).approve;
        ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12);
    }
    EXPECT_EQ(candidate.policy.provenance().at("parent"), "champion");
    // -150 and 75: an approval is worth a decline at P(favourable) = 2/3, not at the option's 0.5
    EXPECT_NE(candidate.policy.provenance().at("parameters").find(" threshold=0.666666"),
              std::string::npos)
        << candidate.policy.provenance().at("parameters");
    ASSERT_TRUE(candidate.policy.state().reasons);
    EXPECT_EQ(candidate.policy.state().reasons->method, model::ReasonMethod::kShapley);
    EXPECT_EQ(candidate.policy.state().constraints_missed, "");
}

TEST(Candidate, WhatItsLearnerNotesIsAmongItsFigures) {
    auto set = development_set();
    constexpr size_t kTowns = 300;  // more than bins
    std::vector<std::string> towns;
    for (size_t t = 0; t < kTowns; ++t) towns.push_back(fmt::format("t{}", t));
    set.schema =
        dataset::FeatureSchema::create({{"x0", dataset::FeatureKind::kNumeric, {}},
                                        {"town", dataset::FeatureKind::kCategorical, towns}})
            .value();
    for (size_t i = 0; i < set.rows.size(); ++i)
        set.features[2 * i + 1] = static_cast<float>(i % kTowns);
    const auto champion = bootstrap(set);
    const auto made = make_candidate({set, impact(), champion, "champion", recipe()}).value();
    ASSERT_TRUE(made.figures.contains("notes"));
    EXPECT_NE(made.figures.at("notes").find("ordered target statistics"), std::string::npos)
        << made.figures.at("notes");
}

/// The same people, later: x0 is called z0 and is retired, x2 is new and shows who repays.
training_set::DevelopmentSet grown_set() {
    auto set = development_set();
    set.schema = dataset::FeatureSchema::create({{"z0", dataset::FeatureKind::kNumeric, {}},
                                                 {"x1", dataset::FeatureKind::kNumeric, {}},
                                                 {"x2", dataset::FeatureKind::kNumeric, {}}})
                     .value();
    set.retired = {true, false, false};
    std::vector<float> features;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const float x0 = set.features[2 * i];
        features.insert(features.end(), {x0, set.features[2 * i + 1], 3 * x0 + 1});
    }
    set.features = std::move(features);
    return set;
}

TEST(Candidate, IsPutOnAChampionOfAnEarlierSchema) {
    const auto before = development_set();
    const auto first = bootstrap(before);
    // a champion with a learnt link that reads x0
    const auto champion =
        make_candidate({before, impact(), first, "first", recipe()}).value().policy;
    const auto set = grown_set();
    const auto made = make_candidate({set, impact(), champion, "champion", recipe()}).value();
    const auto& policy = made.policy;
    EXPECT_EQ(policy.schema(), set.schema);
    ASSERT_EQ(policy.links().size(), 3u);
    const auto front =
        model::Policy::create(set.schema, {policy.links()[0], policy.links()[1]}, {}, {}).value();
    bool reads_the_new = false;
    for (const auto& tree : policy.last_learned()->ensemble.trees) {
        for (const auto& node : tree.nodes) {
            EXPECT_NE(node.feature, 0) << "x0 is retired";
            reads_the_new = reads_the_new || node.feature == 2;
        }
    }
    EXPECT_TRUE(reads_the_new);
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(before.features_of(i), std::nullopt).approve;
        // the champion reads the first features of a longer row, and its links are carried as they
        // are
        ASSERT_EQ(champion.evaluate(set.features_of(i), std::nullopt).approve, s);
        ASSERT_EQ(front.evaluate(set.features_of(i), std::nullopt).approve, s);
        const double pi = policy.evaluate(set.features_of(i), std::nullopt).approve;
        ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12);
    }
}

TEST(Candidate, AChainThatIsDistilledReadsNoRetiredFeature) {
    const auto before = development_set();
    const auto champion = bootstrap(before);
    const auto set = grown_set();
    auto once = recipe();
    once.max_links = 1;
    const auto made = make_candidate({set, impact(), champion, "champion", once}).value();
    ASSERT_TRUE(made.distilled);
    for (const auto& link : made.policy.links())
        for (const auto& tree : std::get<model::LearnedLink>(link).ensemble.trees)
            for (const auto& node : tree.nodes) EXPECT_NE(node.feature, 0);
}

TEST(Candidate, ALinearModelOfTheChampionIsCarriedAsItIs) {
    const auto before = development_set();
    auto link = model::LearnedLink();
    link.linears = {{0.5, {0.4, -0.1}, {0.2, 0}, {{}, {}}}};
    link.members = {{.ensemble = 0, .weight = 1, .linear = 1}};
    link.ramp = {1, 0.5, {0.0}, {1.0}};
    const auto champion = model::Policy::create(before.schema, {link}, {}, {}).value();
    const auto set = grown_set();
    const auto made = make_candidate({set, impact(), champion, "champion", recipe()}).value();
    const auto front =
        model::Policy::create(set.schema, {made.policy.links().front()}, {}, {}).value();
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(before.features_of(i), std::nullopt).approve;
        ASSERT_EQ(champion.evaluate(set.features_of(i), std::nullopt).approve, s);
        ASSERT_EQ(front.evaluate(set.features_of(i), std::nullopt).approve, s);
    }
}

TEST(Candidate, TheSameArgumentsGiveTheSameFile) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    base::ThreadPool pool(2);
    const auto a = make_candidate({set, impact(), champion, "champion", recipe()}).value();
    const auto b = make_candidate({set, impact(), champion, "champion", recipe(), &pool}).value();
    EXPECT_EQ(model::encode_model_file(a.policy), model::encode_model_file(b.policy));
}

TEST(Candidate, FairGbmIsALearnerLikeTheOther) {
    const auto set = development_set();
    auto wanted = recipe("fairgbm", {{"tolerance", 0.1}});
    wanted.allow_infeasible = true;
    const auto candidate =
        make_candidate({set, impact(), bootstrap(set), "champion", wanted}).value();
    EXPECT_EQ(candidate.policy.provenance().at("learner"), "fairgbm");
    EXPECT_TRUE(candidate.figures.contains("feasible"));
}

TEST(Candidate, EveryLearnerGivesOneThatKeepsTheTrustRegionAndDecidesByExactProbabilities) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    for (const auto* learner : learning::learners()) {
        std::map<std::string, learning::OptionValue> options{{"trees", int64_t{30}}};
        const learning::OptionValues known(learner->options());
        for (const char* name : {"fits", "max_oracle_calls"})
            if (known.has(name)) options[name] = int64_t{6};
        if (known.has("tolerance")) options["tolerance"] = 0.3;
        auto wanted = recipe(std::string(learner->name()), options);
        wanted.allow_infeasible = true;
        const auto made = make_candidate({set, impact(), champion, "champion", wanted});
        ASSERT_TRUE(made) << learner->name() << ": " << made.error().message;
        const auto& policy = made->policy;
        EXPECT_EQ(policy.links().size(), 2u);
        EXPECT_EQ(policy.provenance().at("learner"), learner->name());
        EXPECT_TRUE(made->figures.contains("trees")) << learner->name();
        EXPECT_FALSE(policy.group_aware()) << learner->name();
        double changed = 0;
        for (size_t i = 0; i < set.rows.size(); ++i) {
            const double s = champion.evaluate(set.features_of(i), std::nullopt).approve;
            const double pi = policy.evaluate(set.features_of(i), std::nullopt).approve;
            ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12) << learner->name();
            changed += std::abs(pi - s);
        }
        EXPECT_GT(changed / kRows, 0.02) << learner->name();
        EXPECT_GT(mean_gain(set, policy, champion), 0) << learner->name();
        const auto bytes = model::encode_model_file(policy);
        EXPECT_TRUE(model::decode_model_file(bytes)) << learner->name();
    }
}

TEST(Candidate, TheOperatingPointIsWhereAnApprovalIsWorthADecline) {
    const auto set = development_set();
    // +75 and -150: break even at 2/3; the threshold of a mixture is a price
    const auto fair = recipe("fairgbm", {{"tolerance", 0.5}});
    const auto plain = recipe("gbdt");
    const auto own = recipe("gbdt", {{"threshold", 0.8}});
    const auto threshold = [&](const Recipe& wanted) {
        const auto made =
            make_candidate({set, impact(), bootstrap(set), "champion", wanted}).value();
        const auto& link = std::get<model::LearnedLink>(made.policy.links().back());
        // in P(favourable)
        return (link.ramp.thresholds.front() - link.score_intercept) / link.score_slope;
    };
    EXPECT_NEAR(threshold(plain), 2.0 / 3, 1e-6);
    EXPECT_NEAR(threshold(fair), 2.0 / 3, 1e-6);
    EXPECT_NEAR(threshold(own), 0.8, 1e-6);
}

TEST(Candidate, WhereAnApprovalIsAlwaysWorthMoreOrLessTheSignDecides) {
    const auto set = development_set();
    for (const auto& [favourable, unfavourable] :
         {std::pair{75.0, 10.0}, {-10.0, -150.0}, {-50.0, 75.0}}) {
        auto declared = impact();
        declared.favourable = favourable;
        declared.unfavourable = unfavourable;
        const auto made =
            make_candidate({set, declared, bootstrap(set), "champion", recipe()}).value();
        EXPECT_EQ(std::get<model::LearnedLink>(made.policy.links().back()).ramp.thresholds.front(),
                  0)
            << favourable << ", " << unfavourable;
    }
}

TEST(Candidate, OneThatMissesItsConstraintsIsMadeOnlyWhereThatIsAllowed) {
    const auto set = development_set();
    auto wanted = recipe("fairgbm", {{"tolerance", 0.0}, {"multiplier_step", 1e-6}});
    const auto refused = make_candidate({set, impact(), bootstrap(set), "champion", wanted});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::kFailedPrecondition);
    EXPECT_EQ(refused.error().reason, "constraints_missed");
    for (const char* part :
         {"fnr differs by 0.", "0 is allowed", "training.tolerance", "training.allow_infeasible"})
        EXPECT_NE(refused.error().message.find(part), std::string::npos) << part;
    wanted.allow_infeasible = true;
    const auto candidate =
        make_candidate({set, impact(), bootstrap(set), "champion", wanted}).value();
    const auto& missed = candidate.figures.at(std::string(kMissedConstraints));
    EXPECT_TRUE(missed.starts_with("fnr differs by 0.")) << missed;
    EXPECT_EQ(candidate.policy.state().constraints_missed, missed);
}

/// BuDRO keeps its last model, without a look at the persons held out: only the judge sees that a
/// group is missing there.
TEST(Candidate, OneThatCannotBeJudgedOnThePersonsHeldOutIsRefusedByName) {
    auto set = development_set();
    for (auto& row : set.rows)
        if (row.cell == 1u && row.label &&
            base::keyed_uniform("validation 0", row.person.value()) < 0.2)
            row.label = 1;
    const auto champion = bootstrap(set);
    auto wanted = recipe("budro", {{"trees", int64_t{10}},
                                   {"tolerance", 0.5},
                                   {"constraints", std::vector<std::string>{"fpr"}}});
    const auto refused = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "constraints_missed");
    EXPECT_NE(
        refused.error().message.find("group 'sex=male' has no row with the unfavourable label"),
        std::string::npos)
        << refused.error().message;
    wanted.allow_infeasible = true;
    const auto made = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_NE(made->figures.at("not_judged")
                  .find("group 'sex=male' has no row with the unfavourable label"),
              std::string::npos);
    EXPECT_FALSE(made->figures.contains("serving_feasible"));
    // what asks for nothing is not missed
    const auto plain = make_candidate({set, impact(), champion, "champion", recipe()});
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_FALSE(plain->figures.contains("not_judged"));
}

TEST(Candidate, SelectionSearchesTheSettingsAndSaysWhichItTook) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    auto wanted = recipe();
    wanted.selection = Selection::kCmaEs;
    wanted.selection_evaluations = 60;
    GateForecastInputs gate;
    gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
    gate.delta = 0.01;
    gate.vault_units = {1300, 1300};
    const auto candidate =
        make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate}).value();
    const auto& link = std::get<model::LearnedLink>(candidate.policy.links().back());
    EXPECT_EQ(candidate.figures.at("selected_kappa"), fmt::format("{:.4f}", link.kappa));
    EXPECT_EQ(candidate.figures.at("selected_gamma"), fmt::format("{:.4f}", link.ramp.gamma));
    EXPECT_GT(mean_gain(set, candidate.policy, champion), 3);
    const auto missing = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().reason, "bad_selection");
    gate.vault_units = {1300, 0};  // no person to predict for: as given, and the figure says so
    const auto given =
        make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate}).value();
    EXPECT_TRUE(given.figures.at("selection").starts_with("as given"))
        << given.figures.at("selection");
    EXPECT_EQ(std::get<model::LearnedLink>(given.policy.links().back()).kappa, wanted.kappa);
}

TEST(Candidate, TheDefaultChoosesWidthAndStepFromTheGridByScoresOutOfFold) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    auto wanted = recipe();
    wanted.selection = Recipe{}.selection;
    GateForecastInputs gate;
    gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
    gate.delta = 0.01;
    gate.vault_units = {1300, 1300};
    const auto candidate =
        make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate}).value();
    const auto& link = std::get<model::LearnedLink>(candidate.policy.links().back());
    EXPECT_EQ(candidate.figures.at("selection"), "grid, 6 evaluations");
    EXPECT_EQ(candidate.figures.at("selected_gamma"), fmt::format("{:.4f}", link.ramp.gamma));
    EXPECT_LE(link.ramp.gamma, 0.3) << "the fallback";
    EXPECT_LE(link.kappa, wanted.kappa);
    const double chance = std::stod(candidate.figures.at("predicted_chance"));
    EXPECT_TRUE(chance >= 0 && chance <= 1) << chance;
    EXPECT_GT(mean_gain(set, candidate.policy, champion), 5);
}

TEST(Candidate, TooLittleToLearnFromIsSaid) {
    auto set = development_set();
    for (auto& row : set.rows) row.label.reset();
    const auto candidate = make_candidate({set, impact(), bootstrap(set), "champion", recipe()});
    ASSERT_FALSE(candidate);
    EXPECT_EQ(candidate.error().code, base::ErrorCode::kFailedPrecondition);
}

TEST(Candidate, ALongChainIsDistilledIntoOneLinkThatComesClose) {
    const auto set = development_set();
    auto wanted = recipe();
    wanted.max_links = 2;
    auto champion = bootstrap(set);
    champion = make_candidate({set, impact(), champion, "a", wanted}).value().policy;
    ASSERT_EQ(champion.links().size(), 2u);
    const auto student = distil(set, champion, wanted, nullptr).value();
    const auto alone = model::Policy::create(set.schema, {student}, {}, {}).value();
    double worst = 0, sum = 0;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double s = champion.evaluate(set.features_of(i), std::nullopt).approve;
        const double error = std::abs(alone.evaluate(set.features_of(i), std::nullopt).approve - s);
        worst = std::max(worst, error);
        sum += error;
    }
    EXPECT_LT(sum / kRows, 0.01);
    EXPECT_LT(worst, 0.2);
    const auto next = make_candidate({set, impact(), champion, "b", wanted}).value();
    EXPECT_EQ(next.policy.links().size(), 2u) << "the student and one link on top of it";
    EXPECT_EQ(next.policy.provenance().at("training.distilled"), "yes");
}

}  // namespace
}  // namespace rampart::training
