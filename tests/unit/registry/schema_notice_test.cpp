#include "rampart/registry/schema_notice.hpp"

#include <gtest/gtest.h>

namespace rampart::registry {
namespace {

const auto kKey = base::SigningKey::from_raw(std::string(32, 'k')).value();
const auto kOther = base::SigningKey::from_raw(std::string(32, 'o')).value();

TEST(SchemaNotice, IsReadBackByWhoKnowsTheKey) {
    const SchemaNotice notice{7, "[[feature]]\nname = \"income\"\nkind = \"numeric\"\n"};
    const auto bytes = encode(notice, kKey);
    EXPECT_EQ(decode_schema_notice(bytes, kKey.public_key()).value(), notice);
    EXPECT_EQ(decode_schema_notice(bytes, kOther.public_key()).error().reason, "bad_signature");
}

TEST(SchemaNotice, IsRefusedWhereAByteIsAnotherOrMissing) {
    const auto bytes = encode({7, "text"}, kKey);
    for (size_t i = 0; i < bytes.size(); ++i) {
        auto changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(decode_schema_notice(changed, kKey.public_key())) << i;
        EXPECT_FALSE(decode_schema_notice(bytes.substr(0, i), kKey.public_key())) << i;
    }
    EXPECT_EQ(decode_schema_notice(bytes + "x", kKey.public_key()).error().reason, "bad_notice");
    auto later = bytes;
    later[0] = 2;
    EXPECT_EQ(decode_schema_notice(later, kKey.public_key()).error().reason, "bad_notice");
}

TEST(SchemaNotice, HasAKeyOfItsOwnForEachEpoch) {
    EXPECT_EQ(schema_notice_key(12), "schema/12");
    EXPECT_TRUE(is_schema_notice("schema/12"));
    EXPECT_FALSE(is_schema_notice("champion/12"));
    EXPECT_FALSE(is_schema_notice("schema"));
    EXPECT_EQ(epoch_of_schema_notice("schema/12"), 12u);
    for (const char* other : {"schema/", "schema/x", "schema/012", "schema/12x", "schema/-1",
                              "schema/99999999999999999999", "champion/12"})
        EXPECT_EQ(epoch_of_schema_notice(other), std::nullopt) << other;
}

}  // namespace
}  // namespace rampart::registry
