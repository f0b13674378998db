#include "rampart/registry/assignment_notice.hpp"

#include <gtest/gtest.h>

namespace rampart::registry {
namespace {

const auto kKey = base::SigningKey::from_raw(std::string(32, 'k')).value();
const auto kOther = base::SigningKey::from_raw(std::string(32, 'o')).value();

AssignmentNotice notice() {
    const domain::PolicyId first(std::string(64, 'a')), second(std::string(64, 'b'));
    return {7, 3, 5, "arm-key",
            domain::Assignment{
                "spring", base::TimePoint::from_micros(9), {{first, 0.9}, {second, 0.1}}}};
}

TEST(AssignmentNotice, IsReadBackByWhoKnowsTheKeyAlsoWhereTheChampionAloneDecides) {
    auto one = notice();
    EXPECT_EQ(decode_assignment_notice(encode(one, kKey), kKey.public_key()).value(), one);
    EXPECT_EQ(decode_assignment_notice(encode(one, kKey), kOther.public_key()).error().reason,
              "bad_signature");
    one.assignment.reset();
    EXPECT_EQ(decode_assignment_notice(encode(one, kKey), kKey.public_key()).value(), one);
}

TEST(AssignmentNotice, IsRefusedWhereAByteIsAnotherOrMissing) {
    const auto bytes = encode(notice(), kKey);
    for (size_t i = 0; i < bytes.size(); ++i) {
        auto changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(decode_assignment_notice(changed, kKey.public_key())) << i;
        EXPECT_FALSE(decode_assignment_notice(bytes.substr(0, i), kKey.public_key())) << i;
    }
    EXPECT_EQ(decode_assignment_notice(bytes + "x", kKey.public_key()).error().reason,
              "bad_notice");
    for (uint64_t AssignmentNotice::*number :
         {&AssignmentNotice::epoch, &AssignmentNotice::change}) {
        auto none = notice();
        none.*number = 0;
        EXPECT_EQ(decode_assignment_notice(encode(none, kKey), kKey.public_key()).error().reason,
                  "bad_notice");
    }
}

TEST(AssignmentNotice, HasAKeyOfItsOwnForEachEpoch) {
    EXPECT_EQ(assignment_notice_key(12), "assignment/12");
    EXPECT_TRUE(is_assignment_notice("assignment/12"));
    for (const char* other : {"assignment", "champion/12", "schema/12", ""})
        EXPECT_FALSE(is_assignment_notice(other)) << other;
}

}  // namespace
}  // namespace rampart::registry
