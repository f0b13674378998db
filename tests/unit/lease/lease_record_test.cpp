#include "rampart/lease/lease_record.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"

namespace rampart::lease {
namespace {

using streaming::Offset;
using streaming::PartitionId;

LeaseRecord sample(LeaseRecord::Kind kind) {
    LeaseRecord record{
        kind, 7, {}, base::Duration::seconds(10), "node-1", std::string("0123456789abcde\0", 16)};
    if (kind == LeaseRecord::Kind::kClaim) record.replaces = Offset(41);
    return record;
}

TEST(LeaseRecord, IsStoredAndReadBack) {
    using enum LeaseRecord::Kind;
    for (const auto kind : {kClaim, kBeat, kRelease}) {
        EXPECT_EQ(decode_lease(encode(sample(kind))).value(), sample(kind));
    }
    auto first = sample(kClaim);
    first.replaces.reset();
    EXPECT_EQ(decode_lease(encode(first)).value(), first);
}

TEST(LeaseRecord, HasTheBytesThatTheKeysPageSays) {
    EXPECT_EQ(base::to_hex(encode(sample(LeaseRecord::Kind::kClaim))),
              "01"                                          // format
              "01"                                          // claim
              "0000000000000007"                            // epoch
              "8000000000000029"                            // replaces 41
              "8000000000989680"                            // 10 s
              "000000066e6f64652d31"                        // node
              "0000001030313233343536373839616263646500");  // session
}

TEST(LeaseRecord, BytesThatAreNoneAreAnError) {
    const auto good = encode(sample(LeaseRecord::Kind::kClaim));
    for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(decode_lease(good.substr(0, n))) << n;
    EXPECT_FALSE(decode_lease(good + "x"));
    const auto with = [&](auto change) {
        auto record = sample(LeaseRecord::Kind::kBeat);
        change(record);
        const auto decoded = decode_lease(encode(record));
        return decoded ? "" : decoded.error().reason;
    };
    EXPECT_EQ(with([](auto&) {}), "");
    EXPECT_EQ(with([](auto& r) { r.epoch = 0; }), "bad_lease");
    EXPECT_EQ(with([](auto& r) { r.ttl = {}; }), "bad_lease");
    EXPECT_EQ(with([](auto& r) { r.node = "a b"; }), "bad_lease");
    EXPECT_EQ(with([](auto& r) { r.session = "short"; }), "bad_lease");
    EXPECT_EQ(with([](auto& r) { r.replaces = Offset(1); }), "bad_lease");
    EXPECT_EQ(with([](auto& r) { r.kind = LeaseRecord::Kind(4); }), "bad_lease");
    auto format = good;
    format[0] = 2;
    EXPECT_EQ(decode_lease(format).error().reason, "bad_lease");
}

TEST(LeaseRecord, TheKeyNamesGroupAndPartition) {
    EXPECT_EQ(lease_key("loans", PartitionId(12)), "loans/12");
    const auto lease = lease_of("loans/12");
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->first, "loans");
    EXPECT_EQ(lease->second, PartitionId(12));
    EXPECT_EQ(lease_of("g/0")->second, PartitionId(0));
    for (const char* bad : {"", "loans", "loans/", "/1", "loans/-1", "loans/01", "loans/1x",
                            "loans/2147483648", "lo ans/1", "a/b/1", "loans/+1"}) {
        EXPECT_FALSE(lease_of(bad)) << bad;
    }
}

TEST(LeaseRecord, ANameHasALimit) {
    EXPECT_TRUE(check_name("node", std::string(128, 'n')));
    EXPECT_FALSE(check_name("node", std::string(129, 'n')));
    EXPECT_EQ(check_name("node", "").error().reason, "bad_name");
    EXPECT_NE(check_name("node", "a/b").error().message.find("node is 'a/b'"), std::string::npos);
}

}  // namespace
}  // namespace rampart::lease
