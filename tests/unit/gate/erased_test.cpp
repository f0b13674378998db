// What the gate makes of the tally of erased records.
#include <gmock/gmock.h>

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

using certification::Verdict;
using privacy::ErasedRecords;
using Side = ErasedRecords::Side;
using testing::AllOf;
using testing::Contains;
using testing::Field;

constexpr int64_t kAll = 4000;  // a time in 1970-01 at which all records are known

class ErasedScene : public GateScene {
  protected:
    ErasedScene() { settings.config.max_missing_rate = 0.1; }
    /// Returns how many are counted as a whole, of women and of men.
    std::vector<size_t> counted(std::vector<ErasedRecords> tally) {
        records.tally = std::move(tally);
        store.ledger.clear();
        const auto answer = test(submission("better", kAll));
        const auto plan = certificate(answer).plan;
        if (plan.groups.size() != 2) return {};
        return {plan.erased, plan.groups[0].erased, plan.groups[1].erased};
    }
    using Counts = std::vector<size_t>;
};

TEST_F(ErasedScene, ThoseOfTheVaultCountInTheGroupsOfTheirCellAndElseInAll) {
    EXPECT_EQ(counted({}), (Counts{0, 0, 0}));
    const ErasedRecords of_women{"1970-01", Side::kVault, "approve", false, "sex=female", 3};
    EXPECT_EQ(counted({of_women}), (Counts{3, 3, 0}));
    auto unknown = of_women;
    unknown.cell = "";
    EXPECT_EQ(counted({of_women, unknown}), (Counts{6, 6, 3}));
    auto other = of_women;
    other.cell = "sex=other";
    EXPECT_EQ(counted({other}), (Counts{3, 3, 3})) << "a cell that the catalog has no more";
    auto learnt_from = of_women;
    learnt_from.side = Side::kDevelopment;
    EXPECT_EQ(counted({learnt_from}), (Counts{0, 0, 0}));
    EXPECT_EQ(counted({{.records = 2}}), (Counts{2, 2, 2})) << "nothing is known";
}

TEST_F(ErasedScene, APersonIsOneAndMonthsToComeAreNone) {
    const ErasedRecords first{"1969-05", Side::kVault, "approve", false, "", 1};
    auto later = first, to_come = first;
    later.later = true, later.month = "1970-01";
    to_come.month = "1970-02";
    EXPECT_EQ(counted({first, later, to_come}), (Counts{1, 1, 1}));
    settings.max_age_months = 3;  // the first is too old, so that the gate would read the later one
    EXPECT_EQ(counted({first, first, later}), (Counts{1, 1, 1}));
}

TEST_F(ErasedScene, ANewEpochCountsThoseOfItsMonthsAlone) {
    const ErasedRecords old{"1969-05", Side::kVault, "approve", false, "", 5};
    auto now = old;
    now.month = "1970-01", now.records = 2;
    records.tally = {old, now};
    EXPECT_EQ(certificate(test(submission("better", kAll / 2))).plan.erased, 7u);
    auto second = submission("better", kAll);
    second.opens_epoch = 2, second.epoch_note = "next";
    EXPECT_EQ(certificate(test(second)).plan.erased, 2u);
}

TEST_F(ErasedScene, TooManyOfTheDevelopmentSetRefuseAndTooManyOfTheVaultDoNotPass) {
    records.tally = {{"1970-01", Side::kDevelopment, "approve", false, "", 500}};
    const auto refused = test(submission("better", kAll));
    EXPECT_EQ(refused.result.reason, "too_many_erased");
    EXPECT_NE(refused.result.message.find("500"), std::string::npos);
    EXPECT_TRUE(store.ledger.empty());
    records.tally.front().side = Side::kVault;
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kNoSolutionFound);
    EXPECT_TRUE(answer.result.message.empty()) << "who is erased may follow from outcomes";
    EXPECT_EQ(certificate(answer).plan.erased, 500u);
    records.tally.front().records = 4;
    EXPECT_EQ(test(submission("better", kAll + 1)).result.verdict, Verdict::kCertified);
}

/// Otherwise who writes the schema file would choose the records of the test.
TEST_F(ErasedScene, WhatTheSchemaFileDoesNotExplainCountsAsTheErasedDo) {
    records.set_aside(100, 104);
    const auto few = counted({});
    EXPECT_GT(few[0], 0u);
    EXPECT_EQ(few[0], few[1] + few[2]);
    const ErasedRecords of_women{"1970-01", Side::kVault, "approve", false, "sex=female", 3};
    EXPECT_EQ(counted({of_women}), (Counts{few[0] + 3, few[1] + 3, few[2]}));
    records.set_aside(0, kAll / 2);
    records.tally.clear();
    EXPECT_NE(test(submission("better", kAll + 1)).result.verdict, Verdict::kCertified)
        << "half of the vault is set aside";
}

/// The gate reads one record of a person, the first.
TEST_F(ErasedScene, OfAPersonNoMoreThanOneIsCountedThatTheSchemaFileDoesNotExplain) {
    records.return_last();
    records.set_aside(kAll - 1, kAll);
    EXPECT_EQ(counted({}), (Counts{0, 0, 0})) << "the first is in the evidence";
    const auto plan = certificate(test(submission("better", kAll))).plan;
    EXPECT_THAT(plan.identity.left_out,
                Contains(AllOf(Field(&certification::LeftOut::reason, "other_schema"),
                               Field(&certification::LeftOut::group, ""),
                               Field(&certification::LeftOut::records, 1u))));
    records.set_aside(0, 1);
    const auto both = counted({});
    EXPECT_EQ(both[0], 1u) << "two of one person";
    EXPECT_EQ(both[1] + both[2], 1u);
}

/// Their side and group are not known.
TEST_F(ErasedScene, WhatCannotBeReadCountsAtTheWorstInEveryGroup) {
    records.unreadable = 4;
    EXPECT_EQ(counted({}), (Counts{4, 4, 4}));
    records.set_aside(100, 104);
    const ErasedRecords of_women{"1970-01", Side::kVault, "approve", false, "sex=female", 3};
    const auto all = counted({of_women});
    const auto plan = certificate(test(submission("better", kAll))).plan;
    EXPECT_GT(plan.unexplained, 0u);
    EXPECT_EQ(plan.unreadable, 4u);
    EXPECT_EQ(all[0], 3 + 4 + plan.unexplained);
    EXPECT_EQ(all[1] + all[2], 3 + 2 * 4 + plan.unexplained);
    records.unreadable = 500;
    EXPECT_EQ(test(submission("better", kAll + 1)).result.verdict, Verdict::kNoSolutionFound);
}

/// A sample would have had as large a share of the erased persons as of the others, and a window
/// has those of its months.
TEST_F(ErasedScene, OfASampleOfTheDevelopmentSetTheShareOfTheErasedCounts) {
    records.tally = {{"1970-01", Side::kDevelopment, "approve", false, "", 500}};
    auto run = submission("better", kAll);
    auto part = development;
    const Submission of_part{run.candidate, run.reference, part, run.at};
    EXPECT_EQ(test(of_part).result.reason, "too_many_erased");
    part.extent = {{}, 100 * part.rows.size(), part.rows.size(), 1};
    EXPECT_EQ(test(of_part).result.verdict, Verdict::kCertified);
    records.tally.front().records = 50'000;
    const auto refused = test(Submission{run.candidate, run.reference, part, at(kAll + 1)});
    EXPECT_EQ(refused.result.reason, "too_many_erased");
    EXPECT_NE(refused.result.message.find("500 "), std::string::npos) << refused.result.message;
    store.ledger.clear();
    records.tally.front().month = "1969-05";
    part.extent.from = at(0);  // the tally has an earlier month than the window's
    EXPECT_EQ(test(Submission{run.candidate, run.reference, part, at(kAll + 2)}).result.verdict,
              Verdict::kCertified);
}

}  // namespace
}  // namespace rampart::gate
