#include "rampart/base/signing.hpp"

#include <gtest/gtest.h>

namespace rampart::base {
namespace {

TEST(Signing, AcceptsItsOwnSignatureAndNoOther) {
    const auto key = SigningKey::generate();
    const auto signature = key.sign("statement");
    EXPECT_TRUE(key.public_key().verify("statement", signature));
    EXPECT_FALSE(key.public_key().verify("statemenT", signature));
    EXPECT_FALSE(SigningKey::generate().public_key().verify("statement", signature));
    for (size_t i = 0; i < signature.size(); ++i) {
        auto bent = signature;
        bent[i] = static_cast<char>(bent[i] ^ 1);
        EXPECT_FALSE(key.public_key().verify("statement", bent)) << i;
    }
    EXPECT_FALSE(key.public_key().verify("statement", ""));
}

TEST(Signing, KeysSurviveTheirPemForm) {
    const auto key = SigningKey::generate();
    const auto again = SigningKey::from_pem(key.to_pem()).value();
    EXPECT_EQ(again.sign("m"), key.sign("m"));
    const auto verifying = VerifyingKey::from_pem(key.public_key().to_pem()).value();
    EXPECT_EQ(verifying.id(), key.public_key().id());
    EXPECT_TRUE(verifying.verify("m", key.sign("m")));
}

TEST(Signing, RefusesWhatIsNoKey) {
    EXPECT_FALSE(SigningKey::from_pem("hello"));
    EXPECT_FALSE(VerifyingKey::from_pem(SigningKey::generate().to_pem()));
}

}  // namespace
}  // namespace rampart::base
