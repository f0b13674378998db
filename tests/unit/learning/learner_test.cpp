#include "rampart/learning/learner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <set>

#include "rampart/budro/audit.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/model/model_file.hpp"
#include "support/grouped_data.hpp"

namespace rampart::learning {
namespace {

using support::made_up;
using testing::HasSubstr;

/// Few trees, and few calls where a learner is asked often.
OptionValues quick(const Learner& learner) {
    OptionValues values(learner.options());
    EXPECT_TRUE(values.set("trees", int64_t{20}));
    EXPECT_TRUE(values.set("leaves", int64_t{6}));
    for (const auto& [name, value] : std::map<std::string, OptionValue>{
             {"fits", int64_t{8}}, {"max_oracle_calls", int64_t{8}}, {"tolerance", 0.1}}) {
        if (values.has(name)) {
            EXPECT_TRUE(values.set(name, value));
        }
    }
    return values;
}

model::Policy policy_of(const Learned& learned, const dataset::Dataset& data) {
    return model::Policy::create(data.schema, {learned.link}, {}, {}, learned.state).value();
}

double mean_approval(const model::Policy& policy, const dataset::Dataset& data) {
    std::vector<float> row(data.schema.size());
    double sum = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        sum += policy.evaluate(row, std::nullopt).approve;
    }
    return sum / static_cast<double>(data.rows());
}

class EveryLearner : public testing::TestWithParam<const Learner*> {};

TEST_P(EveryLearner, GivesAPolicyThatDecidesAndIsTheSameForAnyNumberOfThreads) {
    const auto& learner = *GetParam();
    const auto data = made_up(1500, 1), held = made_up(500, 2);
    const auto values = quick(learner);
    const auto learned = fit(learner, {.train = data, .validation = &held, .seed = 3}, values);
    ASSERT_TRUE(learned) << learned.error().message;
    const auto policy = policy_of(*learned, data);
    const double approved = mean_approval(policy, data);
    EXPECT_GT(approved, 0.02);
    EXPECT_LT(approved, 0.98);
    EXPECT_GT(learned->link.trees(), 0u);
    EXPECT_THAT(learned->figures, HasSubstr("\"trees\":"));
    EXPECT_EQ(learned->missed.empty(), learned->state.constraints_missed.empty());
    const auto output = learner.capabilities(values).output;
    EXPECT_EQ(output == Output::kDrawnScore, policy.draws_score());
    base::ThreadPool pool(2);
    const auto again =
        fit(learner, {.train = data, .validation = &held, .seed = 3, .pool = &pool}, values);
    ASSERT_TRUE(again);
    EXPECT_EQ(model::encode_model_file(policy), model::encode_model_file(policy_of(*again, data)));
}

TEST_P(EveryLearner, CountsTheWeightsOfRows) {
    const auto& learner = *GetParam();
    auto data = made_up(1200, 1);
    const auto values = quick(learner);
    const auto plain = fit(learner, {.train = data}, values);
    for (size_t i = 0; i < data.rows(); ++i)
        data.weight.push_back(data.label[i] == 1 ? 4.0f : 1.0f);
    const auto weighted = fit(learner, {.train = data}, values);
    ASSERT_TRUE(plain && weighted);
    EXPECT_GT(mean_approval(policy_of(*weighted, data), data),
              mean_approval(policy_of(*plain, data), data) + 0.02);
}

TEST_P(EveryLearner, KeepsAFeatureMonotoneOrRefuses) {
    const auto& learner = *GetParam();
    const auto data = made_up(1200, 1);
    auto values = quick(learner);
    size_t feature = 0;
    while (data.schema.features()[feature].kind != dataset::FeatureKind::kNumeric) ++feature;
    const auto name = data.schema.features()[feature].name;
    ASSERT_TRUE(values.set("monotone", name + "=decreasing"));
    const auto learned = fit(learner, {.train = data}, values);
    ASSERT_TRUE(learned) << learned.error().message;
    const auto policy = policy_of(*learned, data);
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < 50; ++i) {
        data.copy_row(i, row);
        double last = 2;
        for (float x = -5; x <= 5; x += 0.25f) {
            row[feature] = x;
            const double approve = policy.evaluate(row, std::nullopt).approve;
            EXPECT_LE(approve, last + 1e-12);
            last = approve;
        }
    }
    ASSERT_TRUE(values.set("monotone", "nosuch=increasing"));
    EXPECT_EQ(fit(learner, {.train = data}, values).error().reason, "bad_monotone");
}

TEST_P(EveryLearner, StopsWhenAskedTo) {
    const auto data = made_up(600, 1);
    const auto stopped =
        fit(*GetParam(), {.train = data, .progress = [](const Progress&) { return false; }},
            quick(*GetParam()));
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().reason, "training_stopped");
}

TEST_P(EveryLearner, DeclaresItsOptionsAndChecksThemWithoutData) {
    const auto& learner = *GetParam();
    const auto options = learner.options();
    std::set<std::string_view> names;
    for (const auto& option : options) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        EXPECT_FALSE(option.help.empty()) << option.name;
        OptionValues values(options);
        EXPECT_TRUE(values.set(option.name, option.fallback)) << "the fallback of " << option.name;
    }
    EXPECT_TRUE(learner.check(OptionValues(options)));
    EXPECT_FALSE(learner.summary().empty());
    if (names.contains("constraints")) {
        OptionValues values(options);
        ASSERT_TRUE(values.set("constraints", "nonsense"));
        const auto status = learner.check(values);
        ASSERT_FALSE(status);
        EXPECT_THAT(status.error().message, HasSubstr("nonsense"));
    }
}

TEST_P(EveryLearner, RefusesWhatItCannotLearn) {
    const auto& learner = *GetParam();
    const auto values = quick(learner);
    auto data = made_up(300, 1);
    data.group.clear();
    data.group_names.clear();
    const auto can = learner.capabilities(values);
    const auto without_groups = fit(learner, {.train = data}, values);
    EXPECT_EQ(without_groups.has_value(), !can.groups && !can.attributes);
    if (!without_groups) {
        EXPECT_EQ(without_groups.error().reason, "no_protected_attributes");
    }
    auto numeric = made_up(300, 1);
    for (const auto y : numeric.label) numeric.target.push_back(y);
    numeric.label.clear();
    const auto numbers = fit(learner, {.train = numeric}, values);
    EXPECT_EQ(numbers.has_value(), can.numbers);
    if (!numbers) {
        EXPECT_EQ(numbers.error().reason, "cannot_learn");
    }
    const auto small = made_up(300, 1).subset({});
    EXPECT_FALSE(fit(learner, {.train = small}, values));
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner,
                         testing::ValuesIn(learners().begin(), learners().end()),
                         [](const auto& one) {
                             std::string name(one.param->name());
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

/// Learners that can go on from a model end where a run in one piece ends; the others refuse.
TEST_P(EveryLearner, GoesOnFromAModelOrRefuses) {
    const auto& learner = *GetParam();
    const auto data = made_up(1200, 1);
    auto values = quick(learner);
    if (!learner.capabilities(values).resume) {
        const auto& gbdt = *find_learner("gbdt").value();
        const auto start = policy_of(fit(gbdt, {.train = data}, quick(gbdt)).value(), data);
        const auto more = fit(learner, {.train = data, .start = &start}, values);
        ASSERT_FALSE(more);
        EXPECT_EQ(more.error().reason, "cannot_learn");
        return;
    }
    if (values.has("output")) {
        ASSERT_TRUE(values.set("output", "last"));
    }
    const auto whole = fit(learner, {.train = data, .seed = 3}, values).value();
    auto few = values;
    ASSERT_TRUE(few.set("trees", int64_t{8}));
    const auto half = policy_of(fit(learner, {.train = data, .seed = 3}, few).value(), data);
    const auto more = fit(learner, {.train = data, .seed = 3, .start = &half}, values);
    ASSERT_TRUE(more) << more.error().message;
    EXPECT_EQ(model::encode_model_file(policy_of(*more, data)),
              model::encode_model_file(policy_of(whole, data)));
}

TEST(Learners, GoOnOnlyFromWhatHasTheirTreesAndFeatures) {
    const auto data = made_up(600, 1);
    const auto refusal = [&](const char* learner, const model::Policy& start) {
        const auto& chosen = *find_learner(learner).value();
        return fit(chosen, {.train = data, .start = &start}, quick(chosen)).error();
    };
    const auto of = [&](const char* learner) {
        const auto& chosen = *find_learner(learner).value();
        return policy_of(fit(chosen, {.train = data}, quick(chosen)).value(), data);
    };
    EXPECT_THAT(refusal("fairgbm", of("gbdt")).message, HasSubstr("no multipliers of FairGBM"));
    EXPECT_THAT(refusal("gbdt", of("fair-regression")).message,
                testing::AnyOf(HasSubstr("of fair regression"), HasSubstr("several ensembles")));
    const auto bootstrap =
        model::Policy::create(data.schema, {model::BootstrapLink{"x1", {{0, 0.5}}, 0.5}}, {}, {});
    EXPECT_THAT(refusal("gbdt", *bootstrap).message, HasSubstr("holds no trees"));
    auto other = data;
    other.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"y2", {}, {}}});
    const auto& gbdt = *find_learner("gbdt").value();
    const auto elsewhere = policy_of(fit(gbdt, {.train = other}, quick(gbdt)).value(), other);
    const auto error = refusal("gbdt", elsewhere);
    EXPECT_EQ(error.reason, "cannot_resume");
    EXPECT_THAT(error.message, HasSubstr("other features"));
}

TEST(Learners, AreFoundByName) {
    for (const auto* learner : learners())
        EXPECT_EQ(find_learner(learner->name()).value(), learner);
    const auto unknown = find_learner("forest");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("'forest'; there are gbdt, fairgbm, eg"));
}

TEST(FairGbmLearner, KeepsItsConstraintAtTheThresholdThatItIsGiven) {
    const auto data = made_up(3000, 1);
    const auto* learner = find_learner("fairgbm").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("trees", int64_t{80}));
    ASSERT_TRUE(values.set("threshold", 0.65));
    ASSERT_TRUE(values.set("tolerance", 0.03));
    const auto learned = fit(*learner, {.train = data}, values).value();
    EXPECT_TRUE(learned.missed.empty()) << learned.missed;
    EXPECT_NEAR(learned.link.ramp.thresholds.front(), 2 * 0.65 - 1, 1e-9);
    ASSERT_TRUE(values.set("tolerance", 0.0));
    ASSERT_TRUE(values.set("multiplier_step", 1e-6));
    const auto missed = fit(*learner, {.train = data}, values).value();
    EXPECT_THAT(missed.missed, HasSubstr("fnr differs by"));
    EXPECT_FALSE(missed.state.constraints_missed.empty());
}

TEST(FairGbmLearner, TheRandomizedClassifierDrawsAmongIterates) {
    const auto data = made_up(2000, 1);
    const auto* learner = find_learner("fairgbm").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("output", "randomized"));
    EXPECT_EQ(learner->capabilities(values).output, Output::kDecision);
    const auto learned = fit(*learner, {.train = data}, values).value();
    EXPECT_GT(learned.link.members.size(), 1u);
}

TEST(FairRegressionLearner, TheThresholdIsAProbabilityUnderEveryLoss) {
    const auto data = made_up(2500, 1);
    const auto* learner = find_learner("fair-regression").value();
    const auto approval = [&](const char* loss, double threshold) {
        auto values = quick(*learner);
        EXPECT_TRUE(values.set("loss", loss));
        EXPECT_TRUE(values.set("threshold", threshold));
        EXPECT_TRUE(values.set("disparity_tolerance", 1.0));
        const auto learned = fit(*learner, {.train = data}, values);
        EXPECT_TRUE(learned) << (learned ? "" : learned.error().message);
        return mean_approval(policy_of(*learned, data), data);
    };
    for (const double threshold : {0.4, 0.6})
        EXPECT_NEAR(approval("logistic", threshold), approval("squared", threshold), 0.08)
            << threshold;
}

/// Labels are 2 + 3 x1 with an error of a known distribution: scores lie at its mean or quantile.
TEST(RegressionTreesLearner, LearnsWhatEachLossStandsFor) {
    auto data = made_up(4000, 1);
    base::Random random(5);
    for (size_t i = 0; i < data.rows(); ++i)
        data.target.push_back(2 + std::pow(random.uniform(), 2));  // mean 1/3, quantiles q^2
    data.label.clear();
    const auto* learner = find_learner("regression-trees").value();
    const auto mean_score = [&](const char* loss, std::optional<double> parameter) {
        auto values = quick(*learner);
        EXPECT_TRUE(values.set("loss", loss));
        EXPECT_TRUE(values.set("learning_rate", 0.2));
        if (parameter) {
            EXPECT_TRUE(values.set("loss_parameter", *parameter));
        }
        const auto learned =
            fit(*learner, {.train = data, .label_lo = 2, .label_hi = 3}, values).value();
        EXPECT_TRUE(learned.state.regression_loss);
        const auto policy = policy_of(learned, data);
        std::vector<float> row(data.schema.size());
        double sum = 0;
        for (size_t i = 0; i < data.rows(); ++i) {
            data.copy_row(i, row);
            sum += policy.evaluate(row, std::nullopt).score;
        }
        return sum / static_cast<double>(data.rows());
    };
    EXPECT_NEAR(mean_score("squared", {}), 1 / 3.0, 0.01);
    EXPECT_NEAR(mean_score("absolute", {}), 0.25, 0.02);
    EXPECT_NEAR(mean_score("quantile", 0.9), 0.81, 0.03);
    EXPECT_NEAR(mean_score("huber", 1.0), 1 / 3.0, 0.02) << "no error is past the width";
    const double huber = mean_score("huber", 0.01);
    EXPECT_NEAR(huber, 0.25, 0.03) << "nearly the median";
    // u stands for the mean sigmoid(5 (2u - 1)), or exp(5 (u - 1))
    EXPECT_NEAR(mean_score("logistic", {}), 0.5 + std::log(0.5) / 10, 0.01);
    EXPECT_NEAR(mean_score("poisson", {}), 1 + std::log(1 / 3.0) / 5, 0.01);
}

TEST(RegressionTreesLearner, AmountsThatAreOftenZeroAreLearntByTheTweedieLoss) {
    auto data = made_up(900, 1);
    base::Random random(5);
    for (size_t i = 0; i < data.rows(); ++i)
        data.target.push_back(random.uniform() < 0.7 ? 0 : 200 * random.uniform());
    data.label.clear();
    const auto* learner = find_learner("regression-trees").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("loss", "tweedie"));
    ASSERT_TRUE(values.set("variance_power", 1.3));
    ASSERT_TRUE(values.set("approve_at_most", 30.0));
    EXPECT_TRUE(learner->check_labels(values, {true, 0, 200}));
    EXPECT_THAT(learner->check_labels(values, {true, 30, 200}).error().message,
                HasSubstr("amounts from 0 on"));
    const Task task{.train = data, .label_lo = 0, .label_hi = 200};
    const auto learned = fit(*learner, task, values).value();
    EXPECT_EQ(learned.state.regression_loss,
              (model::StoredLoss{model::RegressionLossKind::kTweedie, 1.3}));
    const auto figures = boost::json::parse(learned.figures).as_object();
    EXPECT_NEAR(figures.at("training_mean_error").as_double(), 0, 1);
    // decided by the mean, in the label's units; the deviance, too, is that of amounts
    const auto policy = policy_of(learned, data);
    std::vector<float> row(data.schema.size());
    double deviance = 0, declined = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        const auto out = policy.evaluate(row, std::nullopt);
        const double y = data.target[i], m = 200 * std::exp(15 * (out.score - 1));
        EXPECT_EQ(out.approve, m <= 30 ? 1 : 0) << m;
        declined += 1 - out.approve;
        deviance += 2 * (std::pow(y, 0.7) / (-0.3 * 0.7) + y * std::pow(m, -0.3) / 0.3 +
                         std::pow(m, 0.7) / 0.7);
    }
    EXPECT_GT(declined, 0);
    EXPECT_LT(declined, 900);
    EXPECT_NEAR(figures.at("training_deviance").as_double(), deviance / 900, 1e-6 * deviance);
    EXPECT_THAT(learned.report, HasSubstr("deviance"));
    const auto* fair = find_learner("fair-regression").value();
    EXPECT_FALSE(quick(*fair).set("loss", "tweedie"));
}

TEST(RegressionTreesLearner, AQuantileOfTwoValuesIsRefused) {
    const auto data = made_up(300, 1);
    const auto* learner = find_learner("regression-trees").value();
    for (const auto& [loss, learns] :
         {std::pair("squared", true), std::pair("logistic", true), std::pair("poisson", true),
          std::pair("tweedie", true), std::pair("absolute", false), std::pair("quantile", false),
          std::pair("huber", false)}) {
        auto values = quick(*learner);
        ASSERT_TRUE(values.set("loss", loss));
        EXPECT_EQ(fit(*learner, {.train = data}, values).has_value(), learns) << loss;
    }
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("approve_at_least", 0.2));
    ASSERT_TRUE(values.set("approve_at_most", 0.4));
    EXPECT_EQ(learner->check(values).error().reason, "bad_option");
    ASSERT_TRUE(values.set("approve_at_most", std::vector<double>()));
    EXPECT_TRUE(learner->check(values));
    EXPECT_TRUE(learner->check_labels(values, {}));
    EXPECT_THAT(learner->check_labels(values, {true, 2, 3}).error().message,
                HasSubstr("between 2 and 3"));
}

TEST(FairRegressionLearner, ABoundThatCannotBeKeptIsProvenImpossible) {
    const auto data = made_up(600, 1);
    const auto* learner = find_learner("fair-regression").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("notion", "bounded_group_loss"));
    EXPECT_EQ(learner->check(values).error().reason, "bad_option") << "zeta is missing";
    ASSERT_TRUE(values.set("zeta", 1e-6));
    EXPECT_EQ(fit(*learner, {.train = data}, values).error().reason, "proven_impossible");
    const auto found = try_fit(*learner, {.train = data}, values).value();
    ASSERT_TRUE(found.no_model);
    EXPECT_EQ(found.no_model->reason, "proven_impossible");
    EXPECT_THAT(found.figures, HasSubstr("\"multipliers\""));
    EXPECT_THAT(found.report, HasSubstr("no mixture keeps the bounds"));
    ASSERT_TRUE(values.set("zeta", 0.2));
    EXPECT_TRUE(fit(*learner, {.train = data}, values));
    ASSERT_TRUE(values.set("oracle", "linear"));
    ASSERT_TRUE(values.set("monotone", "x1=increasing"));
    EXPECT_EQ(fit(*learner, {.train = data}, values).error().reason, "cannot_learn");
}

/// Returns how much the log loss grows when rows are replaced by similar ones.
double performance_gap(const Learned& learned, const dataset::Dataset& data,
                       const std::string& metric, double epsilon) {
    const auto points = budro::FairMetric::decode(metric).value().embed(data).value();
    const auto policy = policy_of(learned, data);
    std::vector<float> row(data.schema.size());
    std::vector<double> scores;
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        scores.push_back(policy.evaluate(row, std::nullopt).score);
    }
    budro::IndividualAuditParams params;
    params.transport.epsilon = epsilon;
    return budro::audit_individual({&points, data.label, scores, {}}, params, nullptr)
        .value()
        .performance_gap();
}

TEST(BudroLearner, IsIndividuallyFairerThanPlainTreesAndKeepsRatesWhereAsked) {
    const auto data = made_up(1500, 1);
    const auto* learner = find_learner("budro").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("learning_rate", 0.005));
    ASSERT_TRUE(values.set("trees", int64_t{60}));
    ASSERT_TRUE(values.set("epsilon", 0.01));
    const auto fair = fit(*learner, {.train = data}, values).value();
    const auto& metric = fair.state.fair_metric;
    const auto* trees = find_learner("gbdt").value();
    auto same = quick(*trees);
    ASSERT_TRUE(same.set("learning_rate", 0.005));
    ASSERT_TRUE(same.set("trees", int64_t{60}));
    const auto plain = fit(*trees, {.train = data}, same).value();
    EXPECT_LT(performance_gap(fair, data, metric, 0.01),
              0.5 * performance_gap(plain, data, metric, 0.01));
    auto few = values;
    ASSERT_TRUE(few.set("operate_at", "statistical_parity<=0.2"));
    const auto strict = fit(*learner, {.train = data}, few).value();
    EXPECT_LE(mean_approval(policy_of(strict, data), data), 0.2);
    EXPECT_GT(mean_approval(policy_of(strict, data), data), 0.1);
    ASSERT_TRUE(values.set("constraints", "fnr"));
    EXPECT_TRUE(learner->capabilities(values).groups);
    EXPECT_TRUE(fit(*learner, {.train = data}, values));
}

/// The audit is a condition on the persons who judge, of any decisions by the model's metric.
TEST(BudroLearner, TheAuditOfDecisionsIsAConditionWhereItIsBounded) {
    const auto data = made_up(1200, 1);
    const auto* learner = find_learner("budro").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("trees", int64_t{20}));
    EXPECT_FALSE(learner->capabilities(values).constrained);
    const auto made = fit(*learner, {.train = data}, values).value();
    const auto& metric = made.state.fair_metric;
    const std::vector<double> alike(data.rows(), 0.7);  // answers that are all the same
    std::vector<double> apart;                          // … and that follow the group
    for (const auto group : data.group) apart.push_back(group == 0 ? 1 : 0);
    const auto same = learner->measure({data, alike, metric}, values).value();
    EXPECT_NEAR(same.most, 0, 1e-9);
    EXPECT_THAT(same.text, HasSubstr("computed, without confidence"));
    const auto other = learner->measure({data, apart, metric}, values).value();
    EXPECT_GT(other.most, 0.2);
    EXPECT_LE(other.beyond, 0) << "nothing is asked";
    // an audit that fails says so; nothing is asked of it
    const std::vector<double> wrong(data.rows(), 1.5);
    const auto failed = learner->measure({data, wrong, metric}, values).value();
    EXPECT_TRUE(failed.text.empty());
    EXPECT_LE(failed.beyond, 0);
    EXPECT_THAT(failed.not_measured, HasSubstr("individual audit: row 0: the model's answer is 1"));
    EXPECT_FALSE(learner->measure({data, apart}, values)->not_measured.empty()) << "no metric";
    EXPECT_EQ(other.not_measured, "");

    ASSERT_TRUE(values.set("gap_at_most", 0.0));
    EXPECT_TRUE(learner->capabilities(values).constrained);
    EXPECT_NEAR(learner->measure({data, apart, metric}, values)->beyond, other.most, 1e-12);
    EXPECT_EQ(learner->measure({data, wrong, metric}, values).error().reason, "bad_answer");
    EXPECT_FALSE(learner->measure({data, apart}, values)) << "no metric";
    const auto missed = fit(*learner, {.train = data}, values).value();
    EXPECT_GT(missed.excess, 0);
    EXPECT_THAT(missed.missed, HasSubstr("`gap_at_most` is 0"));
    EXPECT_THAT(missed.state.constraints_missed, HasSubstr("0 is allowed"));
    ASSERT_TRUE(values.set("gap_at_most", 0.999));
    EXPECT_EQ(fit(*learner, {.train = data}, values)->excess, 0);
}

TEST(OperatingPoint, HoldsOfScoresThatAreDrawnAndOfNumbers) {
    auto data = made_up(2500, 1);
    const auto share = [&](const char* name, const char* point, const Task& task, int label = -1) {
        const auto* learner = find_learner(name).value();
        auto values = quick(*learner);
        EXPECT_TRUE(values.set("operate_at", point));
        const auto learned = fit(*learner, task, values);
        EXPECT_TRUE(learned) << (learned ? "" : learned.error().message);
        const auto policy = policy_of(*learned, data);
        std::vector<float> row(data.schema.size());
        double approved = 0, all = 0;
        for (size_t i = 0; i < data.rows(); ++i) {
            if (label >= 0 && data.label[i] != label) continue;
            data.copy_row(i, row);
            all += data.weight_of(i);
            approved += data.weight_of(i) * policy.evaluate(row, std::nullopt).approve;
        }
        return approved / all;
    };
    for (const char* name : {"fair-regression", "regression-trees"}) {
        for (const double bound : {0.3, 0.7}) {  // levels are approved as a whole
            const auto approved =
                share(name, fmt::format("approve={}", bound).c_str(), {.train = data});
            EXPECT_LE(approved, bound + 1e-6) << name;
            EXPECT_GT(approved, bound - 0.12) << name;
        }
        EXPECT_LE(share(name, "fpr<=0.2", {.train = data}, 0), 0.2 + 1e-6) << name;
        EXPECT_GE(share(name, "fnr<=0.2", {.train = data}, 1), 0.8 - 1e-6) << name;
    }
    for (const uint8_t label : data.label) data.target.push_back(label == 1 ? 4.0 : -1.0);
    data.label.clear();
    const Task numbers{.train = data, .label_lo = -1, .label_hi = 4};
    EXPECT_NEAR(share("regression-trees", "approve=0.4", numbers), 0.4, 0.05);
    const auto* learner = find_learner("regression-trees").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("operate_at", "fpr<=0.2"));
    const auto refused = fit(*learner, numbers, values);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("labels are numbers"));
    EXPECT_FALSE(learner->check_labels(values, {true, -1, 4})) << "said before there is any data";
    EXPECT_THAT(learner->check_labels(values, {true, 0, 1}).error().message,
                HasSubstr("`operate_at` is 'fpr<=0.2', and labels are numbers"))
        << "whatever their range";
    EXPECT_TRUE(learner->check_labels(values, {}));
    ASSERT_TRUE(values.set("operate_at", "fast"));
    EXPECT_THAT(learner->check(values).error().message, HasSubstr("approve=0.7"));
}

TEST(OperatingPoint, ThatNobodyWouldKeepIsAnError) {
    auto data = made_up(400, 3);
    for (auto& column : data.columns) std::fill(column.begin(), column.end(), 1.0F);  // alike
    const auto* learner = find_learner("gbdt").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("operate_at", "bad_rate<=0.1"));
    const auto made = fit(*learner, {.train = data}, values);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, "nothing_approved") << made.error().message;
    ASSERT_TRUE(values.set("operate_at", "approve=1"));
    const auto all = fit(*learner, {.train = data}, values);
    ASSERT_TRUE(all);
    EXPECT_EQ(mean_approval(policy_of(*all, data), data), 1);
}

}  // namespace
}  // namespace rampart::learning
