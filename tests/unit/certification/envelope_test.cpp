#include "rampart/certification/envelope.hpp"

#include <gtest/gtest.h>

namespace rampart::certification {
namespace {

const base::SigningKey kKey = base::SigningKey::generate();

TEST(Envelope, GivesThePayloadBackToWhoHasTheKeyAndTheType) {
    const auto signed_text = sign_envelope("a type", R"({"a":1})", kKey);
    EXPECT_EQ(open_envelope("a type", signed_text, kKey.public_key()).value(), R"({"a":1})");
    EXPECT_EQ(signer_of(signed_text), kKey.public_key().id());
    EXPECT_EQ(open_envelope("other", signed_text, kKey.public_key()).error().reason,
              "other_payload");
    const auto other = base::SigningKey::generate();
    EXPECT_EQ(open_envelope("a type", signed_text, other.public_key()).error().reason, "other_key");
}

TEST(Envelope, IsRefusedWhereAByteWasChangedOrCutOff) {
    const auto whole = sign_envelope("a type", std::string(60, 'p'), kKey);
    for (size_t i = 0; i < whole.size(); ++i) {
        auto changed = whole;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(open_envelope("a type", changed, kKey.public_key())) << changed;
        EXPECT_FALSE(open_envelope("a type", whole.substr(0, i), kKey.public_key())) << i;
    }
    EXPECT_EQ(signer_of("no envelope"), "");
}

}  // namespace
}  // namespace rampart::certification
