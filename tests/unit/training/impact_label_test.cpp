// Candidates that learn the reported impact of an approval, and decide by it.
#include <gmock/gmock.h>

#include "development_set.hpp"
#include "rampart/training/candidate.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using testing::HasSubstr;

constexpr double kDeclined = 5;

/// What an approval is expected to be worth: how likely it is favourable says x0, and whether much
/// or little hangs on it x1.
double expected_impact(std::span<const float> row) {
    const double p = model::sigmoid(1.0 + 1.5 * static_cast<double>(row[0]));
    return row[1] > 0 ? 75 * p - 30 * (1 - p) : 10 * p - 150 * (1 - p);
}

class ImpactLabel : public testing::Test {
  protected:
    ImpactLabel() {
        for (size_t i = 0; i < set_.rows.size(); ++i) {
            auto& row = set_.rows[i];
            if (!row.label) continue;
            const bool much = set_.features_of(i)[1] > 0;
            row.impact = *row.label == 1 ? (much ? 75 : 10) : (much ? -30 : -150);
        }
        impact_.measure = "points";
        impact_.declined = kDeclined;
    }
    Recipe recipe(const std::string& learner, Label label) const {
        Recipe out;
        out.selection = Selection::kNone;  // no gate is known
        out.learner = learner;
        out.options = learning::OptionValues(learning::find_learner(learner).value()->options());
        out.options.set_fallback("trees", int64_t{60});
        if (out.options.has("max_oracle_calls"))
            out.options.set_fallback("max_oracle_calls", int64_t{6});
        if (out.options.has("disparity_tolerance"))
            out.options.set_fallback("disparity_tolerance", std::vector<double>{0.5});
        out.label = label;
        out.allow_infeasible = true;
        return out;
    }
    Candidate make(const Recipe& recipe) const {
        auto made = make_candidate({set_, impact_, bootstrap(set_), "champion", recipe});
        EXPECT_TRUE(made) << made.error().message;
        return std::move(made).value();
    }
    /// Returns the true mean gain over declining all.
    double gain(const Candidate& made) const {
        double sum = 0;
        for (size_t i = 0; i < set_.rows.size(); ++i) {
            const auto row = set_.features_of(i);
            sum += made.policy.evaluate(row, *set_.rows[i].cell).approve *
                   (expected_impact(row) - kDeclined);
        }
        return sum / static_cast<double>(set_.rows.size());
    }
    /// Returns the link's own decision of a row: before exploration and trust region.
    static bool approves(const model::LearnedLink& link, double score) {
        return link.ramp.apply(link.score_slope * score + link.score_intercept, 0) > 0.5;
    }

    training_set::DevelopmentSet set_ = development_set();
    domain::Impact impact_ = test::impact();
};

TEST_F(ImpactLabel, IsWorthMoreThanTheOutcomeWhereMuchHangsOnSomeLoans) {
    for (const char* learner : {"regression-trees", "fair-regression"}) {
        const auto by_impact = make(recipe(learner, Label::kImpact));
        const auto by_outcome = make(recipe(learner, Label::kOutcome));
        EXPECT_GT(gain(by_impact), gain(by_outcome) + 3) << learner;
        EXPECT_EQ(by_impact.figures.at("label"), "impact, -150 to 75 points");
        EXPECT_EQ(by_impact.policy.provenance().at("training.label"), "impact, -150 to 75 points");
        EXPECT_FALSE(by_outcome.figures.contains("label"));
    }
}

TEST_F(ImpactLabel, ALinearModelDoesNotReadARetiredFeature) {
    set_.retired = {false, true};
    auto wanted = recipe("fair-regression", Label::kImpact);
    ASSERT_TRUE(wanted.options.set("oracle", std::string("linear")));
    const auto made = make(wanted);
    const auto& link = *made.policy.last_learned();
    ASSERT_FALSE(link.linears.empty());
    for (const auto& linear : link.linears) EXPECT_EQ(linear.slope[1], 0);
    for (size_t i = 0; i < 50; ++i) {
        auto row = std::vector<float>(set_.features_of(i).begin(), set_.features_of(i).end());
        const auto cell = *set_.rows[i].cell;
        const double with = made.policy.evaluate(row, cell).approve;
        row[1] = std::nanf("");
        ASSERT_EQ(made.policy.evaluate(row, cell).approve, with);
    }
}

TEST_F(ImpactLabel, DecidesWhereAnApprovalIsPredictedToBeWorthADecline) {
    const auto threshold_of = [&](const Recipe& wanted) {
        const auto made = make(wanted);
        const auto& link = std::get<model::LearnedLink>(made.policy.links().back());
        double lo = 0, hi = 1;
        for (int i = 0; i < 50; ++i) (approves(link, (lo + hi) / 2) ? hi : lo) = (lo + hi) / 2;
        return -150 + 225 * hi;  // in points
    };
    auto wanted = recipe("regression-trees", Label::kImpact);
    EXPECT_NEAR(threshold_of(wanted), kDeclined, 1e-6);
    ASSERT_TRUE(wanted.options.set("approve_at_least", 20.0));
    EXPECT_NEAR(threshold_of(wanted), 20, 1e-6);
    // the score is the predicted impact: of rows alike, near the mean
    const auto made = make(recipe("regression-trees", Label::kImpact));
    double error = 0, size = 0;
    for (size_t i = 0; i < set_.rows.size(); ++i) {
        const auto row = set_.features_of(i);
        const double predicted = -150 + 225 * made.policy.evaluate(row, std::nullopt).score;
        error += std::pow(predicted - expected_impact(row), 2);
        size += std::pow(expected_impact(row), 2);
    }
    EXPECT_LT(error, 0.15 * size);
}

TEST_F(ImpactLabel, RowsWithoutAnImpactAreLeftOutAndCounted) {
    size_t dropped = 0;
    for (auto& row : set_.rows) {
        if (!row.impact || dropped == 100) continue;
        row.impact.reset();
        ++dropped;
    }
    const auto made = make(recipe("regression-trees", Label::kImpact));
    EXPECT_EQ(made.figures.at("rows_without_impact"), "100");
    const auto others = make(recipe("regression-trees", Label::kOutcome));
    EXPECT_EQ(std::stoul(others.figures.at("rows")), std::stoul(made.figures.at("rows")) + 100);
    EXPECT_FALSE(others.figures.contains("rows_without_impact"));
}

TEST_F(ImpactLabel, NoLossWhoseScoreIsNoImpactIsTaken) {
    auto wanted = recipe("regression-trees", Label::kImpact);
    for (const char* loss : {"logistic", "poisson"}) {
        ASSERT_TRUE(wanted.options.set("loss", loss));
        EXPECT_EQ(validate(wanted).error().reason, "cannot_learn") << loss;
    }
    ASSERT_TRUE(wanted.options.set("loss", "tweedie"));  // impacts below 0 are no amounts
    const RowsToCome rows{
        .features = set_.schema, .numeric = true, .label_lo = -150, .label_hi = 75};
    EXPECT_THAT(find_misfit(wanted, rows)->error.message, HasSubstr("amounts from 0 on"));
    EXPECT_EQ(find_fault(recipe("gbdt", Label::kImpact))->key, "label");
}

}  // namespace
}  // namespace rampart::training
