#include "rampart/streaming_kafka/settings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "rampart/streaming_kafka/kafka_reader.hpp"

namespace rampart::streaming_kafka {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::ErrorCode;

KafkaSettings plain() {
    KafkaSettings settings;
    settings.bootstrap_servers = "127.0.0.1:1,kafka.example:9092";
    return settings;
}

KafkaSettings with_login(const fs::path& password_file) {
    KafkaSettings settings = plain();
    settings.security = Security::kSaslPlaintext;
    settings.user = "rampart";
    settings.password_file = password_file;
    return settings;
}

fs::path file_with(std::string_view content, mode_t mode) {
    static int counter = 0;
    const fs::path path =
        fs::path(testing::TempDir()) / fmt::format("kafka_settings_{}_{}", ::getpid(), counter++);
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
}

void expect_bad(const KafkaSettings& settings, std::string_view field) {
    const auto status = validate(settings);
    ASSERT_FALSE(status) << field;
    EXPECT_EQ(status.error().reason, "bad_kafka_settings");
    EXPECT_TRUE(status.error().message.starts_with(field)) << status.error().message;
}

TEST(KafkaSettings, NamesOfSecurityAndMechanismGoThereAndBack) {
    for (const auto security :
         {Security::kPlaintext, Security::kTls, Security::kSaslPlaintext, Security::kSaslTls}) {
        EXPECT_EQ(parse_security(to_string(security)), security);
    }
    for (const auto mechanism :
         {SaslMechanism::kPlain, SaslMechanism::kScramSha256, SaslMechanism::kScramSha512}) {
        EXPECT_EQ(parse_sasl_mechanism(to_string(mechanism)), mechanism);
    }
    EXPECT_FALSE(parse_security("ssl"));
    EXPECT_NE(parse_sasl_mechanism("GSSAPI").error().message.find("SCRAM-SHA-512"),
              std::string::npos);
}

TEST(KafkaSettings, ServersAreHostAndPort) {
    EXPECT_TRUE(validate(plain()));
    for (const char* bad : {"", "localhost", ":9092", "a:b", "a:9092,", "a:9092, b:9092",
                            "kafka://a:9092", "a:123456"}) {
        KafkaSettings settings = plain();
        settings.bootstrap_servers = bad;
        expect_bad(settings, "bootstrap_servers");
    }
    KafkaSettings settings = plain();
    settings.bootstrap_servers = "[::1]:9092";
    EXPECT_TRUE(validate(settings));
}

TEST(KafkaSettings, LimitsHoldAtTheLimitAndNotPastIt) {
    const auto check = [](auto KafkaSettings::*field, auto lo, auto hi, auto below, auto above,
                          std::string_view name) {
        KafkaSettings settings = plain();
        for (const auto& value : {lo, hi}) {
            settings.*field = value;
            EXPECT_TRUE(validate(settings)) << name;
        }
        for (const auto& value : {below, above}) {
            settings.*field = value;
            expect_bad(settings, name);
        }
    };
    check(&KafkaSettings::request_timeout, Duration::micros(100'000), Duration::seconds(300),
          Duration::micros(99'000), Duration::seconds(301), "request_timeout");
    check(&KafkaSettings::delivery_timeout, Duration::seconds(2), Duration::seconds(600),
          Duration::micros(999'000), Duration::seconds(601), "delivery_timeout");
    check(&KafkaSettings::stall_limit, Duration::micros(100'000), Duration::seconds(10),
          Duration::micros(99'000), Duration::micros(10'001'000), "stall_limit");
    check(&KafkaSettings::reader_bytes_per_partition, size_t{64} << 10, size_t{64} << 20,
          (size_t{64} << 10) - 1, (size_t{64} << 20) + 1, "reader_bytes_per_partition");
    check(&KafkaSettings::writer_bytes, size_t{1} << 20, size_t{1} << 30, (size_t{1} << 20) - 1,
          (size_t{1} << 30) + 1, "writer_bytes");
    check(&KafkaSettings::max_record_bytes, size_t{1} << 10, size_t{64} << 20, size_t{1023},
          (size_t{64} << 20) + 1, "max_record_bytes");
}

TEST(KafkaSettings, FilesAndLoginGoWithTheSecurityThatUsesThem) {
    KafkaSettings settings = plain();
    settings.ca_file = "ca.pem";
    expect_bad(settings, "security");
    settings.security = Security::kTls;
    EXPECT_TRUE(validate(settings));
    settings.key_file = "key.pem";
    expect_bad(settings, "certificate_file");
    settings.certificate_file = "cert.pem";
    EXPECT_TRUE(validate(settings));
    settings.user = "u";
    expect_bad(settings, "security");
    settings.security = Security::kSaslTls;
    expect_bad(settings, "password_file");
    settings.password_file = "p";
    EXPECT_TRUE(validate(settings));
    settings.user.clear();
    expect_bad(settings, "user");
}

TEST(KafkaSettings, AKeyThatOthersMayReadIsRefused) {
    KafkaSettings settings = plain();
    settings.security = Security::kTls;
    settings.certificate_file = file_with("certificate", 0644);
    for (const mode_t mode : {0600u, 0400u, 0640u, 0604u}) {
        settings.key_file = file_with("key", mode);
        const auto opened = KafkaReader::open(settings);
        ASSERT_FALSE(opened) << "it is no key";
        EXPECT_EQ(opened.error().reason == "secret_exposed", (mode & 077) != 0) << mode;
        if ((mode & 077) == 0) continue;
        EXPECT_TRUE(opened.error().message.starts_with("key_file: " + settings.key_file.string()));
    }
}

TEST(KafkaSettings, APasswordThatOthersMayReadIsRefusedAndNeverShown) {
    const auto exposed = KafkaReader::open(with_login(file_with("hunter2\n", 0640)));
    ASSERT_FALSE(exposed);
    EXPECT_EQ(exposed.error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(exposed.error().reason, "secret_exposed");
    EXPECT_EQ(exposed.error().message.find("hunter2"), std::string::npos);
    for (const char* content : {"", "\n", "hunter2\nhunter3\n"}) {
        const auto bad = KafkaReader::open(with_login(file_with(content, 0600)));
        ASSERT_FALSE(bad);
        EXPECT_EQ(bad.error().reason, "bad_kafka_settings");
        EXPECT_EQ(bad.error().message.find("hunter"), std::string::npos);
    }
    EXPECT_EQ(KafkaReader::open(with_login("/nowhere/password")).error().reason,
              "bad_kafka_settings");
    EXPECT_TRUE(KafkaReader::open(with_login(file_with("hunter2\n", 0600))));
}

TEST(KafkaSettings, CertificatesThatAreNotThereOrNoneAreNamed) {
    KafkaSettings settings = plain();
    settings.security = Security::kTls;
    settings.ca_file = "/nowhere/ca.pem";
    const auto missing = KafkaReader::open(settings);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().reason, "bad_tls");
    EXPECT_NE(missing.error().message.find("/nowhere/ca.pem"), std::string::npos);
    settings.ca_file = file_with("not a certificate", 0600);
    const auto nonsense = KafkaReader::open(settings);
    ASSERT_FALSE(nonsense);
    EXPECT_EQ(nonsense.error().code, ErrorCode::kInvalidArgument) << nonsense.error().message;
}

}  // namespace
}  // namespace rampart::streaming_kafka
