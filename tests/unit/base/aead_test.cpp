#include "rampart/base/aead.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rampart/base/digest.hpp"

namespace rampart::base {
namespace {

const std::string kKey(kAeadKeyBytes, 'k');

TEST(Aead, OpensWhatAnotherImplementationSealed) {
    // test case 15 of McGrew and Viega's specification of GCM: AES-256, no associated data
    const auto bytes = [](std::string_view hex) { return from_hex(hex).value(); };
    const auto key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
    const auto plaintext = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255");
    const auto sealed = bytes(
        "cafebabefacedbaddecaf888"
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
        "b094dac5d93471bdec1a502270e3cc6c");
    EXPECT_EQ(unseal(key, "", sealed).value(), plaintext);
}

TEST(Aead, EachSealIsAnother) { EXPECT_NE(seal(kKey, "a", "text"), seal(kKey, "a", "text")); }

TEST(Aead, AnotherKeyOtherAssociatedDataOrAnyChangeIsNoticed) {
    const std::string sealed = seal(kKey, "decision 1", "text");
    EXPECT_EQ(sealed.size(), kAeadOverheadBytes + 4);
    EXPECT_EQ(unseal(std::string(kAeadKeyBytes, 'x'), "decision 1", sealed).error().reason,
              "not_authentic");
    EXPECT_EQ(unseal(kKey, "decision 2", sealed).error().reason, "not_authentic");
    for (size_t i = 0; i < sealed.size(); ++i) {
        auto changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(unseal(kKey, "decision 1", changed)) << i;
        EXPECT_FALSE(unseal(kKey, "decision 1", sealed.substr(0, i))) << i;
    }
}

RC_GTEST_PROP(AeadLaw, WhatIsSealedIsOpened,
              (const std::string& associated, const std::string& plaintext)) {
    const auto opened = unseal(kKey, associated, seal(kKey, associated, plaintext));
    RC_ASSERT(opened.has_value() && *opened == plaintext);
}

}  // namespace
}  // namespace rampart::base
