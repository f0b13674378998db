// What was decided while a stop button was pressed is no row, and is counted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "rampart/training_set/training_set_builder.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::training_set {
namespace {

namespace fs = std::filesystem;
using domain::StopKind;
using support::day;
using Names = std::set<std::string>;

constexpr int64_t kKnown = 100;  // everything has matured

class StoppedRows : public testing::Test {
  protected:
    StoppedRows() : folder_(fs::path(testing::TempDir()) / fmt::format("stopped{}", ::getpid())) {
        fs::remove_all(folder_);
        log_.create("decisions", 1);
        log_.create("outcomes", 1);
        const auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        store_ =
            protected_attributes::ProtectedStore::open(folder_ / "attributes", *catalog).value();
    }
    ~StoppedRows() override { fs::remove_all(folder_); }

    void apply(const std::string& name, int64_t decided, const std::string& person = "") {
        append(support::make_decision(name, day(decided), true), decided, person);
    }
    /// As a stop refers, so many seconds after the begin of that day.
    void refer(const std::string& name, int64_t decided, int64_t seconds) {
        auto decision = support::make_decision(name, day(decided), false);
        decision.decided_at = day(decided) + base::Duration::seconds(seconds);
        decision.p_approve = 0;
        decision.p_refer = decision.propensity = 1;
        decision.action = domain::Action::kRefer;
        append(decision, decided, "");
    }
    void append(domain::Decision decision, int64_t decided, const std::string& person) {
        if (!person.empty()) decision.application.person = domain::PersonId(person);
        decision.application.features = {{"income", 10.0}};
        decision.draw_window = {"loan", 30, domain::window_number(day(decided), 30, {})};
        const auto record = support::to_record(decision);
        ASSERT_TRUE(log_.append("decisions", std::span(&record, 1)));
    }
    TrainingSetBuilder builder() {
        if (!joiner_) {
            joiner_ =
                joiner::OutcomeJoiner::open(folder_ / "joins", {.product = product_}, log_).value();
            while (joiner_->poll(100)->records > 0) continue;
            EXPECT_TRUE(joiner_->advance(day(kKnown)));
        }
        const auto schema =
            dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}});
        return TrainingSetBuilder::create(*joiner_, product_, *schema, *store_,
                                          "a salt of sixteen bytes or more",
                                          LateAttributes::kMissing, [this] { return stops_; })
            .value();
    }
    /// Returns the decisions on both sides, and checks that the others are counted.
    Names rows(size_t all) {
        const auto build = builder();
        const auto development = build.development_rows(day(kKnown)).value();
        const auto vault = build.vault_rows(day(kKnown)).value();
        EXPECT_EQ(development.rows.size() + vault.rows.size() +
                      development.omitted_as(Omission::kStopped) +
                      vault.omitted_as(Omission::kStopped),
                  all);
        EXPECT_EQ(development.features.size(), development.rows.size());
        Names names;
        for (const auto& row : development.rows) names.insert(row.decision.value());
        for (const auto& row : vault.rows) names.insert(row.decision.value());
        return names;
    }

    const fs::path folder_;
    const domain::Product product_ = support::two_measure_product();
    support::MemoryLog log_;
    std::unique_ptr<protected_attributes::ProtectedStore> store_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    std::vector<domain::StoppedPeriod> stops_;
};

TEST_F(StoppedRows, AreLeftOutByTheLoggedBeginAndEndOfEveryKindOfStop) {
    for (int i = 0; i < 10; ++i) apply(fmt::format("{}", i), i);
    EXPECT_EQ(rows(10).size(), 10u);
    const Names others{"d-0", "d-1", "d-5", "d-6", "d-7", "d-8", "d-9"};
    for (const StopKind kind : domain::kStopKinds) {
        stops_ = {{day(2), day(5), kind, "anna"}};
        EXPECT_EQ(rows(10), others) << domain::to_string(kind);
    }
    stops_.push_back({day(9), std::nullopt, StopKind::kReferAll, "anna"});
    EXPECT_EQ(rows(10), (Names{"d-0", "d-1", "d-5", "d-6", "d-7", "d-8"})) << "one that lasts";
    stops_.back().to = day(200);
    EXPECT_EQ(rows(10).size(), 6u) << "its end changes nothing of what is known already";
}

TEST_F(StoppedRows, AreStillTheFirstOfTheirWindow) {
    apply("first", 2, "p");
    apply("again", 6, "p");
    apply("next", 40, "p");
    stops_ = {{day(1), day(5), StopKind::kRulesOnly, "anna"}};
    EXPECT_EQ(rows(3), (Names{"d-again", "d-next"}));
    const auto build = builder();
    const auto development = build.development_rows(day(kKnown)).value();
    const auto vault = build.vault_rows(day(kKnown)).value();
    const auto& all = development.rows.empty() ? vault.rows : development.rows;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_TRUE(all[0].repeat) << "the draw is that of the stopped one";
    EXPECT_FALSE(all[1].repeat);
    EXPECT_EQ(all[1].ordinal, 0u);
}

TEST_F(StoppedRows, NothingOfARecordButItsTimeDecidesWhetherItIsLeftOut) {
    for (int i = 0; i < 40; ++i) apply(fmt::format("{}", i), i % 4);
    stops_ = {{day(1), day(3), StopKind::kExplorationOff, "anna"}};
    Names expected;
    for (int i = 0; i < 40; ++i) {
        if (i % 4 == 0 || i % 4 == 3) expected.insert(fmt::format("d-{}", i));
    }
    EXPECT_EQ(rows(40), expected);
}

TEST_F(StoppedRows, AStopsReferralsAreLeftOutAlsoWhereAnotherClockDatesThemJustOutside) {
    constexpr int64_t kDay = 86'400;
    refer("before", 1, kDay - 59);
    refer("early", 1, kDay - 61);
    refer("in", 3, 1);
    refer("after", 5, 59);
    refer("late", 5, 60);
    stops_ = {{day(2), day(5), StopKind::kReferAll, "anna"}};
    EXPECT_EQ(rows(5), (Names{"d-early", "d-late"})) << "those no stop explains: the gate asks";
    stops_ = {{day(2), day(5), StopKind::kRulesOnly, "anna"}};
    EXPECT_EQ(rows(5), (Names{"d-before", "d-early", "d-after", "d-late"}));
}

}  // namespace
}  // namespace rampart::training_set
