// tests/support/kafka_broker.hpp keeps its guarantees, which the other tests over Kafka need.
#include "support/kafka_broker.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <map>
#include <memory>

namespace rampart::test_support {
namespace {

namespace fs = std::filesystem;
using Settings = std::map<std::string, std::string>;
constexpr int kSeconds = 20;

struct Destroy {
    void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
    void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
    void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
    void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
    void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
    void operator()(rd_kafka_topic_partition_list_t* list) const {
        rd_kafka_topic_partition_list_destroy(list);
    }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

Owned<rd_kafka_t> client(rd_kafka_type_t type, const Settings& settings) {
    std::array<char, 512> why{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, nullptr);
    for (const auto& [key, value] : settings) {
        EXPECT_EQ(rd_kafka_conf_set(conf, key.c_str(), value.c_str(), why.data(), why.size()),
                  RD_KAFKA_CONF_OK)
            << why.data();
    }
    Owned<rd_kafka_t> handle(rd_kafka_new(type, conf, why.data(), why.size()));
    if (!handle) throw std::runtime_error(why.data());
    return handle;
}

void create_topic(const Settings& settings, const std::string& name) {
    std::array<char, 512> why{};
    const auto handle = client(RD_KAFKA_PRODUCER, settings);
    const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(handle.get()));
    const Owned<rd_kafka_NewTopic_t> topic(
        rd_kafka_NewTopic_new(name.c_str(), 1, 1, why.data(), why.size()));
    rd_kafka_NewTopic_t* raw = topic.get();
    rd_kafka_CreateTopics(handle.get(), &raw, 1, nullptr, queue.get());
    const Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue.get(), kSeconds * 1000));
    ASSERT_TRUE(event);
    ASSERT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR)
        << rd_kafka_event_error_string(event.get());
}

/// Idempotent, acknowledged by all, compressed: as Rampart writes.
void produce(Settings settings, const std::string& topic, const std::string& value) {
    settings.insert(
        {{"enable.idempotence", "true"}, {"acks", "all"}, {"compression.codec", "lz4"}});
    const auto handle = client(RD_KAFKA_PRODUCER, settings);
    ASSERT_EQ(rd_kafka_producev(handle.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                                RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    ASSERT_EQ(rd_kafka_flush(handle.get(), kSeconds * 1000), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/// All values of partition 0.
std::vector<std::string> consume(Settings settings, const std::string& topic) {
    settings.insert({{"group.id", "none"}, {"enable.partition.eof", "true"}});
    settings.insert({{"enable.auto.commit", "false"}, {"auto.offset.reset", "error"}});
    const auto handle = client(RD_KAFKA_CONSUMER, settings);
    const Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = 0;
    EXPECT_EQ(rd_kafka_assign(handle.get(), list.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
    std::vector<std::string> values;
    while (true) {
        const Owned<rd_kafka_message_t> message(
            rd_kafka_consumer_poll(handle.get(), kSeconds * 1000));
        if (!message || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) break;
        EXPECT_EQ(message->err, RD_KAFKA_RESP_ERR_NO_ERROR)
            << rd_kafka_message_errstr(message.get());
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) break;
        values.emplace_back(static_cast<const char*>(message->payload), message->len);
    }
    rd_kafka_consumer_close(handle.get());
    return values;
}

/// Whether a client with these settings gets an answer about the cluster.
bool connects(const Settings& settings, int millis) {
    const auto handle = client(RD_KAFKA_PRODUCER, settings);
    const rd_kafka_metadata_t* metadata = nullptr;
    if (rd_kafka_metadata(handle.get(), 0, nullptr, &metadata, millis) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    const bool known = metadata->broker_cnt == 1;
    rd_kafka_metadata_destroy(metadata);
    return known;
}

Settings tls(const KafkaAddress& address) {
    return {{"bootstrap.servers", address.ssl_bootstrap},
            {"security.protocol", "ssl"},
            {"ssl.ca.location", address.ca},
            {"ssl.certificate.location", address.client_certificate},
            {"ssl.key.location", address.client_key}};
}

Settings sasl(const KafkaAddress& address, const std::string& protocol,
              const std::string& mechanism) {
    Settings settings{
        {"bootstrap.servers",
         protocol == "sasl_ssl" ? address.sasl_ssl_bootstrap : address.sasl_plaintext_bootstrap},
        {"security.protocol", protocol},
        {"sasl.mechanisms", mechanism},
        {"sasl.username", address.user},
        {"sasl.password", address.password}};
    if (protocol == "sasl_ssl") settings["ssl.ca.location"] = address.ca;
    return settings;
}

TEST(SharedKafka, TakesWritesInTheClear) {
    RAMPART_NEEDS_KAFKA();
    const Settings settings{{"bootstrap.servers", shared_kafka().bootstrap}};
    const auto topic = unique_topic("clear");
    create_topic(settings, topic);
    produce(settings, topic, "a record");
    EXPECT_EQ(consume(settings, topic), std::vector<std::string>{"a record"});
}

TEST(SharedKafka, TlsWantsACertificateOfItsOwnAuthority) {
    RAMPART_NEEDS_KAFKA();
    auto settings = tls(shared_kafka());
    EXPECT_TRUE(connects(settings, kSeconds * 1000));
    settings.erase("ssl.certificate.location");
    settings.erase("ssl.key.location");
    EXPECT_FALSE(connects(settings, 2000)) << "a client without a certificate was let in";
    settings = tls(shared_kafka());
    settings.erase("ssl.ca.location");
    EXPECT_FALSE(connects(settings, 2000)) << "the throwaway authority is trusted by the system";
}

TEST(SharedKafka, SaslWantsThePassword) {
    RAMPART_NEEDS_KAFKA();
    auto settings = sasl(shared_kafka(), "sasl_ssl", "PLAIN");
    EXPECT_TRUE(connects(settings, kSeconds * 1000));
    settings["sasl.password"] = "not it";
    EXPECT_FALSE(connects(settings, 2000));
}

TEST(SharedKafka, ScramAuthenticatesWithAndWithoutTls) {
    RAMPART_NEEDS_KAFKA();
    if (!shared_kafka().scram_works_with_old_clients() && rd_kafka_version() < 0x020601ff)
        GTEST_SKIP() << "librdkafka " << rd_kafka_version_str() << " cannot SCRAM with Kafka "
                     << shared_kafka().version;
    for (const char* protocol : {"sasl_ssl", "sasl_plaintext"}) {
        auto settings = sasl(shared_kafka(), protocol, "SCRAM-SHA-512");
        EXPECT_TRUE(connects(settings, kSeconds * 1000)) << protocol;
        settings["sasl.password"] = "not it";
        EXPECT_FALSE(connects(settings, 2000)) << protocol;
    }
}

TEST(KafkaBrokerOfATest, IsKilledStoppedAndStartedAgainWithItsDataAndPort) {
    RAMPART_NEEDS_KAFKA();
    KafkaBroker broker(KafkaOptions{.overrides = {"log.segment.bytes=1048576"}});
    const Settings settings{{"bootstrap.servers", broker.bootstrap()}};
    create_topic(settings, "kept");
    produce(settings, "kept", "before");
    const auto address = broker.bootstrap();
    const pid_t first = broker.pid();

    broker.stop();
    EXPECT_FALSE(connects(settings, 1000)) << "a stopped broker answered";
    broker.cont();
    EXPECT_TRUE(connects(settings, kSeconds * 1000));

    broker.kill();
    EXPECT_FALSE(broker.runs());
    EXPECT_TRUE(kafka_detail::process_ended(first));
    EXPECT_FALSE(connects(settings, 500));
    broker.start();
    EXPECT_EQ(broker.bootstrap(), address);
    EXPECT_NE(broker.pid(), first);
    produce(settings, "kept", "after");

    broker.shut_down();
    broker.start();
    EXPECT_EQ(consume(settings, "kept"), (std::vector<std::string>{"before", "after"}));
    EXPECT_NE(kafka_detail::read_text(broker.dir() / "server.properties")
                  .find("\nlog.segment.bytes=1048576\n"),
              std::string::npos);
}

TEST(KafkaBrokerOfATest, EndsWithATestThatIsKilled) {
    RAMPART_NEEDS_KAFKA();
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t doomed = ::fork();
    ASSERT_GE(doomed, 0);
    if (doomed == 0) {
        const KafkaBroker broker;
        const auto line = std::to_string(broker.pid()) + " " + broker.dir().string() + "\n";
        if (::write(pipe[1], line.data(), line.size()) < 0) ::_exit(1);
        ::kill(::getpid(), SIGKILL);
    }
    ::close(pipe[1]);
    std::string line;
    std::array<char, 512> buffer{};
    for (ssize_t n; (n = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
        line.append(buffer.data(), static_cast<size_t>(n));
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(doomed, &status, 0), doomed);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;

    std::istringstream words(line);
    pid_t jvm = 0;
    std::string dir;
    ASSERT_TRUE(words >> jvm >> dir) << line;
    EXPECT_TRUE(kafka_detail::wait_until([&] { return kafka_detail::process_ended(jvm); },
                                         std::chrono::seconds(20)))
        << "pid " << jvm;
    fs::remove_all(dir);
}

TEST(KafkaBrokerOfATest, ThatCannotStartSaysWhy) {
    RAMPART_NEEDS_KAFKA();
    try {
        const KafkaBroker broker(KafkaOptions{.overrides = {"num.io.threads=none"}});
        FAIL() << "started with a setting that is no number";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("num.io.threads"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace rampart::test_support
