#include "rampart/base/signing.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"

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

TEST(Signing, MatchesRfc8032) {
    // section 7.1, test 2
    const auto secret =
        from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").value();
    const auto key = SigningKey::from_raw(secret).value();
    EXPECT_EQ(to_hex(key.sign("\x72")),
              "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
              "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

TEST(Signing, RefusesWhatIsNoKey) {
    EXPECT_FALSE(SigningKey::from_raw("short"));
    EXPECT_FALSE(SigningKey::from_pem("hello"));
    EXPECT_FALSE(VerifyingKey::from_pem(SigningKey::generate().to_pem()));
}

}  // namespace
}  // namespace rampart::base
