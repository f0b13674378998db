// Windows and samples of the development set.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/training_set/person_sample.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::training_set {
namespace {

namespace fs = std::filesystem;
using protected_attributes::AttributeCatalog;
using protected_attributes::ProtectedStore;
using support::day;

const std::string kSalt = "a salt of sixteen bytes or more";
constexpr int kPersons = 150, kRowsEach = 4;
constexpr int64_t kKnown = 200;

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value();
}

/// Decisions about persons who come back, with outcomes, impacts and a correction after day 100.
class SampleTest : public testing::Test {
  protected:
    SampleTest() {
        folder_ = fs::path(testing::TempDir()) / fmt::format("sample_{}_{}", ::getpid(), ++made_);
        fs::remove_all(folder_);
        log.create("decisions", 2);
        log.create("outcomes", 2);
        auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        store = std::move(*ProtectedStore::open(folder_ / "attributes", *catalog));
        for (int i = 0; i < kPersons; ++i) {
            const protected_attributes::ProtectedAttributes known{
                domain::PersonId(fmt::format("p-{}", i)),
                day(i % 3 * 10),  // some persons' later than they are decided about
                {{"sex", i % 2 == 0 ? "female" : "male"}}};
            EXPECT_TRUE(store->put(std::span(&known, 1), day(i % 3 * 10)));
        }
        for (int i = 0; i < kPersons * kRowsEach; ++i) decide(i);
        joiner = open("joins", 100);
    }
    ~SampleTest() override {
        joiner.reset();
        store.reset();
        fs::remove_all(folder_);
    }
    std::unique_ptr<joiner::OutcomeJoiner> open(const std::string& name, size_t batch) {
        auto opened = std::move(*joiner::OutcomeJoiner::open(
            folder_ / name, {.product = product, .partitions = 2}, log));
        while (opened->poll(batch)->records > 0) continue;
        EXPECT_TRUE(opened->advance(day(kKnown)));
        return opened;
    }
    TrainingSetBuilder builder(const joiner::OutcomeJoiner& of, StoppedPeriods stopped = {}) const {
        return TrainingSetBuilder::create(of, product, schema(), *store, kSalt,
                                          LateAttributes::kMissing, std::move(stopped))
            .value();
    }
    void decide(int i) {
        const auto name = fmt::format("{}", i);
        auto decision = support::make_decision(name, day(i % 40), i % 3 != 0);
        decision.application.person = domain::PersonId(fmt::format("p-{}", i % kPersons));
        decision.application.features = {{"income", static_cast<double>(i)}};
        decision.draw_window = {"loan", 30, domain::window_number(decision.decided_at, 30, {})};
        append("decisions", support::to_record(decision));
        if (i % 3 == 0) return;
        report(name, "repaid", 0, i % 2, 50);
        report(name, "score", 0, i % 70, 60);
        if (i % 5 == 0) report(name, "repaid", 1, 1 - i % 2, 120);
    }
    void report(const std::string& name, std::string measure, uint32_t revision, double value,
                int64_t when) {
        append("outcomes", support::to_record(support::make_outcome(name, std::move(measure),
                                                                    revision, value, day(when))));
    }
    void append(const char* topic, const streaming::Record& record) {
        EXPECT_TRUE(log.append(topic, std::span(&record, 1)));
    }

    domain::Product product = [] {
        auto of = support::two_measure_product();
        of.impact.measure = "score";
        return of;
    }();
    support::MemoryLog log;
    std::unique_ptr<ProtectedStore> store;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;

  private:
    inline static int made_ = 0;
    fs::path folder_;
};

/// Returns what a test compares of a row.
auto looks(const DevelopmentSet& set, size_t i) {
    const Row& row = set.rows[i];
    return std::tuple(row.decision, row.person, row.repeat, row.ordinal, row.label, row.impact,
                      row.groups, row.cell, set.features_of(i)[0]);
}

/// Compares a sample with the rows of its persons in the whole set.
void expect_part(const DevelopmentSet& sample, const DevelopmentSet& whole,
                 const DevelopmentRequest& request) {
    PersonSample persons(PersonSample::key_of(kSalt, request.seed), request.max_rows);
    for (const Row& row : whole.rows) persons.add(persons.place_of(row.person));
    size_t at = 0, repeats = 0, without = 0;
    for (size_t i = 0; i < whole.rows.size(); ++i) {
        if (!persons.holds(persons.place_of(whole.rows[i].person))) continue;
        ASSERT_LT(at, sample.rows.size());
        EXPECT_EQ(looks(sample, at), looks(whole, i));
        repeats += whole.rows[i].repeat ? 1 : 0;
        without += whole.rows[i].cell ? 0 : 1;
        ++at;
    }
    EXPECT_EQ(sample.rows.size(), at);
    EXPECT_EQ(sample.features.size(), at);
    EXPECT_EQ(sample.repeats, repeats);
    EXPECT_EQ(sample.without_attributes, without);
    EXPECT_EQ(sample.extent.there, whole.rows.size());
    EXPECT_EQ(sample.extent.read, at);
    EXPECT_EQ(sample.extent.from, request.from);
    EXPECT_EQ(sample.extent.seed.has_value(), at < whole.rows.size());
}

TEST_F(SampleTest, IsThePartOfTheWholeSetThatItsPersonsHave) {
    const auto build = builder(*joiner);
    for (const auto& from : {std::optional<base::TimePoint>(), std::optional(day(12))}) {
        const auto whole = build.development_rows(day(kKnown), from).value();
        ASSERT_GT(whole.rows.size(), 200u);
        ASSERT_GT(whole.repeats, 50u);
        ASSERT_GT(whole.late, 10u);
        for (const size_t max_rows : {0u, 3u, 30u, 100u, 190u, 100'000u}) {
            for (const uint64_t seed : {1u, 2u}) {
                const DevelopmentRequest request{from, max_rows, seed};
                const auto sample = build.development_sample(day(kKnown), request).value();
                SCOPED_TRACE(fmt::format("{} rows, seed {}", max_rows, seed));
                expect_part(sample, whole, request);
                if (max_rows > whole.rows.size()) {
                    EXPECT_EQ(sample.digest, whole.digest);
                    EXPECT_EQ(sample.late, whole.late);
                    EXPECT_EQ(sample.extent.share(), 1);
                } else {
                    EXPECT_LT(sample.late, whole.late);
                    EXPECT_NE(sample.digest, whole.digest);
                }
            }
        }
    }
}

TEST_F(SampleTest, AWindowBeginsWithItsFirstMicrosecond) {
    const auto build = builder(*joiner);
    const auto rows_since = [&](base::TimePoint from) {
        return build.development_sample(day(kKnown), {.from = from})->rows;
    };
    const auto at = rows_since(day(39)), after = rows_since(day(39) + base::Duration::micros(1));
    EXPECT_FALSE(at.empty());
    for (const auto& row : at) EXPECT_EQ(row.event_time, day(39));
    EXPECT_TRUE(after.empty());
    const auto nothing = build.development_sample(day(kKnown), {.from = day(40)}).value();
    EXPECT_EQ(nothing.extent.there, 0u);
    EXPECT_EQ(nothing.extent.share(), 1);
}

/// The set is a function of the log, the time and the request: not of batches, of the moment of
/// reading, or of what became known later.
TEST_F(SampleTest, IsTheSameInAStoreMadeAnewAndAfterMoreHasComeIn) {
    std::vector<base::Digest> before;
    const auto digests = [&](const joiner::OutcomeJoiner& of) {
        std::vector<base::Digest> out;
        for (const int64_t t : {60, 75, 110, 130})
            out.push_back(
                builder(of).development_sample(day(t), {.from = day(5), .max_rows = 80})->digest);
        return out;
    };
    const auto first = digests(*joiner);
    EXPECT_NE(first[0], first[1]);
    EXPECT_EQ(digests(*open("replica", 7)), first);
    for (int i = 0; i < 50; ++i) {  // known from day 200 on
        auto decision = support::make_decision(fmt::format("late-{}", i), day(kKnown));
        decision.application.person = domain::PersonId(fmt::format("p-{}", i));
        append("decisions", support::to_record(decision));
    }
    while (joiner->poll(100)->records > 0) continue;
    ASSERT_TRUE(joiner->advance(day(kKnown + 100)));
    EXPECT_EQ(digests(*joiner), first);
}

TEST_F(SampleTest, WhatWasDecidedInAStoppedPeriodTakesNoPlaceInIt) {
    const auto stopped = [] {
        return std::vector<domain::StoppedPeriod>{
            {day(10), day(30), domain::StopKind::kExplorationOff, "test"}};
    };
    const auto build = builder(*joiner, stopped);
    const auto whole = build.development_rows(day(kKnown)).value();
    const DevelopmentRequest request{std::nullopt, 60, 1};
    const auto sample = build.development_sample(day(kKnown), request).value();
    ASSERT_FALSE(whole.omitted.empty());
    expect_part(sample, whole, request);
    EXPECT_EQ(sample.omitted.size(), whole.omitted.size()) << "of the whole side";
}

}  // namespace
}  // namespace rampart::training_set
