#include "rampart/retraining/training_window.hpp"

#include <gmock/gmock.h>

#include <map>

#include "loop_over_loans.hpp"
#include "rampart/retraining/reasons.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::retraining {
namespace {

using support::day;
using testing::HasSubstr;
using testing::StartsWith;
using training_set::Omission;

TEST(TrainingWindow, IsLongerThanItsDecisionsTakeToMature) {
    const auto product = support::two_measure_product();  // a month
    EXPECT_TRUE(validate({.months = 0}, product));
    EXPECT_TRUE(validate({.months = 2}, product));
    const auto refused = validate({.months = 1}, product);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(Reason::kWindowTooShort));
    EXPECT_THAT(refused.error().message, HasSubstr("window_months = 1"));
}

TEST(TrainingWindow, CountsTheGraceOfLabelAndImpactThatDecisionsWaitFor) {
    auto product = support::two_measure_product();
    const auto shortest = [&] {
        int months = 1;
        while (!validate({.months = months}, product)) ++months;
        return months;
    };
    product.label.grace = base::Duration::days(27);
    EXPECT_EQ(shortest(), 2) << "a month, and less than the shortest one";
    product.label.grace = base::Duration::days(28);
    EXPECT_EQ(shortest(), 3) << "in February nothing would have matured";
    product.label.grace = base::Duration::days(90);
    EXPECT_EQ(shortest(), 5);
    EXPECT_THAT(validate({.months = 4}, product).error().message,
                HasSubstr("window_months = 4: label and impact"));
    EXPECT_THAT(validate({.months = 4}, product).error().message, HasSubstr("give 5 or more"));
    product.measures = {{"score", -150, 75, 12, base::Duration::days(1)}};
    EXPECT_EQ(shortest(), 5) << "a measure that is not the impact is not waited for";
    product.impact.measure = "score";
    EXPECT_EQ(shortest(), 13);
    product.label.grace = base::Duration::days(100'000);
    EXPECT_THAT(validate({.months = 1200}, product).error().message, HasSubstr("give 0, for all"));
}

TEST(TrainingWindow, IsDescribedInARunsRecord) {
    EXPECT_EQ(describe_extent({{}, 7, 7, {}}), "7 of 7");
    EXPECT_EQ(describe_extent({day(1), 70, 7, 3}),
              "7 of 70 since 1970-01-02T00:00:00Z, of a sample of persons (seed 3)");
    training_set::DevelopmentSet set;
    set.extent = {{}, 7, 7, {}};
    EXPECT_EQ(describe_rows(set), "7 of 7");
    set.unexplained = {2, "why"};
    EXPECT_EQ(describe_rows(set),
              "7 of 7; 2 decisions, of either side, are of another schema file and set aside; "
              "the node's log has why");
}

/// Decisions from day 31 to 55, runs at day 150.
class WindowedLoop : public test::LoopOverLoans {
  protected:
    WindowedLoop() {
        training::Recipe recipe;
        recipe.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
        recipe.options.set_fallback("trees", int64_t{12});
        recipe.options.set_fallback("early_stopping_rounds", int64_t{0});
        settings_.recipes = {recipe};
    }
    std::unique_ptr<TrainingLoop> loop() {
        return TrainingLoop::open(node_.folder() / "trainer", settings_,
                                  {node_.product,
                                   *node_.joiner,
                                   *node_.builder,
                                   *node_.registry,
                                   key_,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {}})
            .value();
    }
    void expect_nothing_changed() {
        EXPECT_EQ(node_.registry->champion()->policy, champion_);
        EXPECT_TRUE(node_.registry->ledger_entries().value().empty()) << "nothing was charged";
    }
};

TEST_F(WindowedLoop, ARunReadsAsManyRowsAsItMayAndSaysWhich) {
    settings_.window = {.months = 4, .max_rows = 400, .seed = 5};
    const auto made = run();
    ASSERT_FALSE(made.candidate.empty()) << made.message;
    const auto all = node_.builder->development_rows(day(test::kNow)).value();
    EXPECT_EQ(made.figures.at(kRowsRead),
              fmt::format("400 of {} since 1970-01-31T00:00:00Z, of a sample of persons (seed 5)",
                          all.rows.size()));
    const auto again = read_window(*node_.builder, day(test::kNow), settings_.window).value();
    const auto model = node_.registry->load_model(domain::PolicyId(made.candidate)).value();
    EXPECT_EQ(model.policy.provenance().at("development_set"), again.digest.hex());
    EXPECT_NE(again.digest, all.digest);
    settings_.window.max_rows = 2000;
    EXPECT_EQ(run().figures.at(kRowsRead),
              fmt::format("{} of {} since 1970-01-31T00:00:00Z", all.rows.size(), all.rows.size()));
}

TEST_F(WindowedLoop, ASampleOfManyExamplesIsNotTooFew) {
    settings_.window = {.max_rows = 400, .seed = 5};
    const auto read = read_window(*node_.builder, day(test::kNow), settings_.window).value();
    const auto labelled = std::count_if(read.rows.begin(), read.rows.end(),
                                        [](const auto& row) { return row.is_training_example(); });
    const auto on_side = static_cast<double>(labelled) / read.extent.share();
    settings_.schedule.min_examples = static_cast<int>(on_side) - 1;
    ASSERT_GT(settings_.schedule.min_examples, labelled + 1);
    EXPECT_NE(run().reason, "too_few_examples");
    settings_.schedule.min_examples = static_cast<int>(on_side) + 2;
    EXPECT_EQ(run().reason, "too_few_examples");
}

/// Day 150 is the last of May; all decisions are of February.
TEST_F(WindowedLoop, AnEmptyWindowIsSkippedAndPromotesNothing) {
    settings_.window.months = 2;
    settings_.schedule.min_examples = 0;
    const auto skipped = run();
    EXPECT_EQ(skipped.verdict, certification::Verdict::kRefused);
    EXPECT_FALSE(skipped.reason.empty());
    EXPECT_EQ(skipped.figures.at(kRowsRead), "0 of 0 since 1970-03-31T00:00:00Z");
    expect_nothing_changed();
    settings_.schedule.min_examples = 50;
    const auto early = run();
    EXPECT_EQ(early.reason, "too_few_examples");
    EXPECT_THAT(early.message, HasSubstr("decisions read: 0 of 0 since 1970-03-31"));
    expect_nothing_changed();
    // a candidate that would be certified
    settings_.window.months = 0;
    const auto good = run();
    ASSERT_EQ(good.verdict, certification::Verdict::kCertified) << good.message;
}

/// What people propose, and what they submit by its id, is refused, too.
TEST_F(WindowedLoop, AnEmptyWindowRefusesACandidateOfOthers) {
    settings_.window.months = 2;
    const model::BootstrapLink link{"income", {{9, 0.3}, {10, 0.7}}, 0.5};
    const auto policy = model::Policy::create(support::SmallNode::schema(), {link}, {}, {}).value();
    const auto id =
        node_.registry->register_model(model::encode_model_file(policy), day(100), "test").value();
    const auto answer = loop()->certify(id, day(test::kNow)).value();
    EXPECT_EQ(answer.verdict, certification::Verdict::kRefused) << answer.message;
    expect_nothing_changed();
}

TEST_F(WindowedLoop, WindowsTooShortAreRefusedAtTheStart) {
    settings_.window.months = 1;
    const auto opened = TrainingLoop::open(node_.folder() / "trainer", settings_,
                                           {node_.product,
                                            *node_.joiner,
                                            *node_.builder,
                                            *node_.registry,
                                            key_,
                                            "a secret of 16 bytes",
                                            nullptr,
                                            {}});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().reason, "window_too_short");
}

/// The gate's window, which the certificate names: what is read of the vault with it is what is
/// left of all that is read without.
TEST_F(WindowedLoop, TheVaultReadFromATimeOnIsTheWholeOneWithoutWhatIsOlder) {
    const auto whole = node_.builder->vault_rows(day(test::kNow)).value();
    for (const auto from :
         {day(0), day(31), day(40), day(40) + base::Duration::micros(1), day(99)}) {
        const auto expected = training::decided_since(whole, from, Omission::kTooOld);
        const auto read = node_.builder->vault_rows(day(test::kNow), from).value();
        ASSERT_EQ(read.rows.size(), expected.rows.size());
        EXPECT_EQ(read.features, expected.features);
        for (size_t i = 0; i < read.rows.size(); ++i) {
            EXPECT_EQ(read.rows[i].decision, expected.rows[i].decision);
            EXPECT_EQ(read.rows[i].ordinal, expected.rows[i].ordinal);
            EXPECT_EQ(read.rows[i].repeat, expected.rows[i].repeat);
            EXPECT_EQ(read.rows[i].impact, expected.rows[i].impact);
        }
        EXPECT_EQ(read.known, expected.known);
        EXPECT_EQ(read.repeats, expected.repeats);
        std::map<std::pair<Omission, std::vector<uint32_t>>, int> omitted;
        for (const auto& one : expected.omitted) ++omitted[{one.why, one.groups}];
        for (const auto& one : read.omitted) --omitted[{one.why, one.groups}];
        for (const auto& [what, count] : omitted) EXPECT_EQ(count, 0) << to_string(what.first);
    }
    EXPECT_EQ(node_.builder->vault_rows(day(test::kNow), day(99))->omitted_as(Omission::kTooOld),
              whole.known);
}

}  // namespace
}  // namespace rampart::retraining
