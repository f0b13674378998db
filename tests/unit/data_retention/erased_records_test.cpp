// The tally of erased records: what is counted of a person, and how often after a crash.
#include <gtest/gtest.h>

#include "rampart/data_retention/erasure.hpp"
#include "support/small_stores.hpp"

namespace rampart::data_retention {
namespace {

using privacy::ErasedRecords;
using support::day;
using Side = ErasedRecords::Side;

constexpr std::string_view kSalt = "a salt of sixteen bytes or more";

class ErasedTally : public testing::Test {
  protected:
    ErasedTally() {
        for (int n = 1; n <= 120; ++n) {
            (training_set::in_vault(kSalt, person(n)) ? vault_ : development_).push_back(n);
        }
    }
    static domain::PersonId person(int n) { return domain::PersonId("p-" + std::to_string(n)); }
    void know(int n, const std::string& sex) {
        const protected_attributes::ProtectedAttributes known{person(n), day(0), {{"sex", sex}}};
        ASSERT_TRUE(stores_.attributes->put({&known, 1}, day(0)));
    }
    /// Decides a further application of a person, at the time of the clock.
    void decide_again(int n, int application) {
        auto one = support::make_application(application, stores_.service.clock.now());
        one.person = person(n);
        stores_.service.decide(one);
        ASSERT_TRUE(stores_.catch_up());
    }
    /// `fails_at`: the catch_up after which the erasure ends as if the process had crashed.
    base::Result<ErasureReport> erase(int n, int fails_at = -1) {
        int calls = 0;
        std::mutex reading;
        std::shared_mutex counting;
        const auto catch_up = [&, fails_at]() -> base::Status {
            RAMPART_RETURN_IF_ERROR(stores_.catch_up());
            if (calls++ != fails_at) return base::ok();
            return base::Error{base::ErrorCode::kUnavailable, "crash", "the process ends here"};
        };
        const ErasureDeps deps{{"decisions", 1, false, {streaming::PartitionId(0)}, false},
                               0,
                               {},
                               stores_.log,
                               *stores_.joiner,
                               *stores_.service.service,
                               *stores_.service.consumer,
                               *stores_.attributes,
                               nullptr,
                               *stores_.keys,
                               *stores_.holds,
                               *stores_.registry,
                               reading,
                               counting,
                               catch_up,
                               [] { return false; },
                               std::string(kSalt)};
        return erase_person(deps,
                            {person(n), "officer", "asked", stores_.service.clock.now(), false});
    }
    std::vector<ErasedRecords> tally() const { return stores_.holds->erased().value(); }

    support::SmallStores stores_;
    std::vector<int> vault_, development_;  // persons by side
};

TEST_F(ErasedTally, CountsTheFirstRecordOfAPersonByMonthSideAndAction) {
    for (const int n : {vault_[0], vault_[1], development_[0]}) stores_.decide(n);
    decide_again(vault_[0], 1001);  // in the same window: a repeat
    ASSERT_TRUE(erase(vault_[0]));
    const ErasedRecords one{"1970-04", Side::kVault, "approve", false, "", 1};
    EXPECT_EQ(tally(), std::vector{one});
    ASSERT_TRUE(erase(vault_[1]));
    ASSERT_TRUE(erase(development_[0]));
    auto two = one, other = one;
    two.records = 2;
    other.side = Side::kDevelopment;
    EXPECT_EQ(tally(), (std::vector{other, two}));
    EXPECT_FALSE(erase(vault_[0])) << "nothing is held any more";
    EXPECT_EQ(tally(), (std::vector{other, two}));
}

TEST_F(ErasedTally, HasLaterRecordsOfAPersonOnceAMonthForAGateThatLeavesOldOnesOut) {
    stores_.decide(vault_[0]);
    for (int k = 0; k < 5; ++k) {  // windows of their own, two of them in one month
        stores_.service.clock.move(base::Duration::days(k == 4 ? 1 : 31));
        decide_again(vault_[0], 1001 + k);
    }
    ASSERT_TRUE(erase(vault_[0]));
    std::vector<std::string> months;
    for (const auto& kind : tally()) {
        EXPECT_EQ(kind.records, 1u) << kind.month;
        EXPECT_EQ(kind.later, kind.month != "1970-04") << kind.month;
        months.push_back(kind.month);
    }
    EXPECT_EQ(months,
              (std::vector<std::string>{"1970-04", "1970-05", "1970-06", "1970-07", "1970-08"}));
}

TEST_F(ErasedTally, NamesACellOnlyWhereTwentyOthersAreLeftInIt) {
    for (int k = 0; k < 22; ++k) {
        stores_.decide(vault_[k]);
        know(vault_[k], "female");
    }
    // alike but for one thing each
    stores_.decide(vault_[22]), know(vault_[22], "male");
    for (int k = 0; k < 30; ++k) stores_.decide(development_[k]), know(development_[k], "female");
    ASSERT_TRUE(erase(vault_[0])) << "21 others";
    ASSERT_TRUE(erase(vault_[1])) << "20 others";
    const ErasedRecords named{"1970-04", Side::kVault, "approve", false, "sex=female", 2};
    EXPECT_EQ(tally(), std::vector{named});
    ASSERT_TRUE(erase(vault_[2])) << "19 others";
    ASSERT_TRUE(erase(vault_[22])) << "none";
    ErasedRecords unnamed = named;
    unnamed.cell = "";
    EXPECT_EQ(tally(), (std::vector{unnamed, named}));
}

TEST_F(ErasedTally, WhereverAnErasureCrashesItsRecordsCountOnce) {
    for (int k = 0; k < 25; ++k) stores_.decide(vault_[k]), know(vault_[k], "female");
    const ErasedRecords one{"1970-04", Side::kVault, "approve", false, "sex=female", 1};
    for (int k = 0; k < 2; ++k) {
        auto expected = one;
        expected.records = static_cast<uint64_t>(k) + 1;
        const auto crashed = erase(vault_[k], 2);  // the keys are gone, the decisions too
        ASSERT_FALSE(crashed);
        EXPECT_EQ(crashed.error().reason, "crash");
        EXPECT_FALSE(stores_.joiner
                         ->find_decision(domain::decision_id_of(
                             domain::ApplicationId("a-" + std::to_string(vault_[k]))))
                         .value());
        EXPECT_EQ(tally(), std::vector{expected}) << "while the erasure is not finished";
        ASSERT_FALSE(erase(vault_[k], 2)) << "a second crash";
        ASSERT_TRUE(erase(vault_[k]));
        EXPECT_EQ(tally(), std::vector{expected});
    }
    EXPECT_EQ(erase(vault_[2], 0).error().reason, "crash") << "before it was begun";
    EXPECT_EQ(tally().front().records, 2u);
}

TEST_F(ErasedTally, CountsADecisionThatCannotBeReadWithoutSideAndGroup) {
    stores_.decide(vault_[0]);
    const auto name = person(vault_[0]).value();
    const std::string about = "\x12" + std::string(1, static_cast<char>(name.size())) + name;
    std::vector<streaming::Record> unread{{"d-1", about + "\xff", day(1), {}},
                                          {"d-2", "another's \xff", day(1), {}}};
    ASSERT_TRUE(stores_.log.append("decisions", unread));
    ASSERT_TRUE(stores_.catch_up());
    ASSERT_EQ(stores_.joiner->unread_decisions(day(1000)).value(), 2u);
    ASSERT_FALSE(erase(vault_[0], 2)) << "a crash, after which it counts once all the same";
    ASSERT_TRUE(erase(vault_[0]));
    EXPECT_EQ(stores_.joiner->unread_decisions(day(1000)).value(), 1u) << "another's stays";
    ErasedRecords lost;
    lost.records = 1;
    const ErasedRecords joined{"1970-04", Side::kVault, "approve", false, "", 1};
    const auto all = tally();
    EXPECT_EQ(all.size(), 2u);
    EXPECT_EQ(std::count(all.begin(), all.end(), lost), 1) << "of either side, and of any group";
    EXPECT_EQ(std::count(all.begin(), all.end(), joined), 1);
}

TEST_F(ErasedTally, IsNamedAmongWhatRemains) {
    stores_.decide(vault_[0]);
    const auto report = erase(vault_[0]).value();
    const auto named = std::count_if(
        report.remains.begin(), report.remains.end(),
        [](const auto& sentence) { return sentence.find("the tally of erased records") == 0; });
    EXPECT_EQ(named, 1);
}

}  // namespace
}  // namespace rampart::data_retention
