#include <algorithm>

#include "joined.hpp"
#include "rampart/base/file.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/fence.hpp"

namespace rampart::joiner {
namespace {

using support::day;
using support::make_decision;
using support::make_outcome;
using ErasureTest = Joined;

domain::Erasure erase(const std::string& name) {
    return {domain::DecisionId("d-" + name), day(200)};
}

TEST_F(ErasureTest, NothingIsLeftOfTheDecisionAndTheOthersStay) {
    say(make_decision("1", day(0)));
    say(make_decision("2", day(0)));
    say(make_outcome("1", "score", 0, 5, day(30)));
    say(make_override("1", 0, true, day(1)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    ASSERT_EQ(joiner->counts().overdue, 2u);
    say(erase("1"));
    EXPECT_EQ(joiner->find_decision(domain::DecisionId("d-1")).value(), std::nullopt);
    ASSERT_EQ(examples("repaid", day(1000)).size(), 1u);
    EXPECT_EQ(examples("repaid", day(1000))[0].decision.id.value(), "d-2");
    const auto counts = joiner->counts();
    EXPECT_EQ(counts.decisions, 1u);
    EXPECT_EQ(counts.matured, 1u);
    EXPECT_EQ(counts.overdue, 1u);
    EXPECT_EQ(counts.erased, 1u);
    expect_sound();
    ASSERT_TRUE(joiner->advance(day(1000)));
    EXPECT_EQ(examples("score", day(1000)).size(), 1u);
    expect_sound();
}

TEST_F(ErasureTest, WhatComesAfterwardsIsIgnoredAndCounted) {
    say(erase("1"));
    say(make_decision("1", day(0)));
    say(make_outcome("1", "repaid", 0, 1, day(30)));
    say(make_override("1", 0, true, day(1)));
    say(erase("1"));
    ASSERT_TRUE(joiner->advance(day(1000)));
    EXPECT_TRUE(examples("repaid", day(1000)).empty());
    EXPECT_EQ(joiner->counts().ignored, 3u);
    EXPECT_EQ(joiner->counts().erased, 1u);
    EXPECT_EQ(joiner->counts().unmatched, 0u);
    EXPECT_TRUE(joiner->list_quarantined(9)->empty());
    expect_sound();
}

TEST_F(ErasureTest, UnmatchedReportsGoToo) {
    say(make_outcome("1", "repaid", 0, 1, day(30)));
    say(make_override("1", 0, true, day(1)));
    ASSERT_EQ(joiner->counts().unmatched, 2u);
    say(erase("1"));
    EXPECT_EQ(joiner->counts().unmatched, 0u);
    EXPECT_TRUE(joiner->list_unmatched(9)->empty());
    expect_sound();
}

TEST_F(ErasureTest, AStoreThatIsMadeAnewFromTheLogForgetsTooAndHasTheSameHash) {
    say(make_decision("1", day(0)));
    say(make_outcome("1", "repaid", 0, 1, day(30)));
    say(make_decision("2", day(0)));
    const auto before = joiner->state_hash();
    say(erase("1"));
    EXPECT_NE(joiner->state_hash(), before);
    const auto elsewhere = fresh_folder();
    auto again = open(elsewhere);
    poll(*again);
    EXPECT_EQ(again->state_hash(), joiner->state_hash());
    EXPECT_EQ(again->find_decision(domain::DecisionId("d-1")).value(), std::nullopt);
    again.reset();
    std::filesystem::remove_all(elsewhere);
}

TEST_F(ErasureTest, CountsWhateverFencesStandBeforeIt) {
    say(make_decision("1", day(0)));
    const auto home = streaming::partition_of("d-1", 3);
    const auto fence = wire::fence_record(7, "node-b", day(1));
    ASSERT_TRUE(log.append_to("decisions", home, std::span(&fence, 1)));
    say(erase("1"));
    EXPECT_EQ(joiner->counts().erased, 1u);
    EXPECT_EQ(joiner->counts().fenced, 0u);
}

TEST_F(ErasureTest, InAWrongPartitionItErasesNothingAndIsQuarantined) {
    say(make_decision("1", day(0)));
    const auto home = streaming::partition_of("d-1", 3).value();
    const auto record = wire::to_record(erase("1"));
    ASSERT_TRUE(
        log.append_to("decisions", streaming::PartitionId((home + 1) % 3), std::span(&record, 1)));
    poll(*joiner);
    EXPECT_EQ(joiner->counts().erased, 0u);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "wrong_partition");
}

/// Copies a store to what a release without the index by person and without rows in the index by
/// time would have written.
void copy_as_of_version_1(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::vector<std::string> families{"meta",     "joins",   "by_time",   "pending",
                                      "dangling", "overdue", "quarantine"};
    constexpr uint32_t kByTime = 2;
    auto old_families = families;
    families.emplace_back("persons");
    families.emplace_back("reviews");
    const auto source = *storage::Database::open(from, families, {.schema = {4, {}}});
    const auto target = *storage::Database::open(to, old_families);
    storage::WriteBatch batch;
    for (uint32_t i = 0; i < old_families.size(); ++i) {
        ASSERT_TRUE(source->scan({i}, storage::KeyRange::all(),
                                 [&](auto key, auto value) -> base::Result<bool> {
                                     batch.put({i}, key, i == kByTime ? "" : value);
                                     return true;
                                 }));
    }
    ASSERT_TRUE(target->write(batch, storage::Sync::kAlways));
}

TEST_F(ErasureTest, AStoreOfAReleaseWithoutTheIndexByPersonGetsIt) {
    // 100 KB each, so that a partition's rows are more than the 4 MB of one part of a migration
    constexpr int kDecisions = 160, kFeatures = 1000;
    for (int i = 0; i < kDecisions; ++i) {
        auto decision = make_decision(std::to_string(i), day(0));
        for (int f = 0; f < kFeatures; ++f)
            decision.application.features.push_back({fmt::format("{:x>100}", f), 1.0 * f});
        decision.application.person = domain::PersonId(i % 2 == 0 ? "even" : "odd");
        say(decision);
    }
    say(erase("0"));
    say(make_outcome("dangling", "repaid", 0, 1, day(1)));
    auto review = make_override("2", 0, false, day(1));
    review.action_taken = domain::Action::kRefer;
    say(review);
    const auto hash = joiner->state_hash();
    joiner.reset();
    const auto before = fresh_folder();
    for (const auto* partition : {"0", "1", "2"})
        copy_as_of_version_1(folder / partition / "joins", before / partition / "joins");
    joiner = open(before);
    EXPECT_EQ(joiner->state_hash(), hash);
    const domain::PersonId even("even");
    EXPECT_EQ(joiner->decisions_of(std::span(&even, 1))->size(), kDecisions / 2 - 1u);
    EXPECT_EQ(joiner->list_reviews(9)->at(0).decision.value(), "d-2");
    expect_sound();
    joiner.reset();
    std::filesystem::remove_all(before);
    joiner = open(folder);
}

TEST_F(ErasureTest, APersonsDecisionsAreFoundInAllPartitionsAndNobodyElses) {
    std::vector<domain::DecisionId> of_anna;
    for (const std::string name : {"1", "2", "3", "4", "5", "6"}) {
        auto decision = make_decision(name, day(0));
        if (name < "5") decision.application.person = domain::PersonId("anna");
        if (name == "5") decision.application.person = domain::PersonId("anna-maria");
        if (name < "5") of_anna.push_back(decision.id);
        say(decision);
    }
    say(make_outcome("dangling", "repaid", 0, 1, day(1)));
    const auto find = [&](std::vector<std::string> people) {
        std::vector<domain::PersonId> persons;
        for (auto& one : people) persons.emplace_back(std::move(one));
        std::vector<domain::DecisionId> ids;
        const auto found = joiner->decisions_of(persons).value();
        for (const auto& one : found) ids.push_back(one.decision);
        std::sort(ids.begin(), ids.end());
        return ids;
    };
    EXPECT_EQ(find({"anna"}), of_anna);
    EXPECT_EQ(find({"anna-maria", "nobody"}).size(), 1u);
    EXPECT_TRUE(find({"ann"}).empty());
    const domain::PersonId anna("anna");
    EXPECT_EQ(joiner->decisions_of(std::span(&anna, 1))->at(0).event_time, day(0));
    say(erase("1"));
    EXPECT_EQ(find({"anna"}).size(), 3u);
}

class CompactionTest : public ErasureTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(OfWhatIsKnownOrNot, CompactionTest, testing::Bool());

/// Also where the time of an erased decision is not known any more, as after a crash.
TEST_P(CompactionTest, AfterItTheBytesAreInNoFileAndWithoutItTheyAre) {
    auto decision = make_decision("1", day(0));
    decision.application.person = domain::PersonId("anna@example.org");
    decision.application.features = {{"job", std::string("lighthouse keeper")}};
    say(decision);
    say(make_decision("2", day(0)));
    // a second version of it ends in quarantine
    auto other = decision;
    other.score = 0.75;
    say(other);
    const auto on_disk = [&](std::string_view bytes) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file()) continue;
            const auto content = base::read_file(entry.path(), size_t{1} << 30);
            if (content && content->find(bytes) != std::string::npos) return true;
        }
        return false;
    };
    const auto known = joiner->decisions_of(std::span(&decision.application.person, 1)).value();
    ASSERT_EQ(known.size(), 1u);
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));  // another row of the same decision
    joiner.reset();
    joiner = open(folder);  // what was written lies in tables by now
    say(erase("1"));
    const auto quarantined = joiner->list_quarantined(9).value();
    ASSERT_EQ(quarantined.size(), 1u);
    ASSERT_TRUE(
        joiner->drop_quarantined("decisions", quarantined[0].partition, quarantined[0].offset));
    EXPECT_TRUE(on_disk("lighthouse keeper")) << "erased, and still in the files";
    const std::vector<domain::DecisionId> erased{decision.id};
    ASSERT_TRUE(
        joiner->compact_erased(decision.application.person, erased,
                               GetParam() ? std::span(known) : std::span<const PersonDecision>()));
    EXPECT_FALSE(on_disk("lighthouse keeper"));
    EXPECT_FALSE(on_disk("anna@example.org"));
    EXPECT_TRUE(on_disk("p-2")) << "the scan would find somebody";
    expect_sound();
}

TEST_F(ErasureTest, WhatCanNoLongerBeOpenedIsHandedOnBeforeItIsWrittenAndAgainAfterAnError) {
    const auto one = make_decision("1", day(0)), other = make_decision("2", day(0));
    for (const auto& decision : {one, other, one}) {  // the first stands there twice
        append("decisions", wire::to_record(decision, 0));
    }
    for (auto& partition : log.topics["decisions"].partitions) {
        for (auto& stored : partition) {
            if (stored.record.key != one.id.value()) continue;
            stored.record = wire::to_record(domain::Erasure{one.id, day(0)});
            stored.seal = streaming::Seal::kErased;
        }
    }
    joiner.reset();
    std::vector<domain::DecisionId> handed_on;
    base::Status answer = base::Error{base::ErrorCode::kUnavailable, "busy", "later"};
    JoinerOptions options{.product = support::two_measure_product(), .partitions = 3};
    options.on_unreadable = [&](std::span<const domain::DecisionId> ids) {
        EXPECT_EQ(joiner->is_erased(one.id).value(), std::nullopt) << "not written yet";
        handed_on.insert(handed_on.end(), ids.begin(), ids.end());
        return answer;
    };
    joiner = OutcomeJoiner::open(folder, options, log).value();
    EXPECT_EQ(joiner->poll(100).error().reason, "busy");
    EXPECT_EQ(joiner->counts(), Counts{}) << "nothing is accounted for";
    answer = base::ok();
    poll(*joiner);
    EXPECT_EQ(handed_on, (std::vector{one.id, one.id})) << "once a try";
    EXPECT_EQ(joiner->is_erased(one.id).value(), true);
    EXPECT_EQ(joiner->is_erased(other.id).value(), false);
    size_t visited = 0;
    for (int32_t partition = 0; partition < options.partitions; ++partition) {
        EXPECT_TRUE(
            joiner->visit_ids(streaming::PartitionId(partition), [&](const auto& id, bool erased) {
                EXPECT_EQ(erased, id == one.id);
                ++visited;
                return base::ok();
            }));
    }
    EXPECT_EQ(visited, 2u);
    expect_sound();
}

}  // namespace
}  // namespace rampart::joiner
