#include "rampart/reductions/train.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "data.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::reductions {
namespace {

/// Returns P(approve) of each row, [n].
std::vector<double> approve(std::span<const ReductionMember> members, const dataset::Dataset& data,
                            base::ThreadPool* pool) {
    std::vector<double> out(data.rows()), scores(data.rows());
    for (const auto& member : members) {
        model::BatchEngine(member.ensemble).predict_raw(model::TableView::of(data), scores, pool);
        for (size_t i = 0; i < out.size(); ++i)
            if (scores[i] >= member.threshold) out[i] += member.weight;
    }
    return out;
}

constexpr std::array kAll = {Reduction::kExponentiatedGradient, Reduction::kGridSearch,
                             Reduction::kRandomReweighing};

ReductionParams quick(Reduction method, std::vector<fairness::ParityConstraint> parity = {},
                      std::vector<fairness::RateTarget> targets = {}) {
    ReductionParams params;
    params.method = method;
    params.learner.trees = 25;
    params.learner.leaves = 8;
    params.learner.learning_rate = 0.2;
    params.constraints = {std::move(parity), std::move(targets)};
    params.seed = 5;
    return params;
}

const std::vector<fairness::ParityConstraint> kFnr = {{fairness::Rate::kFalseNegative, 0.03, {}}};

double sum_of_weights(const ReductionResult& result) {
    double sum = 0;
    for (const auto& member : result.members) sum += member.weight;
    return sum;
}

std::string reason_of(const base::Result<ReductionResult>& result) {
    return result ? "none" : result.error().reason;
}

TEST(TrainReduction, EachClosesTheGapThatPlainBoostingLeaves) {
    const auto data = made_up(3000, 1);
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        const auto fair = train_reduction(data, quick(method, kFnr), nullptr).value();
        // the first fit of each is the unconstrained one
        EXPECT_GT(fair.trials.front().train.values.gaps[0], 0.1);
        EXPECT_EQ(fair.verdict.feasibility, fairgbm::Feasibility::kFeasible);
        EXPECT_LE(fair.verdict.train.values.gaps[0], 0.03 + kRateRounding);
        const double price = method == Reduction::kRandomReweighing ? 0.08 : 0.04;
        EXPECT_LT(fair.verdict.train.loss, fair.trials.front().train.loss + price);
        EXPECT_NEAR(sum_of_weights(fair), 1, 1e-9);
    }
}

TEST(TrainReduction, EachConstraintIsKeptByAMixture) {
    const auto data = made_up(3000, 2);
    for (const fairness::Rate rate :
         {fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative, fairness::Rate::kApproval,
          fairness::Rate::kError}) {
        SCOPED_TRACE(to_string(rate));
        auto params = quick(Reduction::kExponentiatedGradient, {{rate, 0.01, {}}});
        params.fits = 15;
        const auto fair = train_reduction(data, params, nullptr).value();
        EXPECT_EQ(fair.verdict.feasibility, fairgbm::Feasibility::kFeasible);
        EXPECT_LE(fair.members.size(), 3u);  // one constraint binds on one side
    }
}

TEST(TrainReduction, HoldsEqualizedOddsOfThreeGroups) {
    const auto data = made_up(4000, 3, 3);
    auto params = quick(
        Reduction::kExponentiatedGradient,
        {{fairness::Rate::kFalsePositive, 0.02, {}}, {fairness::Rate::kFalseNegative, 0.02, {}}});
    params.fits = 40;
    const auto fair = train_reduction(data, params, nullptr).value();
    EXPECT_EQ(fair.verdict.feasibility, fairgbm::Feasibility::kFeasible);
    ASSERT_EQ(fair.verdict.train.values.rates.size(), 2u);
    EXPECT_EQ(fair.verdict.train.values.rates[0].size(), 3u);
    EXPECT_GT(fair.trials.front().train.values.violation, 0.1);
}

TEST(TrainReduction, BringsARateOfEverybodyDownToItsTarget) {
    const auto data = made_up(3000, 4);
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        auto params = quick(method, {}, {{fairness::Rate::kFalsePositive, 0.05}});
        params.min_gain_share = 0;
        params.grid_limit = 8;
        const auto kept = train_reduction(data, params, nullptr).value();
        EXPECT_GT(kept.trials.front().train.values.targets[0], 0.07);
        EXPECT_EQ(kept.verdict.feasibility, fairgbm::Feasibility::kFeasible);
        EXPECT_LE(kept.verdict.train.values.targets[0], 0.05 + kRateRounding);
    }
}

TEST(TrainReduction, ATargetThatIsKeptAnywayCostsNothing) {
    const auto data = made_up(2000, 5);
    const auto kept = train_reduction(data,
                                      quick(Reduction::kExponentiatedGradient, {},
                                            {{fairness::Rate::kFalsePositive, 0.9}}),
                                      nullptr)
                          .value();
    EXPECT_EQ(kept.trials.size(), 1u);
    EXPECT_TRUE(kept.verdict.converged);
    EXPECT_EQ(kept.verdict.gap, 0);
}

TEST(TrainReduction, WithoutConstraintsEgIsOneFit) {
    const auto data = made_up(1000, 6);
    const auto plain =
        train_reduction(data, quick(Reduction::kExponentiatedGradient), nullptr).value();
    EXPECT_EQ(plain.trials.size(), 1u);
    EXPECT_EQ(plain.verdict.feasibility, fairgbm::Feasibility::kFeasible);
}

// ---- exponentiated gradient

TEST(ExponentiatedGradient, AThresholdIsAPrice) {
    const auto data = made_up(3000, 7);
    auto params = quick(Reduction::kExponentiatedGradient, kFnr);
    params.operating_point.threshold = 0.8;
    const auto strict = train_reduction(data, params, nullptr).value();
    params.operating_point.threshold = 0.3;
    const auto generous = train_reduction(data, params, nullptr).value();
    EXPECT_LT(strict.verdict.train.values.approval + 0.2, generous.verdict.train.values.approval);
    EXPECT_EQ(strict.verdict.feasibility, fairgbm::Feasibility::kFeasible);
}

TEST(ExponentiatedGradient, GoesOnWithTheRowsThatJudge) {
    // a split by chance whose validation rows are less fair than the training rows
    const auto data = made_up(3000, 26), validation = made_up(700, 27);
    const auto params =
        quick(Reduction::kExponentiatedGradient, {{fairness::Rate::kApproval, 0.02, {}}});
    const auto alone = train_reduction(data, params, nullptr).value();
    const auto judged = train_reduction(data, params, nullptr, {.validation = &validation}).value();
    ASSERT_GT(judged.trials.size(), alone.trials.size());
    for (size_t i = 0; i < alone.trials.size(); ++i)
        EXPECT_EQ(alone.trials[i].costs, judged.trials[i].costs);
    EXPECT_EQ(judged.verdict.feasibility, fairgbm::Feasibility::kFeasible);
    EXPECT_LE(judged.verdict.validation->values.gaps[0], 0.02 + kRateRounding);
    EXPECT_EQ(alone.verdict.gap, judged.verdict.gap);
}

// ---- grid and random search

TEST(GridSearch, TriesALatticeAboutTheOrigin) {
    const auto data = toy();
    auto params = quick(Reduction::kGridSearch, {{fairness::Rate::kApproval, 0.05, {}}});
    params.fits = 13;
    ExactOracle oracle(data);
    const auto result = train_reduction(data, params, nullptr, {.oracle = &oracle}).value();
    EXPECT_LE(result.trials.size(), 13u);
    EXPECT_GT(result.trials.size(), 4u);
    const auto system =
        fairness::RateSystem::create(data, {{{fairness::Rate::kApproval, 0.05, {}}}, {}}).value();
    const std::vector<double> none(3);
    EXPECT_EQ(result.trials.front().costs, cell_costs(system, none, 0.5));
}

TEST(GridSearch, TwoGroupsGetEvenSteps) {
    const auto data = made_up(300, 8);
    auto params = quick(Reduction::kGridSearch, kFnr);
    params.fits = 5;
    params.grid_limit = 1;
    params.learner.trees = 2;
    const auto result = train_reduction(data, params, nullptr).value();
    const auto system = fairness::RateSystem::create(data, params.constraints).value();
    const double unit =
        std::min(system.parity()[0].rates[0].weight, system.parity()[0].rates[1].weight);
    std::vector<std::vector<double>> expected;
    for (const double x : {0.0, -0.5, 0.5, -1.0, 1.0})
        expected.push_back(cell_costs(system, std::vector<double>{x * unit, -x * unit}, 0.5));
    ASSERT_EQ(result.trials.size(), 5u);
    for (size_t i = 0; i < 5; ++i)
        EXPECT_THAT(result.trials[i].costs,
                    testing::Pointwise(testing::DoubleNear(1e-12), expected[i]));
}

TEST(GridSearch, ManyMultipliersAreDrawnAtRandomByTheSeed) {
    auto data = made_up(3000, 9, 12);
    auto params = quick(Reduction::kGridSearch, kFnr);
    params.fits = 6;
    params.learner.trees = 2;
    const auto a = train_reduction(data, params, nullptr).value();
    const auto again = train_reduction(data, params, nullptr).value();
    params.seed = 6;
    const auto other = train_reduction(data, params, nullptr).value();
    ASSERT_EQ(a.trials.size(), 6u);
    EXPECT_EQ(a.trials[3].costs, again.trials[3].costs);
    EXPECT_NE(a.trials[3].costs, other.trials[3].costs);
    EXPECT_EQ(a.trials[0].costs, other.trials[0].costs);
}

TEST(RandomReweighing, KeepsLabelsAndWeighsCellsWithinTheSpread) {
    const auto data = made_up(300, 10);
    auto params = quick(Reduction::kRandomReweighing, kFnr);
    params.fits = 20;
    params.spread = 3;
    params.learner.trees = 2;
    const auto result = train_reduction(data, params, nullptr).value();
    ASSERT_EQ(result.trials.size(), 20u);
    EXPECT_EQ(result.trials[0].costs, (std::vector<double>{1, 1, -1, -1}));
    double least = 9, most = 0;
    for (const auto& trial : result.trials) {
        for (size_t cell = 0; cell < 4; ++cell) {
            EXPECT_EQ(trial.costs[cell] < 0, cell >= 2);
            least = std::min(least, std::abs(trial.costs[cell]));
            most = std::max(most, std::abs(trial.costs[cell]));
        }
    }
    EXPECT_GE(least, 1 / 3.0);
    EXPECT_LE(most, 3);
    EXPECT_LT(least, 0.5);
    EXPECT_GT(most, 2);
}

TEST(Trials, TheOneKeptIsTheLeastLossAmongThoseThatKeepTheConstraints) {
    const auto data = made_up(2000, 11);
    for (const Reduction method : {Reduction::kGridSearch, Reduction::kRandomReweighing}) {
        SCOPED_TRACE(static_cast<int>(method));
        const auto result = train_reduction(data, quick(method, kFnr), nullptr).value();
        ASSERT_EQ(result.members.size(), 1u);
        size_t kept = 0;
        for (const auto& trial : result.trials) {
            kept += trial.weight == 1;
            if (trial.train.values.violation <= kRateRounding) {
                EXPECT_GE(trial.train.loss, result.verdict.train.loss);
            }
        }
        EXPECT_EQ(kept, 1u);
    }
}

TEST(Trials, AClassifierThatDecidesEverybodyAlikeIsNotTakenForAFairOne) {
    const auto data = made_up(2000, 12);
    auto params = quick(Reduction::kRandomReweighing, {{fairness::Rate::kApproval, 0, {}}});
    params.spread = 1e6;  // most weights drown all others
    const auto result = train_reduction(data, params, nullptr).value();
    const auto constant = [](const ReductionTrial& trial) {
        return trial.train.values.approval == 0 || trial.train.values.approval == 1;
    };
    EXPECT_TRUE(std::any_of(result.trials.begin(), result.trials.end(), constant));
    for (const auto& trial : result.trials) EXPECT_FALSE(trial.weight > 0 && constant(trial));
    EXPECT_EQ(result.verdict.feasibility, fairgbm::Feasibility::kInfeasible);
}

TEST(Trials, StandAtTheOperatingPointOfTheRowsThatJudge) {
    const auto data = made_up(2000, 13), validation = made_up(1500, 14);
    auto params = quick(Reduction::kGridSearch, kFnr);
    params.fits = 7;
    params.operating_point.meets = fairness::RateTarget{fairness::Rate::kFalsePositive, 0.1};
    const auto result = train_reduction(data, params, nullptr, {.validation = &validation}).value();
    const auto system =
        fairness::RateSystem::create(validation, {{}, {{fairness::Rate::kFalsePositive, 0.1}}})
            .value();
    const auto approved = approve(result.members, validation, nullptr);
    const double fpr = system.values(system.approved(validation, approved)).targets[0];
    EXPECT_LE(fpr, 0.1 + 1e-12);
    EXPECT_GT(fpr, 0.08);
    // and where no row or every row may be approved, too
    for (const double approval : {0.0, 1.0}) {
        params.operating_point.meets = fairness::RateTarget{fairness::Rate::kApproval, approval};
        const auto all = train_reduction(data, params, nullptr).value();
        EXPECT_EQ(all.verdict.train.values.approval, approval);
        EXPECT_LT(std::abs(all.members[0].threshold), 100);
    }
}

// ---- all of them

TEST(TrainReduction, TheVerdictSpeaksOfWhatIsReturned) {
    auto data = made_up(1500, 15), validation = made_up(1200, 16);
    base::Random random(1);
    for (size_t i = 0; i < data.rows(); ++i)
        data.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        auto params = quick(method, kFnr);
        params.fits = 12;
        const auto result =
            train_reduction(data, params, nullptr, {.validation = &validation}).value();
        EXPECT_EQ(result.verdict.judged_on, fairgbm::JudgedOn::kValidation);
        const auto check = [&](const dataset::Dataset& rows, const ReductionJudged& judged) {
            const auto system = fairness::RateSystem::create(rows, params.constraints).value();
            const auto approved = system.approved(rows, approve(result.members, rows, nullptr));
            const auto values = system.values(approved);
            EXPECT_NEAR(values.gaps[0], judged.values.gaps[0], 1e-9);
            EXPECT_NEAR(values.error, judged.values.error, 1e-9);
            EXPECT_NEAR(decision_loss(system, approved, 0.5), judged.loss, 1e-9);
        };
        check(data, result.verdict.train);
        check(validation, *result.verdict.validation);
        EXPECT_EQ(result.verdict.feasibility == fairgbm::Feasibility::kFeasible,
                  result.verdict.validation->values.violation <= kRateRounding);
        double weights = 0;
        for (const auto& trial : result.trials) weights += trial.weight;
        EXPECT_NEAR(weights, 1, 1e-9);
    }
}

TEST(LinkOf, APolicyDecidesAsTheMembersDo) {
    const auto data = made_up(1000, 25);
    const auto policy_of = [&](const std::vector<ReductionMember>& members) {
        return model::Policy::create(data.schema, {link_of(members)}, {}, {}).value();
    };
    const auto agree = [&](const std::vector<ReductionMember>& members) {
        const auto policy = policy_of(members);
        const auto expected = approve(members, data, nullptr);
        std::vector<float> row(data.columns.size());
        for (size_t i = 0; i < data.rows(); ++i) {
            data.copy_row(i, row);
            EXPECT_NEAR(policy.evaluate(row, {}).approve, expected[i], 1e-12) << i;
        }
    };
    auto params = quick(Reduction::kExponentiatedGradient, kFnr);
    auto result = train_reduction(data, params, nullptr).value();
    ASSERT_GT(result.members.size(), 1u);
    agree(result.members);
    const auto link = link_of(result.members);
    for (const auto& member : link.members) EXPECT_LE(member.weight, link.members[0].weight);
    EXPECT_EQ(link.additional_ensembles.size() + 1, result.members.size());

    result.members[1].threshold = 0.4;  // each member has a threshold of its own
    agree(result.members);
    params.method = Reduction::kGridSearch;
    params.operating_point.meets = fairness::RateTarget{fairness::Rate::kFalsePositive, 0.1};
    const auto one = train_reduction(data, params, nullptr).value();
    EXPECT_TRUE(link_of(one.members).members.empty());
    agree(one.members);
}

TEST(TrainReduction, TheNumberOfThreadsDoesNotMatter) {
    const auto data = made_up(20'000, 17), validation = made_up(2000, 18);
    base::ThreadPool two(2);
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        auto params = quick(method, kFnr);
        params.fits = 5;
        params.learner.trees = 10;
        const ReductionOptions options{.validation = &validation};
        const auto a = train_reduction(data, params, nullptr, options).value();
        const auto b = train_reduction(data, params, &two, options).value();
        ASSERT_EQ(a.trials.size(), b.trials.size());
        for (size_t i = 0; i < a.trials.size(); ++i) {
            EXPECT_EQ(a.trials[i].costs, b.trials[i].costs);
            EXPECT_EQ(a.trials[i].weight, b.trials[i].weight);
            EXPECT_EQ(a.trials[i].train.loss, b.trials[i].train.loss);
        }
        EXPECT_EQ(approve(a.members, data, nullptr), approve(b.members, data, &two));
    }
}

TEST(TrainReduction, TolerancesOfNothingAndOfEverything) {
    const auto data = made_up(2000, 19);
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        auto params = quick(method, {{fairness::Rate::kFalseNegative, 1, {}}});
        params.fits = 8;
        const auto anything = train_reduction(data, params, nullptr).value();
        EXPECT_EQ(anything.verdict.feasibility, fairgbm::Feasibility::kFeasible);
        EXPECT_LE(anything.verdict.train.loss, anything.trials.front().train.loss + 1e-9);
    }
    auto params =
        quick(Reduction::kExponentiatedGradient, {{fairness::Rate::kFalseNegative, 0, {}}});
    const auto none = train_reduction(data, params, nullptr).value();
    EXPECT_EQ(none.verdict.feasibility, fairgbm::Feasibility::kFeasible);
    EXPECT_LE(none.verdict.train.values.gaps[0], kRateRounding);
}

TEST(TrainReduction, TellsHowFarItIsAndStopsWhenToldTo) {
    const auto data = made_up(600, 20);
    for (const Reduction method : kAll) {
        SCOPED_TRACE(static_cast<int>(method));
        auto params = quick(method, kFnr);
        params.fits = 9;
        size_t last = 0;
        const auto stopped =
            train_reduction(data, params, nullptr, {.progress = [&](const ReductionProgress& p) {
                                EXPECT_EQ(p.of, 9u);
                                EXPECT_GE(p.fits, last);
                                last = p.fits;
                                return p.fits < 3;
                            }});
        ASSERT_TRUE(stopped);
        EXPECT_EQ(stopped->trials.size(), last);
        EXPECT_LE(last, 4u);
        EXPECT_NEAR(sum_of_weights(*stopped), 1, 1e-9);
    }
}

TEST(TrainReduction, ParametersOutOfRangeAreNamed) {
    const auto data = made_up(200, 21);
    const auto reason = [&](const auto& change) {
        auto params = quick(Reduction::kExponentiatedGradient, kFnr);
        change(params);
        return reason_of(train_reduction(data, params, nullptr));
    };
    const std::string bad = "bad_reduction_parameter";
    EXPECT_EQ(reason([](auto& p) { p.fits = 0; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.fits = ReductionParams::kMaxFits + 1; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.bound = 0; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.gap = -1; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.grid_limit = std::nan(""); }), bad);
    EXPECT_EQ(reason([](auto& p) { p.spread = 0.5; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.min_gain_share = 1.5; }), bad);
    EXPECT_EQ(reason([](auto& p) { p.learner.trees = 0; }), "bad_learner_parameter");
    EXPECT_EQ(reason([](auto& p) { p.learner.early_stopping_rounds = 3; }),
              "early_stopping_of_reductions");
    EXPECT_EQ(reason([](auto& p) { p.constraints.parity[0].tolerance = 2; }), "bad_tolerance");
    EXPECT_EQ(reason([](auto& p) { p.operating_point.threshold = 1; }), "bad_threshold");
    EXPECT_EQ(
        reason([](auto& p) {
            p.operating_point.meets = fairness::RateTarget{fairness::Rate::kFalsePositive, 0.1};
        }),
        "operating_point_of_eg");
}

TEST(TrainReduction, DataThatDoNotFitAreNamed) {
    const auto data = made_up(200, 22);
    const auto params = quick(Reduction::kGridSearch, kFnr);
    const auto without = [](dataset::Dataset rows) {
        for (size_t i = 0; i < rows.rows(); ++i)
            if (rows.group[i] == 0) rows.label[i] = 0;
        return rows;
    };
    const auto lacking = train_reduction(without(data), params, nullptr);
    EXPECT_EQ(reason_of(lacking), "group_without_label");
    EXPECT_THAT(lacking.error().message, testing::HasSubstr("'g0'"));

    const auto judged_by = [&](const dataset::Dataset& validation) {
        return train_reduction(data, params, nullptr, {.validation = &validation});
    };
    EXPECT_EQ(reason_of(judged_by(without(made_up(200, 23)))), "group_without_label");
    EXPECT_THAT(judged_by(without(made_up(200, 23))).error().message,
                testing::HasSubstr("validation"));
    auto other = made_up(200, 23);
    other.group_names = {"g1", "g0"};
    EXPECT_EQ(reason_of(judged_by(other)), "other_validation_schema");
    EXPECT_EQ(reason_of(judged_by(data.subset({}))), "no_rows");

    auto alone = data;
    std::fill(alone.group.begin(), alone.group.end(), 0);
    alone.group_names = {"g0"};
    EXPECT_EQ(reason_of(train_reduction(alone, params, nullptr)), "too_few_groups");
}

TEST(TrainReduction, AnOracleOfOtherRowsIsFoundOut) {
    const auto data = made_up(200, 24), fewer = made_up(100, 24);
    ExactOracle oracle(fewer);
    const auto result =
        train_reduction(data, quick(Reduction::kGridSearch, kFnr), nullptr, {.oracle = &oracle});
    EXPECT_EQ(reason_of(result), "bad_oracle");
}

}  // namespace
}  // namespace rampart::reductions
