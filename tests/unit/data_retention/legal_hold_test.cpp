#include "rampart/data_retention/legal_hold.hpp"

#include <gtest/gtest.h>

#include "support/small_stores.hpp"

namespace rampart::data_retention {
namespace {

using support::day;

class LegalHold : public testing::Test {
  protected:
    static HoldRequest request(std::string until = {}) {
        return {domain::PersonId("anna"), "court-7", "a claim", "counsel", day(100),
                std::move(until)};
    }
    support::SmallStores stores_;
    const HoldDeps deps_{*stores_.keys, *stores_.holds, *stores_.registry};
};

TEST_F(LegalHold, IsInForceUntilItEndsAndIsAudited) {
    const auto hold = place_hold(deps_, request("1970-07-01")).value();
    EXPECT_EQ(hold.person, stores_.keys->tag_of(domain::PersonId("anna")));
    EXPECT_EQ(stores_.holds->in_force(hold.person, day(100))->size(), 1u);
    EXPECT_TRUE(stores_.holds->in_force(hold.person, day(200))->empty());
    const auto entry = stores_.audited();
    EXPECT_EQ(entry.action, "hold_add");
    EXPECT_EQ(entry.actor, "counsel");
    EXPECT_EQ(entry.details.at("until"), "1970-07-01") << "as it was given";
    EXPECT_EQ(entry.details.at("matter"), "court-7");
    EXPECT_EQ(entry.details.at("person"), base::to_hex(hold.person.value()));
}

TEST_F(LegalHold, WithoutAnEndItIsInForceUntilItIsLifted) {
    const auto hold = place_hold(deps_, request()).value();
    EXPECT_FALSE(hold.until);
    EXPECT_EQ(stores_.audited().details.count("until"), 0u);
    ASSERT_TRUE(lift_hold(deps_, request()));
    EXPECT_EQ(stores_.audited().action, "hold_remove");
    EXPECT_TRUE(stores_.holds->holds()->empty());
    EXPECT_EQ(lift_hold(deps_, request()).error().reason, "no_hold");
}

TEST_F(LegalHold, WithAWrongEndNothingIsAudited) {
    const auto before = stores_.registry->audit_entries()->size();
    EXPECT_EQ(place_hold(deps_, request("tomorrow")).error().code,
              base::ErrorCode::kInvalidArgument);
    EXPECT_EQ(stores_.registry->audit_entries()->size(), before);
    EXPECT_TRUE(stores_.holds->holds()->empty());
}

}  // namespace
}  // namespace rampart::data_retention
