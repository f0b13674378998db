#include "rampart/joiner/join_state.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "rampart/base/bytes.hpp"
#include "rampart/joiner/state_hash.hpp"

namespace rampart::joiner {
namespace {

base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }
const auto kEver = at(INT64_MIN);

domain::Outcome report(uint32_t revision, double value, int64_t observed_at,
                       std::string measure = "repaid") {
    return {domain::DecisionId("d"), std::move(measure), revision, value, at(observed_at)};
}

JoinState decided(base::TimePoint known_from = kEver) {
    JoinState state;
    EXPECT_EQ(add_decision(state, "bytes", known_from), Applied::kNew);
    return state;
}

TEST(JoinState, ADecisionIsTakenOnceAndOtherBytesConflict) {
    JoinState state = decided(at(5));
    const JoinState before = state;
    EXPECT_EQ(add_decision(state, "bytes", at(9)), Applied::kDuplicate);
    EXPECT_EQ(add_decision(state, "other", at(9)), Applied::kConflict);
    EXPECT_EQ(state, before);
}

TEST(JoinState, AReportIsTakenOnceAndOtherContentConflicts) {
    JoinState state;
    EXPECT_EQ(add_report(state, report(1, 1, 10), kEver), Applied::kNew);
    EXPECT_EQ(add_report(state, report(1, 1, 10), kEver), Applied::kDuplicate);
    EXPECT_EQ(add_report(state, report(1, 0, 10), kEver), Applied::kConflict);
    EXPECT_EQ(add_report(state, report(1, 1, 11), kEver), Applied::kConflict);
    EXPECT_EQ(add_report(state, report(1, 1, 10, "score"), kEver), Applied::kNew);
    EXPECT_EQ(state.reports.size(), 2u);
}

TEST(JoinState, VersionZeroTakesTheHighestRevisionThatWasObservedInTime) {
    JoinState state = decided();
    for (const auto& r : {report(2, 0, 90), report(0, 1, 50), report(1, 1, 100)})
        add_report(state, r, kEver);
    EXPECT_EQ(mature(state, "repaid", at(100)), 0u);
    EXPECT_EQ(state.versions, (std::vector<Version>{{"repaid", 0, 0.0, 2, at(100), at(100)}}));
    EXPECT_EQ(mature(state, "repaid", at(100)), 0u);
    EXPECT_EQ(state.versions.size(), 1u);
}

TEST(JoinState, WhatIsObservedAfterMaturityBecomesKnownWhenItIsObserved) {
    JoinState state = decided();
    for (const auto& r : {report(0, 1, 101), report(2, 1, 140), report(1, 0, 130)})
        add_report(state, r, kEver);
    EXPECT_EQ(mature(state, "repaid", at(100)), 3u);
    EXPECT_EQ(state.versions, (std::vector<Version>{{"repaid", 0, {}, 0, at(100), at(100)},
                                                    {"repaid", 1, 1.0, 0, at(100), at(101)},
                                                    {"repaid", 2, 0.0, 1, at(100), at(130)},
                                                    {"repaid", 3, 1.0, 2, at(100), at(140)}}));
    EXPECT_EQ(as_known_at(state, "repaid", at(99)), nullptr);
    EXPECT_EQ(as_known_at(state, "repaid", at(100))->value, std::nullopt);
    EXPECT_EQ(as_known_at(state, "repaid", at(129))->value, 1.0);
    EXPECT_EQ(as_known_at(state, "repaid", at(130))->value, 0.0);
    EXPECT_EQ(as_known_at(state, "repaid", at(1000))->version, 3u);
    EXPECT_EQ(as_known_at(state, "score", at(1000)), nullptr);
}

TEST(JoinState, ALowerRevisionThatComesLaterChangesNoVersion) {
    JoinState state = decided();
    add_report(state, report(2, 1, 101), kEver);
    add_report(state, report(1, 0, 130), kEver);
    mature(state, "repaid", at(100));
    EXPECT_EQ(state.versions.size(), 2u);
    EXPECT_EQ(latest(state, "repaid")->value, 1.0);
}

TEST(JoinState, AReportOnAMaturedMeasureIsKnownNoEarlierThanItArrived) {
    JoinState state = decided();
    mature(state, "repaid", at(100));
    EXPECT_EQ(add_report(state, report(0, 1, 50), at(201)), Applied::kNew);
    EXPECT_EQ(latest(state, "repaid")->known_at, at(201));
    EXPECT_EQ(add_report(state, report(1, 0, 300), at(201)), Applied::kNew);
    EXPECT_EQ(latest(state, "repaid")->known_at, at(300));
    EXPECT_EQ(latest(state, "repaid")->matured_at, at(100));
    EXPECT_EQ(latest(state, "repaid")->version, 2u);
}

TEST(JoinState, ADecisionThatComesAfterItsMaturityIsKnownFromItsArrivalOn) {
    JoinState state;
    add_report(state, report(0, 1, 50), kEver);
    add_decision(state, "bytes", at(201));
    mature(state, "repaid", at(100));
    EXPECT_EQ(state.versions, (std::vector<Version>{{"repaid", 0, 1.0, 0, at(100), at(201)}}));
}

TEST(JoinState, ReportsHaveALimit) {
    JoinState state;
    for (uint32_t r = 0; r < kMaxReports; ++r) {
        ASSERT_EQ(add_report(state, report(r, 1, 0), kEver), Applied::kNew);
    }
    EXPECT_EQ(add_report(state, report(kMaxReports, 1, 0), kEver), Applied::kTooMany);
    EXPECT_EQ(add_report(state, report(0, 1, 0), kEver), Applied::kDuplicate);
}

TEST(JoinState, TheStoredFormComesBackAndDamageIsDataLoss) {
    JoinState state = decided(at(7));
    for (const auto& r : {report(0, 1, 50), report(1, -0.5, 130), report(0, 3, 1, "score")}) {
        add_report(state, r, kEver);
    }
    mature(state, "repaid", at(100));
    const auto bytes = encode(state);
    EXPECT_EQ(decode_join_state(bytes).value(), state);
    for (size_t n = 0; n < bytes.size(); ++n) {
        const auto cut = decode_join_state(bytes.substr(0, n));
        ASSERT_FALSE(cut);
        EXPECT_EQ(cut.error().code, base::ErrorCode::kDataLoss);
    }
    EXPECT_FALSE(decode_join_state(bytes + "x"));
    EXPECT_FALSE(decode_join_state("\x02" + bytes.substr(1)));
}

TEST(JoinState, WithoutLaterInventionsTheStoredFormIsTheFirstOne) {
    JoinState state = decided(at(7));
    add_report(state, report(3, -0.5, 50), kEver);
    mature(state, "repaid", at(100));
    std::string first;
    base::append_u8(first, 1);
    base::append_field(first, "bytes");
    base::append_i64(first, 7);
    base::append_u32(first, 1);
    base::append_field(first, "repaid");
    base::append_u32(first, 3);
    base::append_f64(first, -0.5);
    base::append_i64(first, 50);
    base::append_u32(first, 1);
    base::append_field(first, "repaid");
    base::append_u32(first, 0);
    base::append_u8(first, 1);
    base::append_f64(first, -0.5);
    base::append_u32(first, 3);
    base::append_i64(first, 100);
    base::append_i64(first, 100);
    EXPECT_EQ(encode(state), first);
}

/// A decision with everything that came later: a censored report and two taken actions.
JoinState full_state() {
    JoinState state = decided(at(7));
    auto censored = report(1, 0, 60);
    censored.censored = true;
    add_report(state, report(0, 1, 50), kEver);
    add_report(state, censored, kEver);
    for (const uint32_t revision : {2u, 0u}) {
        add_override(state,
                     {domain::DecisionId("d"), revision, domain::Action::kApprove, "a", "r", at(9)},
                     at(20));
    }
    mature(state, "repaid", at(100));
    return state;
}

TEST(JoinState, TheSecondFormHoldsCensoringActionsAndErasure) {
    const auto bytes = encode(full_state());
    EXPECT_EQ(bytes[0], 2);
    EXPECT_EQ(decode_join_state(bytes).value(), full_state());
    for (size_t n = 0; n < bytes.size(); ++n) {
        EXPECT_FALSE(decode_join_state(bytes.substr(0, n)));
    }
    EXPECT_EQ(decode_join_state(encode(erased_state())).value(), erased_state());
    const auto broken = [](auto damage) {
        JoinState state = full_state();
        damage(state);
        return !decode_join_state(encode(state));
    };
    EXPECT_FALSE(broken([](JoinState&) {}));
    EXPECT_TRUE(broken([](JoinState& s) { s.erased = true; }));
    EXPECT_TRUE(broken([](JoinState& s) { std::swap(s.taken[0], s.taken[1]); }));
    EXPECT_TRUE(broken([](JoinState& s) { s.taken[1] = s.taken[0]; }));
    EXPECT_TRUE(broken([](JoinState& s) { s.reports[1].value = 1; }));
    EXPECT_TRUE(broken([](JoinState& s) { s.versions[0].value = 1; }));
    auto flag = bytes;
    flag[1] = 2;
    EXPECT_FALSE(decode_join_state(flag));
    // what could be said in the first form is not said in the second
    std::string plain = encode(decided(at(7)));
    plain[0] = 2;
    plain.insert(1, 1, '\0');
    base::append_u32(plain, 0);
    EXPECT_FALSE(decode_join_state(plain));
}

TEST(JoinState, AnErasedStateTakesNothingIn) {
    JoinState state = erased_state();
    EXPECT_EQ(add_decision(state, "bytes", kEver), Applied::kErased);
    EXPECT_EQ(add_report(state, report(0, 1, 1), kEver), Applied::kErased);
    EXPECT_EQ(add_override(state, {}, kEver), Applied::kErased);
    EXPECT_EQ(state, erased_state());
}

TEST(JoinState, WhatIsNeverWrittenIsNotRead) {
    JoinState good = decided(at(7));
    good.reports = {{"repaid", 0, 1, at(50)}, {"repaid", 3, -0.5, at(130)}};
    good.versions = {{"repaid", 0, 1.0, 0, at(100), at(100)}, {"score", 0, {}, 0, at(9), at(9)}};
    const auto broken = [&good](auto damage) {
        JoinState state = good;
        damage(state);
        const auto read = decode_join_state(encode(state));
        return !read && read.error().reason == "bad_join_state";
    };
    EXPECT_FALSE(broken([](JoinState&) {}));
    EXPECT_TRUE(broken([](JoinState& s) { std::swap(s.reports[0], s.reports[1]); }));
    EXPECT_TRUE(broken([](JoinState& s) { s.reports[1] = s.reports[0]; }));
    EXPECT_TRUE(broken([](JoinState& s) { s.reports[1].value = INFINITY; }));
    EXPECT_TRUE(broken([](JoinState& s) { s.versions[0].value = NAN; }));
    EXPECT_TRUE(broken([](JoinState& s) { std::swap(s.versions[0], s.versions[1]); }));
    EXPECT_TRUE(broken([](JoinState& s) {
        for (uint32_t i = 0; i < kMaxReports; ++i) s.reports.push_back({"z", i, 0, at(1)});
    }));
    // the mark of the last version, which has no value: u8 mark, f64, u32, i64, i64
    auto bytes = encode(good);
    char& mark = bytes[bytes.size() - 29];
    ASSERT_EQ(mark, 0);
    for (const char wrong : {2, -1}) {
        mark = wrong;
        EXPECT_EQ(decode_join_state(bytes).error().reason, "bad_join_state");
    }
    mark = 0;
    bytes[bytes.size() - 21] = 1;  // a value, though there is none
    EXPECT_EQ(decode_join_state(bytes).error().reason, "bad_join_state");
}

RC_GTEST_PROP(JoinStateLaw, VersionsCountUpWithRisingRevisionsAndEndAtTheHighest, ()) {
    JoinState state = decided();
    const auto maturity = *rc::gen::inRange<size_t>(0, 10);
    uint32_t highest = 0;
    for (size_t i = 0; i < 10; ++i) {
        if (i == maturity) mature(state, "repaid", at(100));
        const auto revision = *rc::gen::inRange<uint32_t>(0, 6);
        add_report(state, report(revision, revision, *rc::gen::inRange<int64_t>(0, 200)), at(120));
        highest = std::max(highest, revision);
    }
    RC_ASSERT(latest(state, "repaid")->value == highest);
    for (size_t v = 0; v < state.versions.size(); ++v) {
        RC_ASSERT(state.versions[v].version == v);
        RC_ASSERT(state.versions[v].known_at >= at(100));
        if (v > 0 && state.versions[v - 1].value) {
            RC_ASSERT(state.versions[v].revision > state.versions[v - 1].revision);
        }
    }
}

/// One that has all of a dated state: what comes in time, too late, and once more.
JoinState dated_state() {
    JoinState state;
    add_decision(state, "bytes", {at(5), true});
    add_report(state, report(0, 1, 50), {at(60), true});
    mature(state, "repaid", at(100));
    add_report(state, report(1, 0, 50), {at(201), true});
    add_override(state, {domain::DecisionId("d"), 0, domain::Action::kApprove, "a", "r", at(9)},
                 {at(20), true});
    return state;
}

TEST(DatedState, AReportCountsForVersionZeroOnlyIfItHadArrived) {
    JoinState state;
    add_decision(state, "bytes", {at(5), true});
    add_report(state, report(0, 1, 50), {at(201), true});
    EXPECT_EQ(mature(state, "repaid", at(100)), 1u);
    EXPECT_EQ(state.versions, (std::vector<Version>{{"repaid", 0, {}, 0, at(100), at(100)},
                                                    {"repaid", 1, 1.0, 0, at(100), at(201)}}));
    // the same in another partition, where it was appended before maturity
    EXPECT_EQ(add_report(state, report(0, 1, 50), {at(90), true}), Applied::kEarlier);
    EXPECT_EQ(add_report(state, report(0, 1, 50), {at(91), true}), Applied::kDuplicate);
    EXPECT_EQ(add_report(state, report(0, 0, 50), {at(80), true}), Applied::kConflict);
    EXPECT_EQ(state.versions, (std::vector<Version>{{"repaid", 0, 1.0, 0, at(100), at(100)}}));
    EXPECT_EQ(late_reports(state, "repaid"), 0u);
}

TEST(DatedState, IsStoredInTheThirdFormAndItsDigestCoversWhenAllBecameKnown) {
    const JoinState state = dated_state();
    const auto bytes = encode(state);
    EXPECT_EQ(bytes[0], 3);
    EXPECT_EQ(decode_join_state(bytes).value(), state);
    for (size_t n = 0; n < bytes.size(); ++n) {
        EXPECT_FALSE(decode_join_state(bytes.substr(0, n)));
    }
    JoinState nothing;
    nothing.dated = true;
    EXPECT_EQ(decode_join_state(encode(nothing)).error().reason, "bad_join_state");
    const auto changes_digest = [&](auto change) {
        JoinState other = state;
        change(other);
        return state_digest("d", other) != state_digest("d", state);
    };
    EXPECT_FALSE(changes_digest([](JoinState&) {}));
    EXPECT_TRUE(changes_digest([](JoinState& s) { s.known_from = at(6); }));
    EXPECT_TRUE(changes_digest([](JoinState& s) { s.reports[0].known_at = at(61); }));
    EXPECT_TRUE(changes_digest([](JoinState& s) { s.versions[1].known_at = at(202); }));
    EXPECT_TRUE(changes_digest([](JoinState& s) { s.taken[0].known_at = at(21); }));
}

TEST(DatedState, IsDatedNoLongerWhenOneRecordDoesNotSayWhenItWasAppended) {
    JoinState state = dated_state();
    const auto before = state.versions;
    add_report(state, report(0, 1, 50, "score"), at(300));
    EXPECT_FALSE(state.dated);
    EXPECT_EQ(state.versions, before);
    EXPECT_EQ(decode_join_state(encode(state)).value(), state);
    add_report(state, report(2, 1, 50), {at(400), true});
    EXPECT_FALSE(state.dated);
    EXPECT_EQ(latest(state, "repaid")->known_at, at(400));
    EXPECT_EQ(latest(state, "repaid")->version, 2u);
}

/// The same records in any order, with maturity at any moment, make the same dated state.
RC_GTEST_PROP(DatedState, IsAFunctionOfItsRecords, ()) {
    using Step = std::function<void(JoinState&)>;
    const auto appended = [] { return Arrival(at(*rc::gen::inRange<int64_t>(0, 200)), true); };
    std::vector<Step> steps{
        [arrival = appended()](JoinState& s) { add_decision(s, "bytes", arrival); }};
    for (int n = *rc::gen::inRange(0, 10); n > 0; --n) {
        const auto revision = *rc::gen::inRange<uint32_t>(0, 5);
        if (*rc::gen::inRange(0, 4) == 0) {
            const domain::Override taken{
                domain::DecisionId("d"), revision, domain::Action::kApprove, "a", "r", at(90)};
            steps.push_back([=, a = appended()](JoinState& s) { add_override(s, taken, a); });
        } else {  // content is a function of the name: no conflicts
            const auto outcome = report(revision, revision, 60 + 20 * int64_t{revision});
            steps.push_back([=, a = appended()](JoinState& s) { add_report(s, outcome, a); });
        }
    }
    const auto make = [&](size_t matured) {
        JoinState state;
        for (size_t i = 0; i < steps.size(); ++i) {
            if (i >= matured && !state.decision.empty()) mature(state, "repaid", at(100));
            steps[i](state);
        }
        mature(state, "repaid", at(100));
        return state;
    };
    const JoinState straight = make(steps.size());
    RC_ASSERT(straight.dated);
    RC_ASSERT(decode_join_state(encode(straight)).value() == straight);
    for (size_t n = steps.size(); n > 1; --n) {
        std::swap(steps[n - 1], steps[*rc::gen::inRange<size_t>(0, n)]);
        RC_ASSERT(make(*rc::gen::inRange<size_t>(0, steps.size())) == straight);
    }
}

}  // namespace
}  // namespace rampart::joiner
