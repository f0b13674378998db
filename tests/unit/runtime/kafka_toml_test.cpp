#include "rampart/runtime/kafka_toml.hpp"

#include <gtest/gtest.h>

namespace rampart::runtime {
namespace {

using base::Duration;
using streaming_kafka::KafkaSettings;
using streaming_kafka::SaslMechanism;
using streaming_kafka::Security;

struct Read {
    KafkaSettings settings;
    base::Status status;
};

Read read(std::string_view toml) {
    auto root = config::parse(toml, "test.toml").value();
    auto settings = read_kafka(root.table("kafka"), {"/etc/rampart"});
    return {std::move(settings), root.finish()};
}

TEST(KafkaToml, LeavesTheDefaultsWhereNothingIsSaid) {
    const auto [settings, status] = read("kafka.bootstrap_servers = 'a:1'");
    ASSERT_TRUE(status) << status.error().message;
    const KafkaSettings defaults;
    EXPECT_EQ(settings.bootstrap_servers, "a:1");
    EXPECT_EQ(settings.client_id, defaults.client_id);
    EXPECT_EQ(settings.security, Security::kPlaintext);
    EXPECT_EQ(settings.ca_file, "");
    EXPECT_EQ(settings.request_timeout, defaults.request_timeout);
    EXPECT_EQ(settings.max_record_bytes, defaults.max_record_bytes);
    EXPECT_TRUE(streaming_kafka::validate(settings));
}

TEST(KafkaToml, ReadsEveryKeyAndPutsRelativePathsIntoTheFolder) {
    const auto [settings, status] = read(R"([kafka]
bootstrap_servers = "a:1,b:2"
client_id = "node-1"
security = "sasl_tls"
ca_file = "ca.pem"
certificate_file = "/abs/client.pem"
key_file = "client.key"
sasl_mechanism = "SCRAM-SHA-256"
user = "u"
password_file = "p"
request_timeout_ms = 1500
delivery_timeout_ms = 20000
stall_limit_ms = 300
reader_bytes_per_partition = 65536
writer_bytes = 1048576
max_record_bytes = 2048
)");
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(settings.bootstrap_servers, "a:1,b:2");
    EXPECT_EQ(settings.client_id, "node-1");
    EXPECT_EQ(settings.security, Security::kSaslTls);
    EXPECT_EQ(settings.ca_file, "/etc/rampart/ca.pem");
    EXPECT_EQ(settings.certificate_file, "/abs/client.pem");
    EXPECT_EQ(settings.key_file, "/etc/rampart/client.key");
    EXPECT_EQ(settings.sasl_mechanism, SaslMechanism::kScramSha256);
    EXPECT_EQ(settings.user, "u");
    EXPECT_EQ(settings.password_file, "/etc/rampart/p");
    EXPECT_EQ(settings.request_timeout, Duration::micros(1'500'000));
    EXPECT_EQ(settings.delivery_timeout, Duration::seconds(20));
    EXPECT_EQ(settings.stall_limit, Duration::micros(300'000));
    EXPECT_EQ(settings.reader_bytes_per_partition, 65536u);
    EXPECT_EQ(settings.writer_bytes, 1048576u);
    EXPECT_EQ(settings.max_record_bytes, 2048u);
    EXPECT_TRUE(streaming_kafka::validate(settings));
}

TEST(KafkaToml, UnknownKeysAndValuesAreErrors) {
    EXPECT_FALSE(read("").status);  // no servers
    EXPECT_FALSE(read("[kafka]\nbootstrap_servers = 'a:1'\npassword = 'x'").status);
    EXPECT_FALSE(read("[kafka]\nbootstrap_servers = 'a:1'\nsecurity = 'ssl'").status);
    EXPECT_FALSE(read("[kafka]\nbootstrap_servers = 'a:1'\nrequest_timeout_ms = 0").status);
    EXPECT_FALSE(read("[kafka]\nbootstrap_servers = 'a:1'\nwriter_bytes = -1").status);
}

}  // namespace
}  // namespace rampart::runtime
