#include "rampart/domain/assignment.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::domain {
namespace {

Assignment sample() {
    return {"challenge-1",
            base::parse_iso8601("2026-01-01").value(),
            {{PolicyId("champion"), 0.7}, {PolicyId("one"), 0.2}, {PolicyId("two"), 0.1}}};
}

template <class Change>
std::string reason_after(const Change& change) {
    Assignment assignment = sample();
    change(assignment);
    const auto status = validate(assignment);
    return status ? "" : status.error().reason;
}

TEST(Assignment, SharesThatSumToOneAreAccepted) {
    EXPECT_EQ(reason_after([](Assignment&) {}), "") << "0.7 + 0.2 + 0.1 is not 1 to the bit";
    EXPECT_EQ(reason_after([](Assignment& a) {
                  a.arms.clear();
                  for (size_t i = 0; i < kMaxArms; ++i)
                      a.arms.push_back({PolicyId(fmt::format("p{}", i)), 1.0 / kMaxArms});
              }),
              "");
}

TEST(Assignment, WhatIsNoPartitionOfThePeopleIsRefused) {
    for (const double share : {0.0, -0.1, 1.0, 1.1, 0.2001, std::nan("")}) {
        EXPECT_EQ(reason_after([&](Assignment& a) { a.arms[1].share = share; }), "bad_assignment")
            << share;
    }
    EXPECT_EQ(reason_after([](Assignment& a) { a.arms[2].policy = a.arms[0].policy; }),
              "bad_assignment");
    EXPECT_EQ(reason_after([](Assignment& a) { a.arms.resize(1); }), "bad_assignment");
    EXPECT_EQ(reason_after([](Assignment& a) { a.arms.clear(); }), "bad_assignment");
    EXPECT_EQ(reason_after([](Assignment& a) {
                  a.arms.clear();
                  for (size_t i = 0; i <= kMaxArms; ++i)
                      a.arms.push_back({PolicyId(fmt::format("p{}", i)), 1.0 / (kMaxArms + 1)});
              }),
              "bad_assignment");
    EXPECT_EQ(reason_after([](Assignment& a) { a.id = ""; }), "bad_id");
    EXPECT_EQ(reason_after([](Assignment& a) { a.arms[1].policy = PolicyId("a b"); }), "bad_id");
}

}  // namespace
}  // namespace rampart::domain
