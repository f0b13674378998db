#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "development_set.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/training/candidate.hpp"

/// Candidates with a criterion: what post-processors put on the learner's score.
namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;
using testing::HasSubstr;
using testing::StartsWith;

using Options = std::map<std::string, learning::OptionValue>;

Recipe recipe(const std::string& criterion, const Options& set = {}) {
    Recipe out;
    out.selection = Selection::kNone;  // no gate is known
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    out.options.set_fallback("trees", int64_t{40});
    out.options.set_fallback("leaves", int64_t{8});
    out.criterion = criterion;
    out.validation_fraction = 0.4;
    out.allow_infeasible = true;
    out.postprocess = chosen_postprocessor(out).value().values;
    for (const auto& [name, value] : set) EXPECT_TRUE(out.postprocess.set(name, value)) << name;
    return out;
}

GateForecastInputs gate_inputs() {
    GateForecastInputs gate;
    gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
    gate.delta = 0.01;
    gate.vault_units = {1300, 1300};
    return gate;
}

/// Returns, by the truth of the rows and for the last link alone, the largest difference of the
/// approval rates of the groups, among all (nullopt) or those of a label.
double true_gap(const training_set::DevelopmentSet& set, const model::Policy& policy,
                std::optional<bool> favourable) {
    auto link = *policy.last_learned();
    link.exploration = {};
    const auto alone =
        model::Policy::create(set.schema, {link},
                              link.group_aware() ? set.cell_names : std::vector<std::string>{}, {})
            .value();
    double rate[2] = {}, weight[2] = {};
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const auto row = set.features_of(i);
        const double p = model::sigmoid(1.0 + 1.5 * row[0]);
        const double w = !favourable ? 1 : *favourable ? p : 1 - p;
        const size_t cell = *set.rows[i].cell;
        rate[cell] += w * alone.evaluate(row, cell).approve;
        weight[cell] += w;
    }
    return std::abs(rate[0] / weight[0] - rate[1] / weight[1]);
}

/// Returns development_set(), whose second feature leans with the group.
training_set::DevelopmentSet with_a_trade() {
    auto set = development_set();
    base::Random random(9);
    for (size_t i = 0; i < set.rows.size(); ++i)
        set.features[2 * i + 1] =
            static_cast<float>(2.0 * static_cast<double>(*set.rows[i].cell) + random.normal());
    return set;
}

struct Case {
    std::string criterion;
    Options options;
    bool aware = true;
};

std::vector<Case> cases() {
    const std::string blind = "blind";
    return {{"none", {{"calibration", std::string("platt")}}, false},
            {"statistical_parity", {}},
            {"statistical_parity", {{"group", blind}}, false},
            {"equal_opportunity", {}},
            {"equal_opportunity", {{"group", blind}}, false},
            {"equalized_odds", {}},
            {"equalized_odds", {{"group", blind}}, false},
            {"covariance", {}},
            {"thresholds", {}}};
}

TEST(CandidateRule, EachCriterionHoldsByTheTruthAndTheCandidateKeepsTheTrustRegion) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    const auto plain =
        make_candidate({set, impact(), champion, "champion", recipe("none")}).value().policy;
    for (auto one : cases()) {
        if (one.criterion != "none")
            one.options.emplace("tolerance", one.criterion == "covariance" ? 0.005 : 0.02);
        const auto made = make_candidate(
            {set, impact(), champion, "champion", recipe(one.criterion, one.options)});
        ASSERT_TRUE(made) << one.criterion << ": " << made.error().message;
        const auto& policy = made->policy;
        EXPECT_EQ(policy.group_aware(), one.aware) << one.criterion;
        EXPECT_EQ(policy.group_names().size(), one.aware ? 2u : 0u);
        EXPECT_EQ(policy.provenance().at("criterion"), one.criterion);
        EXPECT_TRUE(model::decode_model_file(model::encode_model_file(policy)));
        for (size_t i = 0; i < set.rows.size(); i += 7) {
            const auto cell = std::optional<size_t>(*set.rows[i].cell);
            const double s = champion.evaluate(set.features_of(i), cell).approve;
            const double pi = policy.evaluate(set.features_of(i), cell).approve;
            ASSERT_LE(std::abs(pi - s), 0.5 * std::min(s, 1 - s) + 1e-12) << one.criterion;
        }
        if (one.criterion == "none") continue;
        std::vector<std::optional<bool>> rates{std::nullopt};
        if (one.criterion == "equal_opportunity") rates = {true};
        if (one.criterion == "equalized_odds" || one.criterion == "thresholds")
            rates = {true, false};
        for (const auto& rate : rates) {
            EXPECT_GT(true_gap(set, plain, rate), 0.09) << "the data must not be fair";
            EXPECT_LT(true_gap(set, policy, rate), 0.08) << one.criterion << one.aware;
        }
        for (const char* figure : {"criterion_held_out", "criterion_gap", "criterion_kept"})
            EXPECT_TRUE(made->figures.contains(figure)) << one.criterion;
    }
}

/// Returns the largest difference of the groups' approval rates below and from -0.25 of the first
/// feature on.
double gap_within_strata(const training_set::DevelopmentSet& set, const model::Policy& policy) {
    auto link = *policy.last_learned();
    link.exploration = {};
    const auto alone =
        model::Policy::create(set.schema, {link},
                              link.group_aware() ? set.cell_names : std::vector<std::string>{}, {})
            .value();
    double rate[2][2] = {}, rows[2][2] = {};
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const auto row = set.features_of(i);
        const size_t cell = *set.rows[i].cell, stratum = row[0] >= -0.25f ? 1 : 0;
        rate[stratum][cell] += alone.evaluate(row, cell).approve;
        ++rows[stratum][cell];
    }
    double most = 0;
    for (size_t s = 0; s < 2; ++s)
        most = std::max(most, std::abs(rate[s][0] / rows[s][0] - rate[s][1] / rows[s][1]));
    return most;
}

/// Conditional parity, at the operating point: the gap of each stratum is said for the persons held
/// out, the file decides as the policy does, to the bit, and the next candidate stands on it.
TEST(CandidateRule, HoldsInsideTheStrataOfAFeature) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    Options options{{"tolerance", 0.02},
                    {"within_feature", std::string("x0")},
                    {"within_cuts", std::vector<double>{-0.25}},
                    {"within_missing", std::string("-1")}};
    auto wanted = recipe("statistical_parity", options);
    ASSERT_TRUE(wanted.options.set("operate_at", std::string("approve=0.55")));
    const auto made = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_TRUE(made) << made.error().message;
    const auto& policy = made->policy;
    ASSERT_TRUE(policy.last_learned()->strata);
    EXPECT_EQ(policy.last_learned()->ramp.thresholds.size(), 4u);
    EXPECT_LT(gap_within_strata(set, policy), 0.1);
    auto plain = recipe("statistical_parity", {{"tolerance", 0.02}});
    plain.options = wanted.options;
    const auto unconditional = make_candidate({set, impact(), champion, "champion", plain}).value();
    EXPECT_GT(gap_within_strata(set, unconditional.policy), 0.15) << "over all rows: equal";
    const auto& figures = made->figures;
    for (const char* name :
         {"criterion_held_out", "own_keeps", "serving_keeps", "champion_keeps"}) {
        EXPECT_THAT(figures.at(name), HasSubstr("; by stratum: x0 < -0.25 or missing 0.")) << name;
        EXPECT_THAT(figures.at(name), HasSubstr(", x0 >= -0.25 0.")) << name;
    }
    const auto& rates = figures.at("own_rates");
    EXPECT_NEAR(std::stod(rates.substr(rates.find("approved ") + 9)), 0.55, 0.03) << rates;
    const auto read = model::decode_model_file(model::encode_model_file(policy)).value();
    for (size_t i = 0; i < set.rows.size(); i += 3) {
        const auto cell = std::optional<size_t>(*set.rows[i].cell);
        ASSERT_EQ(read.evaluate(set.features_of(i), cell).approve,
                  policy.evaluate(set.features_of(i), cell).approve);
    }
    const auto next = make_candidate({set, impact(), policy, "champion", wanted});
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->policy.links().size(), 3u);
    options["within_least"] = int64_t{1000};
    const auto small = make_candidate(
        {set, impact(), champion, "champion", recipe("statistical_parity", options)});
    ASSERT_FALSE(small);
    EXPECT_EQ(small.error().reason, "small_stratum");
    for (const char* part : {"criterion statistical_parity", "sex=", "x0 ", "within_least is 1000"})
        EXPECT_THAT(small.error().message, HasSubstr(part));
}

/// The rate is that of the rule's decisions, of persons whom neither trees nor rule have seen.
TEST(CandidateRule, MovesUntilTheRateOfTheRecipeHoldsBehindIt) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    for (const char* criterion : {"none", "statistical_parity", "equalized_odds"}) {
        for (const auto& [point, name, rate] :
             std::vector<std::tuple<std::string, std::string, double>>{
                 {"approve=0.55", "approved", 0.55}, {"fpr<=0.3", "fpr", 0.3}}) {
            auto wanted = recipe(criterion);
            ASSERT_TRUE(wanted.options.set("operate_at", point));
            const auto made = make_candidate({set, impact(), champion, "champion", wanted});
            ASSERT_TRUE(made) << made.error().message;
            const auto& text = made->figures.at("own_rates");
            const auto at = text.find(name + " ") + name.size() + 1;
            EXPECT_NEAR(std::stod(text.substr(at)), rate, 0.03) << criterion << ": " << text;
            // the figure is the threshold that serves, whatever selects the other parameters
            const GateForecastInputs gate = gate_inputs();
            wanted.selection = Selection::kGrid;
            const auto searched =
                make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate});
            wanted.selection = Selection::kNone;
            for (const auto* one : {&*made, &searched.value()}) {
                const auto& figures = one->figures;
                EXPECT_NE(figures.at("selected_threshold"), figures.at("learner_threshold"));
                if (criterion != std::string("none")) continue;  // its ramp has no other threshold
                const auto& ramp = one->policy.last_learned()->ramp;
                EXPECT_EQ(figures.at("selected_threshold"),
                          fmt::format("{:.4f}", ramp.thresholds.front()));
            }
            // the threshold of the trees alone, under the same ramp, is another
            ASSERT_TRUE(wanted.options.set("operate_at", std::string("threshold=0.5")));
            const auto other =
                make_candidate({set, impact(), champion, "champion", wanted}).value();
            EXPECT_FALSE(other.figures.contains("learner_threshold"));
            const auto& unmoved = other.figures.at("own_rates");
            EXPECT_GT(std::abs(std::stod(unmoved.substr(at)) - rate), 0.04) << unmoved;
        }
    }
}

/// The rule that serves is fitted on the persons held out; they are judged by others.
TEST(CandidateRule, PersonsHeldOutAreJudgedByRulesThatHaveNotSeenThem) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    for (const char* criterion : {"equalized_odds", "thresholds"}) {
        const auto wanted = recipe(criterion, {{"tolerance", 0.0}});
        const auto made =
            make_candidate({set, impact(), champion, "champion", wanted}).value().figures;
        EXPECT_EQ(made.at("own_keeps"), made.at("criterion_held_out"));
        EXPECT_NEAR(std::stod(made.at("own_beyond")), std::stod(made.at("criterion_gap")), 2e-4);
        EXPECT_GT(std::stod(made.at("own_beyond")), 0.005) << criterion << " was fitted to 0";
    }
}

/// BuDRO's audit of the persons held out goes before the gate, for what would serve.
TEST(CandidateRule, ABoundOnTheIndividualAuditIsACondition) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    Recipe wanted;
    wanted.selection = Selection::kNone;
    wanted.learner = "budro";
    wanted.options = recipe_options(*learning::find_learner("budro").value());
    ASSERT_TRUE(wanted.options.set("trees", int64_t{20}));
    const auto figures =
        make_candidate({set, impact(), champion, "champion", wanted}).value().figures;
    for (const char* name : {"own_keeps", "serving_keeps", "champion_keeps"})
        EXPECT_THAT(figures.at(name), HasSubstr("computed, without confidence")) << name;
    EXPECT_FALSE(figures.contains("serving_feasible")) << "nothing is asked";
    ASSERT_TRUE(wanted.options.set("gap_at_most", 0.0));
    wanted.toward = false;
    const auto refused = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "constraints_missed");
    EXPECT_THAT(refused.error().message, HasSubstr("answers of similar people"));
    ASSERT_TRUE(wanted.options.set("gap_at_most", 0.999));
    const auto kept = make_candidate({set, impact(), champion, "champion", wanted}).value();
    EXPECT_EQ(kept.figures.at("serving_feasible"), "kept");
}

/// A person held out who is far from all others has no place in the fair metric's distances.
TEST(CandidateRule, AnIndividualAuditThatFailsIsAFigureAndWhereItIsBoundedARefusal) {
    auto set = with_a_trade();
    Recipe wanted;
    wanted.selection = Selection::kNone;
    wanted.learner = "budro";
    wanted.options = recipe_options(*learning::find_learner("budro").value());
    ASSERT_TRUE(wanted.options.set("trees", int64_t{5}));
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double u = base::keyed_uniform(fmt::format("validation {}", wanted.seed),
                                             set.rows[i].person.value());
        if (!set.rows[i].approved || u >= wanted.validation_fraction) continue;
        set.features[2 * i] = 1e12F;
        break;
    }
    const auto champion = bootstrap(set);
    const auto figures =
        make_candidate({set, impact(), champion, "champion", wanted}).value().figures;
    for (const char* who : {"own", "serving", "champion"}) {
        EXPECT_THAT(figures.at(fmt::format("{}_not_measured", who)),
                    AllOf(StartsWith("individual audit: point "), HasSubstr("1000000")));
        EXPECT_FALSE(figures.contains(fmt::format("{}_keeps", who)));
        EXPECT_TRUE(figures.contains(fmt::format("{}_rates", who)));
    }
    ASSERT_TRUE(wanted.options.set("gap_at_most", 0.999));
    const auto refused = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("individual audit: point "));
}

TEST(CandidateRule, IsTheSameForTheSameArgumentsAndAnyNumberOfThreads) {
    const auto set = with_a_trade();
    base::ThreadPool pool(2);
    for (const auto& one : cases()) {
        const auto wanted = recipe(one.criterion, one.options);
        const auto champion = bootstrap(set);
        const auto a = make_candidate({set, impact(), champion, "champion", wanted}).value();
        const auto b = make_candidate({set, impact(), champion, "champion", wanted, &pool}).value();
        EXPECT_EQ(model::encode_model_file(a.policy), model::encode_model_file(b.policy))
            << one.criterion;
    }
}

TEST(CandidateRule, WhatItMissesOnThePersonsHeldOutIsSaidAndRefusedUnlessAllowed) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    auto wanted = recipe("equalized_odds", {{"tolerance", 0.0}});  // sampling alone misses it
    const auto made = make_candidate({set, impact(), champion, "champion", wanted}).value();
    EXPECT_EQ(made.figures.at("criterion_kept"), "no");
    const auto& missed = made.figures.at(std::string(kMissedConstraints));
    EXPECT_EQ(made.policy.state().constraints_missed, missed);
    for (const char* part : {"equalized_odds", "true positive rates differ by 0.", "sex=female",
                             "beyond the tolerance", "held out"})
        EXPECT_THAT(missed, HasSubstr(part));
    // the policy that would serve misses it as well, and comes nearer to it than the champion
    wanted.allow_infeasible = false;
    const auto nearer = make_candidate({set, impact(), champion, "champion", wanted}).value();
    EXPECT_THAT(nearer.figures.at("serving_feasible"),
                StartsWith("nearer than the champion by 0."));
    EXPECT_LT(std::stod(nearer.figures.at("serving_beyond")),
              std::stod(nearer.figures.at("champion_beyond")));
    for (const char* who : {"own", "serving", "champion"}) {
        EXPECT_THAT(nearer.figures.at(std::string(who) + "_rates"), HasSubstr("bad rate 0."));
        EXPECT_THAT(nearer.figures.at(std::string(who) + "_keeps"),
                    HasSubstr("true positive rates differ by"));
    }
    wanted.least_step = 0.9;
    EXPECT_FALSE(make_candidate({set, impact(), champion, "champion", wanted}));
    wanted.least_step = 0;
    wanted.toward = false;
    const auto refused = make_candidate({set, impact(), champion, "champion", wanted});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "constraints_missed");
    EXPECT_THAT(refused.error().message, HasSubstr("postprocess.tolerance"));
    ASSERT_TRUE(wanted.postprocess.set("tolerance", 0.3));
    const auto kept = make_candidate({set, impact(), champion, "champion", wanted}).value();
    EXPECT_EQ(kept.figures.at("criterion_kept"), "yes");
    EXPECT_EQ(kept.figures.at("serving_feasible"), "kept");
    EXPECT_EQ(kept.policy.state().constraints_missed, "");
}

TEST(CandidateRule, WhereNoPersonsAreHeldOutOfAGroupOrNoneIsFavourableItIsRefusedByName) {
    const auto champion = bootstrap(development_set());
    const auto refused = [&](const std::string& criterion, auto change) {
        auto set = development_set();
        change(set);
        const auto made = make_candidate({set, impact(), champion, "champion", recipe(criterion)});
        return made ? std::string("none") : made.error().reason + ": " + made.error().message;
    };
    const auto a_third_cell = [](auto& set) { set.cell_names.push_back("sex=other"); };
    for (const char* criterion : {"statistical_parity", "equalized_odds", "thresholds"}) {
        const auto error = refused(criterion, a_third_cell);
        EXPECT_THAT(error, HasSubstr("group_without_rows")) << criterion;
        EXPECT_THAT(error, HasSubstr("sex=other")) << criterion;
    }
    const auto no_attributes = [](auto& set) {
        for (auto& row : set.rows) row.cell.reset();
    };
    EXPECT_NE(refused("statistical_parity", no_attributes), "none");
    EXPECT_NE(refused("equal_opportunity", no_attributes), "none");
    EXPECT_EQ(refused("none", no_attributes), "none");
    const auto none_repays = [](auto& set) {
        for (auto& row : set.rows)
            if (*row.cell == 1 && row.label) row.label = 0;
    };
    EXPECT_THAT(refused("equal_opportunity", none_repays), HasSubstr("sex=male"));
}

TEST(CandidateRule, TheGridValuesWidthsByRulesThatDidNotSeeThePerson) {
    const auto set = with_a_trade();
    const auto champion = bootstrap(set);
    const auto gate = gate_inputs();
    for (const auto& one : cases()) {
        auto wanted = recipe(one.criterion, one.options);
        wanted.selection = Selection::kGrid;
        const auto made =
            make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate});
        ASSERT_TRUE(made) << one.criterion << ": " << made.error().message;
        EXPECT_TRUE(made->figures.at("selection").starts_with("grid, ")) << one.criterion;
        EXPECT_GT(std::stod(made->figures.at("predicted_gain")), 2) << one.criterion;
    }
    auto wanted = recipe("equal_opportunity");
    wanted.selection = Selection::kCmaEs;
    wanted.selection_evaluations = 20;
    const auto made = make_candidate({set, impact(), champion, "champion", wanted, nullptr, &gate});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->figures.at("selection").starts_with("cma_es, "));
}

}  // namespace
}  // namespace rampart::training
