#include "rampart/joiner/state_hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "support/loan_makers.hpp"

namespace rampart::joiner {
namespace {

base::Digest digest(int n) { return base::sha256(std::to_string(n)); }

TEST(StateHash, CarriesAndBorrowsThroughAllBytes) {
    base::Digest one, all;
    one.bytes[31] = 1;
    all.bytes.fill(0xff);
    auto hash = StateHash::from(all);
    hash.add(one);
    EXPECT_EQ(hash, StateHash());
    hash.remove(one);
    EXPECT_EQ(hash.value(), all);
}

RC_GTEST_PROP(StateHash, DoesNotDependOnTheOrderOfChanges, (std::vector<int> members)) {
    StateHash forward, backward;
    for (const int m : members) forward.add(digest(m));
    std::reverse(members.begin(), members.end());
    for (const int m : members) {
        backward.add(digest(m));
        backward.add(digest(m + 1));
        backward.remove(digest(m + 1));
    }
    RC_ASSERT(forward == backward);
    for (const int m : members) forward.remove(digest(m));
    RC_ASSERT(forward == StateHash());
}

TEST(StateHash, AStatesDigestLeavesOutWhenThingsArrivedAndNothingElse) {
    JoinState state{"bytes", support::day(1), {{"m", 0, 1, support::day(2)}}, {}};
    mature(state, "m", support::day(3));
    const auto before = state_digest("d", state);
    auto later = state;
    later.known_from = support::day(9);
    later.versions[0].known_at = support::day(9);
    later.versions[0].version = 4;
    EXPECT_EQ(state_digest("d", later), before);
    EXPECT_NE(state_digest("e", state), before);
    auto other = state;
    other.reports[0].value = 2;
    EXPECT_NE(state_digest("d", other), before);
    other = state;
    other.versions[0].value.reset();
    EXPECT_NE(state_digest("d", other), before);
    const domain::Override taken{
        domain::DecisionId("d"), 0, domain::Action::kApprove, "a", "r", {}};
    auto early = state, late = state;
    add_override(early, taken, support::day(1));
    add_override(late, taken, support::day(5));
    EXPECT_NE(early, late);
    EXPECT_EQ(state_digest("d", early), state_digest("d", late));
    EXPECT_NE(state_digest("d", early), before);
    EXPECT_NE(state_digest("d", erased_state()), state_digest("d", JoinState()));
    EXPECT_NE(state_digest("d", erased_state()), state_digest("e", erased_state()));
}

}  // namespace
}  // namespace rampart::joiner
