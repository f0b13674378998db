#include "rampart/wire/assignment_codec.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "support/places.hpp"

namespace rampart::wire {
namespace {

domain::Assignment sample() {
    return {"challenge-2026",
            base::parse_iso8601("2026-01-01").value(),
            {{domain::PolicyId("champion"), 0.75}, {domain::PolicyId("challenger"), 0.25}}};
}

/// Returns the released message as hex digits and a newline.
std::string released() {
    const auto path = fmt::format("{}/tests/golden/assignment_v1.hex", test_support::source_dir());
    return base::read_file(path, 4096).value();
}

TEST(AssignmentCodec, WhatIsEncodedComesBackAndTheGoldenDecodesForEver) {
    EXPECT_EQ(decode_assignment(encode(sample())), sample());
    const auto hex = released();
    EXPECT_EQ(decode_assignment(base::from_hex(hex.substr(0, hex.size() - 1)).value()), sample());
    EXPECT_EQ(base::to_hex(encode(sample())) + "\n", hex);
}

TEST(AssignmentCodec, WhatIsNoAssignmentIsRefused) {
    EXPECT_EQ(decode_assignment("\xff\xff").error().code, base::ErrorCode::kDataLoss);
    EXPECT_EQ(decode_assignment("").error().reason, "bad_id");
    auto other = sample();
    other.arms[1].share = 0.3;
    EXPECT_EQ(decode_assignment(encode(other)).error().reason, "bad_assignment");
    const auto bytes = encode(sample());
    EXPECT_FALSE(decode_assignment(std::string_view(bytes).substr(0, bytes.size() - 3)));
}

}  // namespace
}  // namespace rampart::wire
