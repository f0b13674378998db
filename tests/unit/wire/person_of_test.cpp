#include "rampart/wire/person_of.hpp"

#include <gtest/gtest.h>

#include "rampart/wire/event_codec.hpp"
#include "support/loan_makers.hpp"

namespace rampart::wire {
namespace {

using support::day;
using support::make_decision;

TEST(PersonOfDecision, IsWhomDecodingItNames) {
    for (const std::string name : {"1", "anna@example.org", "z"}) {
        const auto decision = make_decision(name, day(3));
        EXPECT_EQ(person_of_decision(encode(decision)).value(), decision.application.person);
    }
}

TEST(PersonOfDecision, WhatIsNoDecisionIsAnErrorWhereverItEnds) {
    EXPECT_EQ(person_of_decision("garbage").error().reason, "not_a_message");
    EXPECT_EQ(person_of_decision("").error().reason, "not_a_message");
    const auto bytes = encode(make_decision("1", day(3)));
    for (size_t n = 0; n < bytes.size(); ++n) {
        const auto cut = person_of_decision(std::string_view(bytes).substr(0, n));
        if (cut) {
            EXPECT_EQ(*cut, domain::PersonId("p-1")) << n;
        } else {
            EXPECT_EQ(cut.error().reason, "not_a_message") << n;
        }
    }
}

TEST(PersonOfDecision, OfSeveralTheLastCountsAsItDoesWhenDecoded) {
    const auto both = encode(make_decision("1", day(3))) + encode(make_decision("2", day(3)));
    EXPECT_EQ(person_of_decision(both).value(), domain::PersonId("p-2"));
    auto nobody = make_decision("1", day(3));
    nobody.application.person = domain::PersonId("");
    EXPECT_FALSE(person_of_decision(encode(nobody)));
}

}  // namespace
}  // namespace rampart::wire
