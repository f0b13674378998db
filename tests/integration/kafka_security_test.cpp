// TLS and SASL against a real broker: right settings work, and wrong ones give an error that names
// the cause.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "support/kafka_broker.hpp"

namespace rampart::streaming_kafka {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::ErrorCode;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using test_support::KafkaAddress;
using test_support::shared_kafka;
using test_support::unique_topic;

KafkaSettings plain(const KafkaAddress& address) {
    KafkaSettings settings;
    settings.bootstrap_servers = address.bootstrap;
    return settings;
}

KafkaSettings tls(const KafkaAddress& address) {
    KafkaSettings settings = plain(address);
    settings.bootstrap_servers = address.ssl_bootstrap;
    settings.security = Security::kTls;
    settings.ca_file = address.ca;
    settings.certificate_file = address.client_certificate;
    settings.key_file = address.client_key;
    return settings;
}

KafkaSettings sasl(const KafkaAddress& address) {
    KafkaSettings settings = plain(address);
    settings.bootstrap_servers = address.sasl_plaintext_bootstrap;
    settings.security = Security::kSaslPlaintext;
    settings.user = address.user;
    settings.password_file = address.password_file;
    return settings;
}

KafkaSettings sasl_tls(const KafkaAddress& address, SaslMechanism mechanism) {
    KafkaSettings settings = sasl(address);
    settings.bootstrap_servers = address.sasl_ssl_bootstrap;
    settings.security = Security::kSaslTls;
    settings.sasl_mechanism = mechanism;
    settings.ca_file = address.ca;
    return settings;
}

void expect_works(const KafkaSettings& settings) {
    streaming::TopicSpec spec;
    spec.name = unique_topic("secure");
    const auto made = TopicAdmin::open(settings).value()->create(std::vector{spec}, 1);
    ASSERT_TRUE(made) << made.error().message;
    const Record record{"k", "v", base::TimePoint::from_micros(1'000'000), {}};
    const auto written =
        KafkaWriter::open(settings).value()->append(spec.name, std::vector{record});
    ASSERT_TRUE(written) << written.error().message;
    const auto read =
        KafkaReader::open(settings).value()->read(spec.name, PartitionId(0), Offset(0), 10);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 1u);
    EXPECT_EQ(read->front().record, record);
}

/// Readers, writers and the admin give the same result.
void expect_refused(KafkaSettings settings, ErrorCode code, std::string_view reason,
                    std::string_view words, std::string_view secret = {}) {
    settings.request_timeout = Duration::seconds(4);
    streaming::TopicSpec spec;
    spec.name = "t";
    base::Error counted, written, checked;
    {
        const std::jthread one([&] {
            const auto reader = KafkaReader::open(settings).value();
            counted = reader->partitions("t").error();
        });
        const std::jthread two([&] {
            const auto writer = KafkaWriter::open(settings).value();
            written = writer->append("t", std::vector{Record{"k", "v", {}, {}}}).error();
        });
        const std::jthread three([&] {
            const auto admin = TopicAdmin::open(settings).value();
            checked = admin->check(std::vector{spec}).error();
        });
    }
    for (const auto& error : {counted, written, checked}) {
        EXPECT_EQ(error.code, code) << error.message;
        EXPECT_EQ(error.reason, reason) << error.message;
        EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
        if (secret.empty()) continue;
        EXPECT_EQ(error.message.find(secret), std::string::npos) << error.message;
    }
}

class KafkaSecurity : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        address = shared_kafka();
    }
    fs::path file_with(std::string_view content) const {
        const fs::path path = fs::path(testing::TempDir()) / unique_topic("file");
        std::ofstream(path) << content;
        ::chmod(path.c_str(), 0600);
        return path;
    }
    KafkaAddress address;
};

TEST_F(KafkaSecurity, TlsWithACertificateOfTheClient) { expect_works(tls(address)); }

TEST_F(KafkaSecurity, ScramWithoutAndWithTls) {
    if (!address.scram_works_with_old_clients()) GTEST_SKIP() << "SCRAM of librdkafka < 2.6.1";
    expect_works(sasl(address));
    expect_works(sasl_tls(address, SaslMechanism::kScramSha512));
}

TEST_F(KafkaSecurity, PlainOverTls) { expect_works(sasl_tls(address, SaslMechanism::kPlain)); }

TEST_F(KafkaSecurity, AWrongPasswordOrUserIsAFailureToAuthenticateWithoutShowingIt) {
    if (!address.scram_works_with_old_clients()) GTEST_SKIP() << "SCRAM of librdkafka < 2.6.1";
    KafkaSettings settings = sasl(address);
    settings.password_file = file_with("correct-horse\n");
    expect_refused(settings, ErrorCode::kPermissionDenied, "authentication_failed", "password_file",
                   "correct-horse");
    settings = sasl(address);
    settings.user = "nobody";
    expect_refused(settings, ErrorCode::kPermissionDenied, "authentication_failed", "user");
    settings = sasl_tls(address, SaslMechanism::kPlain);
    settings.password_file = file_with("correct-horse\n");
    expect_refused(settings, ErrorCode::kPermissionDenied, "authentication_failed", "password_file",
                   "correct-horse");
}

TEST_F(KafkaSecurity, AMechanismThatTheBrokerDoesNotOfferIsNamed) {
    KafkaSettings settings = sasl(address);
    settings.sasl_mechanism = SaslMechanism::kPlain;
    expect_refused(settings, ErrorCode::kPermissionDenied, "authentication_failed",
                   "sasl_mechanism");
}

TEST_F(KafkaSecurity, AnUntrustedCertificateIsATlsFailure) {
    KafkaSettings settings = tls(address);
    settings.ca_file.clear();  // the authorities of the system
    expect_refused(settings, ErrorCode::kPermissionDenied, "tls_failed", "ca_file");
    settings = tls(address);
    settings.certificate_file.clear();  // the broker requires one
    settings.key_file.clear();
    expect_refused(settings, ErrorCode::kPermissionDenied, "tls_failed", "certificate_file");
}

TEST_F(KafkaSecurity, TheWrongProtocolForAPortSaysSo) {
    KafkaSettings settings = plain(address);
    settings.bootstrap_servers = address.ssl_bootstrap;
    expect_refused(settings, ErrorCode::kUnavailable, "no_broker", "bootstrap_servers");
    settings = tls(address);
    settings.bootstrap_servers = address.bootstrap;
    expect_refused(settings, ErrorCode::kPermissionDenied, "tls_failed", "security");
}

}  // namespace
}  // namespace rampart::streaming_kafka
