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
    auto advertised = sample(kBeat);
    advertised.address = "https://node-1.bank.example:8443";
    EXPECT_EQ(decode_lease(encode(advertised)).value(), advertised);
}

TEST(LeaseRecord, OneWithoutAnAddressHasTheBytesOfEarlierReleases) {
    const auto older = sample(LeaseRecord::Kind::kClaim);
    EXPECT_EQ(older.address, "");
    auto newer = older;
    newer.address = "http://[::1]:8080";
    const std::string added("\0\0\0\x11http://[::1]:8080", 4 + 17);
    EXPECT_EQ(encode(newer), encode(older) + added);
    EXPECT_EQ(decode_lease(encode(newer)).value(), newer);
    for (size_t n = 1; n < added.size(); ++n)
        EXPECT_FALSE(decode_lease(encode(older) + added.substr(0, n))) << n;
    EXPECT_FALSE(decode_lease(encode(newer) + "x"));
    EXPECT_FALSE(decode_lease(encode(older) + std::string(4, '\0'))) << "an empty one";
}

TEST(LeaseRecord, AnAddressIsSchemeHostAndPort) {
    for (const char* good : {"https://node-1.bank.example:8443", "http://127.0.0.1:1",
                             "https://[2001:db8::1]:65535", "http://LOCALHOST:8080", "http://a:80"})
        EXPECT_TRUE(check_address(good)) << good;
    EXPECT_TRUE(check_address("http://" + std::string(253, 'h') + ":1"));
    EXPECT_FALSE(check_address("http://" + std::string(254, 'h') + ":1"));
    for (const char* bad : {"",
                            "node-1:8443",
                            "ftp://node-1:21",
                            "HTTPS://node-1:8443",
                            "https:/node-1:8443",
                            "https://node-1",
                            "https://node-1:",
                            "https://node-1:0",
                            "https://node-1:65536",
                            "https://node-1:08443",
                            "https://node-1:+443",
                            "https://node-1:8443/",
                            "https://node-1:8443/v1",
                            "https://node-1:8443?a",
                            "https://u@node-1:8443",
                            "https://node 1:8443",
                            "https://:8443",
                            "https://-a:1",
                            "https://.a:1",
                            "https://[]:1",
                            "https://[1]:1",
                            "https://[::1:1",
                            "https://::1:1",
                            "https://[::g]:1",
                            "https://a\r\nX-B: c:1",
                            "https://a\":1",
                            "https://caf\xc3\xa9:1",
                            "https://https://a:1"})
        EXPECT_EQ(check_address(bad).error().reason, "bad_node_address") << bad;
    auto record = sample(LeaseRecord::Kind::kBeat);
    record.address = "https://a:1\r\nX-B: c";
    EXPECT_EQ(decode_lease(encode(record)).error().reason, "bad_lease");
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
    EXPECT_EQ(lease_key("loans", kTrainer), "loans/trainer");
    EXPECT_EQ(lease_of("loans/trainer")->second, kTrainer);
    for (const char* bad :
         {"", "loans", "loans/", "/1", "loans/-1", "loans/01", "loans/1x", "loans/2147483648",
          "lo ans/1", "a/b/1", "loans/+1", "loans/trainers"}) {
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
