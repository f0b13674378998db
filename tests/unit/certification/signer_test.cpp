#include "rampart/certification/signer.hpp"

#include <gtest/gtest.h>

#include "rampart/certification/ledger_head.hpp"

namespace rampart::certification {
namespace {

using base::SigningKey;
using base::VerifyingKey;

class Signer : public testing::Test {
  protected:
    SigningKey now_ = SigningKey::generate(), before_ = SigningKey::generate(),
               other_ = SigningKey::generate();
    std::vector<VerifyingKey> keys_{now_.public_key(), before_.public_key()};
};

TEST_F(Signer, KeysAreReadInTheOrderInWhichTheyWereWritten) {
    const auto pem = write_keys(keys_);
    const auto read = read_keys(pem);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].id(), now_.public_key().id());
    EXPECT_EQ((*read)[1].id(), before_.public_key().id());
    EXPECT_EQ(VerifyingKey::from_pem(pem)->id(), now_.public_key().id())
        << "programs that read one key take the one in use";
    EXPECT_EQ(read_keys(pem + "\n\n")->size(), 2u);
    EXPECT_EQ(read_keys(now_.public_key().to_pem())->size(), 1u);
}

TEST_F(Signer, WhatIsNoKeyIsRefusedWhereverItStands) {
    const auto pem = write_keys(keys_);
    for (const auto& bad : {std::string(), std::string("\n"), std::string("none"), pem + "none",
                            pem.substr(0, pem.size() - 20), now_.to_pem()}) {
        const auto read = read_keys(bad);
        ASSERT_FALSE(read) << bad;
        EXPECT_EQ(read.error().reason, "bad_key");
    }
}

TEST_F(Signer, TheKeyThatSignedIsFoundAmongThoseOfTheGate) {
    const LedgerHead head{};
    EXPECT_EQ(signer_among(sign_head(head, now_), keys_).id(), now_.public_key().id());
    const auto earlier = sign_head(head, before_);
    EXPECT_EQ(signer_among(earlier, keys_).id(), before_.public_key().id());
    EXPECT_TRUE(read_head(earlier, signer_among(earlier, keys_)));

    const auto foreign = sign_head(head, other_);
    const auto refused = read_head(foreign, signer_among(foreign, keys_));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "other_key");
    EXPECT_EQ(signer_among("no envelope", keys_).id(), now_.public_key().id());
}

}  // namespace
}  // namespace rampart::certification
