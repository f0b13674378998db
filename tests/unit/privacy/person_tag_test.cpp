#include "rampart/privacy/person_tag.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"

namespace rampart::privacy {
namespace {

TEST(PersonTag, DependsOnPersonAndSecretAndIsTheSameForEver) {
    const auto tag = person_tag("secret", domain::PersonId("anna"));
    EXPECT_EQ(tag.value().size(), kPersonTagBytes);
    // echo -n personanna | openssl dgst -sha256 -hmac secret
    EXPECT_EQ(base::to_hex(tag.value()), "e8e8386f4335a0da414846203ad04103");
    EXPECT_NE(person_tag("secret", domain::PersonId("bert")), tag);
    EXPECT_NE(person_tag("other", domain::PersonId("anna")), tag);
}

}  // namespace
}  // namespace rampart::privacy
