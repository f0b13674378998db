#include "rampart/joiner/decision_row.hpp"

#include "joined.hpp"
#include "rampart/base/bytes.hpp"

namespace rampart::joiner {
namespace {

using support::day;
using support::make_decision;
using support::make_outcome;

/// The key of an entry: schemas/keys.md.
std::string time_key(base::TimePoint event_time, std::string_view id) {
    std::string key;
    base::append_i64(key, event_time.micros());
    key += id;
    return key;
}

domain::Decision full_decision() {
    auto decision = make_decision("1", day(-3));
    decision.decided_at = day(5);
    decision.application.features = {
        {"income", 12.5}, {"job", std::string("cook")}, {"age", std::monostate()}};
    decision.draw_window = {"loan", 30, domain::window_number(day(5), 30, {})};
    decision.p_approve = 0.25;
    decision.p_refer = 0.125;
    decision.exploration_spent = true;
    return decision;
}

JoinState full_state() {
    JoinState state;
    add_decision(state, "bytes", {day(5), true});
    add_report(state, make_outcome("1", "repaid", 0, 1, day(20)), {day(20), true});
    add_report(state, make_outcome("1", "repaid", 1, 0, day(70)), {day(70), true});
    add_report(state, make_censored("1", "score", 0, day(30)), {day(30), true});
    mature(state, "repaid", day(41));
    mature(state, "score", day(59));
    add_override(state, make_override("1", 0, false, day(6)), {day(6), true});
    add_override(state, make_override("1", 1, true, day(8)), {day(8), true});
    return state;
}

TEST(DecisionRowTest, HasWhatWasDecidedAndWhatBecameOfIt) {
    const auto decision = full_decision();
    const auto key = time_key(day(-3), decision.id.value());
    const auto value = encode_row(full_state(), decision);
    RowDecoder decoder;
    DecisionRow row;
    ASSERT_TRUE(decoder.decode(key, value, RowPart::kAll, row));
    EXPECT_EQ(row.id, "d-1");
    EXPECT_EQ(row.person, "p-1");
    EXPECT_EQ(row.policy, decision.policy.value());
    EXPECT_EQ(row.event_time, day(-3));
    EXPECT_EQ(row.decided_at, day(5));
    EXPECT_EQ(row.shape->product, "loan");
    EXPECT_EQ(row.shape->cool_off_days, 30);
    EXPECT_EQ(row.shape->features, (std::vector<std::string>{"income", "job", "age"}));
    EXPECT_EQ(row.window, decision.draw_window->number);
    EXPECT_EQ(row.p_approve, 0.25);
    EXPECT_EQ(row.p_refer, 0.125);
    EXPECT_TRUE(row.exploration_spent);
    EXPECT_EQ(row.action, domain::Action::kApprove);
    EXPECT_EQ(row.values, (std::vector<FeatureView>{12.5, std::string_view("cook"), {}}));
    ASSERT_EQ(row.versions.size(), 3u);
    EXPECT_EQ(row.as_known_at("repaid", day(40)), nullptr);
    EXPECT_EQ(*row.as_known_at("repaid", day(41)), (RowVersion{"repaid", 0, 1.0, false, day(41)}));
    EXPECT_EQ(row.as_known_at("repaid", day(69))->version, 0u);
    EXPECT_EQ(*row.as_known_at("repaid", day(70)), (RowVersion{"repaid", 1, 0.0, false, day(70)}));
    EXPECT_EQ(*row.as_known_at("score", day(99)),
              (RowVersion{"score", 0, std::nullopt, true, day(59)}));
    EXPECT_EQ(row.taken_as_known_at(day(5)), nullptr);
    EXPECT_EQ(row.taken_as_known_at(day(7))->action, domain::Action::kDecline);
    EXPECT_EQ(row.taken_as_known_at(day(8))->action, domain::Action::kApprove);

    ASSERT_TRUE(decoder.decode(key, value, RowPart::kHead, row));
    EXPECT_EQ(row.person, "p-1");
    EXPECT_EQ(row.window, decision.draw_window->number);
    EXPECT_TRUE(row.values.empty() && row.versions.empty() && row.taken.empty());
}

TEST(DecisionRowTest, WithoutAWindowItIsADrawOfItsOwn) {
    auto decision = full_decision();
    decision.draw_window = std::nullopt;
    RowDecoder decoder;
    DecisionRow row;
    ASSERT_TRUE(
        decoder.decode(time_key(day(0), "d"), encode_row({}, decision), RowPart::kAll, row));
    EXPECT_EQ(row.shape->cool_off_days, 0);
    EXPECT_EQ(row.window, 0);
    EXPECT_TRUE(row.versions.empty() && row.taken.empty());
}

/// Shapes have numbers of their own, however many there are and in whatever order they come.
TEST(DecisionRowTest, EveryShapeIsReadAsItself) {
    RowDecoder decoder;
    DecisionRow row;
    std::map<uint64_t, std::string> names;
    for (size_t i = 0; i < 3 * RowDecoder::kMaxShapes; ++i) {
        for (const size_t n : {i, i / 2, size_t{0}}) {
            auto decision = full_decision();
            const auto name = fmt::format("feature_{}", n);
            decision.application.features = {{name, 1.0}};
            ASSERT_TRUE(decoder.decode(time_key(day(0), "d"), encode_row({}, decision),
                                       RowPart::kAll, row));
            ASSERT_EQ(row.shape->features, std::vector{name});
            const auto known = names.emplace(row.shape->number, name).first;
            ASSERT_EQ(known->second, name) << "a number that another shape has had";
        }
    }
}

/// Only what encode_row() writes is read: every cut is an error, and so is each wrong kind.
TEST(DecisionRowTest, DamageIsAnErrorAndNeverAnotherRow) {
    const auto decision = full_decision();
    const auto key = time_key(day(-3), "d-1");
    const auto value = encode_row(full_state(), decision);
    RowDecoder decoder;
    DecisionRow row;
    const auto refused = [&](std::string_view at, std::string_view bytes) {
        const auto read = decoder.decode(at, bytes, RowPart::kAll, row);
        return !read && read.error().reason == "corrupt_index";
    };
    for (size_t size = 0; size < value.size(); ++size)
        EXPECT_TRUE(refused(key, std::string_view(value).substr(0, size))) << size;
    EXPECT_TRUE(refused(key, value + '\0'));
    EXPECT_TRUE(refused(std::string_view(key).substr(0, 7), value));
    EXPECT_TRUE(refused(key, '\2' + value.substr(1)));
    size_t accepted = 0;
    for (size_t i = 0; i < value.size(); ++i) {
        auto other = value;
        other[i] = '\x7f';
        if (!refused(key, other)) ++accepted;  // another number or name, and no more than that
        other[i] = '\xff';
        if (!refused(key, other)) ++accepted;
    }
    EXPECT_LT(accepted, 2 * value.size() - 40);
}

using RowsTest = Joined;

/// A row follows its state through all that may happen to it.
TEST_F(RowsTest, AreThoseOfTheStatesAfterEveryChange) {
    const auto rows = [&] {
        std::vector<std::string> out;
        EXPECT_TRUE(joiner->rows(day(-1), day(1), RowPart::kAll, [&](const DecisionRow& row) {
            out.push_back(fmt::format("{} {} {}", row.id, row.versions.size(), row.taken.size()));
            return base::ok();
        }));
        return out;
    };
    using Rows = std::vector<std::string>;
    say(make_outcome("1", "repaid", 0, 1, day(30)));
    EXPECT_TRUE(rows().empty()) << "the decision has not arrived";
    say(make_decision("1", day(0)));
    say(make_decision("2", day(1)));  // at the end, which is not in the range
    EXPECT_EQ(rows(), Rows{"d-1 0 0"});
    say(make_override("1", 0, false, day(3)));
    EXPECT_EQ(rows(), Rows{"d-1 0 1"});
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(rows(), Rows{"d-1 1 1"});
    say(make_outcome("1", "repaid", 1, 0, day(90)));
    EXPECT_EQ(rows(), Rows{"d-1 2 1"});
    expect_sound();
    say(domain::Erasure{domain::DecisionId("d-1"), day(200)});
    EXPECT_TRUE(rows().empty());
    expect_sound();
}

TEST_F(RowsTest, AnErrorOfTheVisitorEndsTheVisit) {
    for (const auto* name : {"1", "2", "3"}) say(make_decision(name, day(0)));
    size_t visited = 0;
    const auto status =
        joiner->rows(base::kFirstTime, base::kLastTime, RowPart::kHead, [&](const auto&) {
            return ++visited == 2
                       ? base::Status(base::Error{base::ErrorCode::kUnavailable, "w", ""})
                       : base::ok();
        });
    EXPECT_EQ(status.error().reason, "w");
    EXPECT_EQ(visited, 2u);
}

/// Rows of more than a read takes at once come in order, each once, also while others are written.
TEST_F(RowsTest, OfManyReadsComeOnceEachAsTheyWereWhenTheVisitBegan) {
    constexpr int kMany = 4000;
    const std::string category(700, 'c');  // rows of 4 MB, in several reads of each partition
    std::vector<std::string> said;
    for (int i = 0; i < kMany; ++i) {
        auto decision = make_decision(fmt::format("{:05}", i), day(i / 7));
        decision.application.features = {{"job", category + std::to_string(i)}};
        const auto record = support::to_record(decision);
        ASSERT_TRUE(log.append("decisions", {&record, 1}));
        said.push_back(decision.id.value());
    }
    while (joiner->poll(10'000)->records > 0) continue;
    std::vector<std::string> visited;
    ASSERT_TRUE(
        joiner->rows(base::kFirstTime, base::kLastTime, RowPart::kAll, [&](const DecisionRow& row) {
            if (visited.empty()) say(make_decision("late", day(kMany)));
            visited.emplace_back(row.id);
            return base::ok();
        }));
    EXPECT_EQ(visited, said);
    std::vector<std::string> back;
    ASSERT_TRUE(joiner->rows_back(base::kFirstTime, day(kMany - 1), RowPart::kAll,
                                  [&](const DecisionRow& row) {
                                      back.emplace_back(row.id);
                                      return base::ok();
                                  }));
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(back, said);
    back.clear();
    const auto place = said.begin() + 1001;  // one of seven of a day
    ASSERT_TRUE(joiner->rows_back(
        day(100), day(1001 / 7), RowPart::kHead,
        [&](const DecisionRow& row) {
            back.emplace_back(row.id);
            return base::ok();
        },
        *place));
    EXPECT_EQ(back, std::vector<std::string>(std::reverse_iterator(place),
                                             std::reverse_iterator(said.begin() + 700)));
    size_t before_the_error = 0;
    const auto status =
        joiner->rows(base::kFirstTime, base::kLastTime, RowPart::kHead, [&](const auto&) {
            return ++before_the_error == kMany / 2
                       ? base::Status(base::Error{base::ErrorCode::kUnavailable, "w", ""})
                       : base::ok();
        });
    EXPECT_EQ(status.error().reason, "w");
}

size_t threads_of_this_process() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                             std::filesystem::directory_iterator()));
}

/// A node may hold hundreds: a thread for each would be as many.
TEST_F(RowsTest, OfMoreThanSixteenPartitionsAreReadWithoutAThreadForEach) {
    constexpr int32_t kPartitions = 17;
    constexpr int kMany = 6000;
    const std::string category(700, 'c');  // some 250 kB a partition, in several reads
    support::MemoryLog many;
    many.create("decisions", kPartitions);
    many.create("outcomes", 1);
    const auto at = fresh_folder();
    auto opened = OutcomeJoiner::open(
        at, {.product = support::two_measure_product(), .partitions = kPartitions}, many);
    ASSERT_TRUE(opened) << opened.error().message;
    for (int i = 0; i < kMany; ++i) {
        auto decision = make_decision(fmt::format("{:05}", i), day(i / 7));
        decision.application.features = {{"job", category}};
        const auto record = support::to_record(decision);
        ASSERT_TRUE(many.append("decisions", {&record, 1}));
    }
    while ((*opened)->poll(10'000)->records > 0) continue;
    const size_t before = threads_of_this_process();
    int visited = 0;
    size_t most = 0;
    ASSERT_TRUE(
        (*opened)->rows(base::kFirstTime, base::kLastTime, RowPart::kAll, [&](const DecisionRow&) {
            if (visited++ % 4 == 0) most = std::max(most, threads_of_this_process());
            return base::ok();
        }));
    EXPECT_EQ(visited, kMany);
    EXPECT_EQ(most, before);
    opened->reset();
    std::filesystem::remove_all(at);
}

}  // namespace
}  // namespace rampart::joiner
