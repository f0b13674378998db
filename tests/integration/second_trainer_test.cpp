// Nodes of a group with training on: the store that trains is one, and the others say which.
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "support/kafka_admin.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

class TwoTrainers : public TwoNodes {
  protected:
    Settings other() {
        return settings("second", "own = [2, 3]\nfollow = [0, 1]",
                        "gate_key = \"../first/store/gate.pub.pem\"\n");
    }
    static std::string ask(Node& node, const std::string& path) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node.add_routes(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        request.path = path;
        return router.handle(request).body;
    }
    /// Returns the epochs of the champion notices in the log, in its order.
    std::vector<uint64_t> read_epochs() const {
        streaming_kafka::KafkaSettings kafka;
        kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
        const auto log = streaming_kafka::KafkaReader::open(kafka).value();
        std::vector<uint64_t> epochs;
        const auto records =
            log->read(prefix_ + "policies", PartitionId(0), streaming::Offset(0), 1000).value();
        for (const auto& stored : records) {
            const std::string_view key = stored.record.key;
            if (key.starts_with("champion/"))
                epochs.push_back(std::stoull(std::string(key.substr(9))));
        }
        return epochs;
    }
    /// Makes the topic of leases anew, without a record.
    void lose_leases() const {
        const auto topics = wire::Topics::with_prefix(prefix_);
        const support::KafkaAdmin cluster(test_support::shared_kafka().bootstrap);
        cluster.delete_topic(topics.leases);
        streaming_kafka::KafkaSettings kafka;
        kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
        const auto admin = streaming_kafka::TopicAdmin::open(kafka).value();
        ASSERT_TRUE(admin->create(topics.specs(4), 1));
    }
    static std::string reason(const base::Status& status) {
        return status ? "" : status.error().reason;
    }
};

TEST_F(TwoTrainers, TheSecondIsRefusedSaysWhoTrainsAndDecidesOn) {
    const auto a = open(first()), b = open(other());
    const Tending tending_a(*a), tending_b(*b);
    EXPECT_TRUE(a->check_trains());
    EXPECT_EQ(reason(b->check_trains()), "trainer_elsewhere");
    EXPECT_NE(b->check_trains().error().message.find("the node 'first' trains"), std::string::npos);
    const auto id = b->registry().champion()->policy;
    const auto end = base::add_months(stream_.applicants.back().application.event_time, 36);
    EXPECT_EQ(reason(b->certify(id, end, "").map([](const auto&) {})), "trainer_elsewhere");
    EXPECT_EQ(reason(b->propose({}).map([](const auto&) {})), "trainer_elsewhere");
    EXPECT_EQ(reason(b->export_log({}).map([](const auto&) {})), "trainer_elsewhere");
    EXPECT_EQ(reason(b->rollback("anna", "why")), "trainer_elsewhere");
    size_t decided = 0;
    for (const auto& application : applications()) {
        if (b->decisions().partition_of(application.id).value() < 2) continue;
        ASSERT_TRUE(decide(*b, application));
        ++decided;
    }
    EXPECT_GT(decided, 50u);
    for (Node* node : {a.get(), b.get()}) {
        ASSERT_TRUE(node->keep_trainer());
        const auto status = node->advance(end);
        ASSERT_TRUE(status) << status.error().message;
    }
    EXPECT_GT(b->joiner().counts().matured, 0u) << "what it joins matures";
    EXPECT_TRUE(b->registry().ledger_entries()->empty());
    EXPECT_TRUE(b->trainer().runs()->empty());
    EXPECT_EQ(b->trainer().served_until().value(), std::nullopt) << "no schedule began";
    EXPECT_NE(a->trainer().served_until().value(), std::nullopt);
    EXPECT_NE(ask(*a, "/v1/status").find("\"lease\":{\"held\":true,\"node\":\"first\",\"epoch\":1"),
              std::string::npos)
        << ask(*a, "/v1/status");
    const auto status = ask(*b, "/v1/status");
    EXPECT_NE(status.find("\"lease\":{\"held\":false,\"node\":\"first\",\"epoch\":1"),
              std::string::npos)
        << status;
    EXPECT_NE(status.find("\"degraded\":true"), std::string::npos);
    EXPECT_NE(ask(*a, "/metrics").find("\nrampart_trainer_lease_held 1\n"), std::string::npos);
    EXPECT_NE(ask(*b, "/metrics").find("\nrampart_trainer_lease_held 0\n"), std::string::npos);
}

TEST_F(TwoTrainers, ANodeThatEndedLeavesTheTrainingToItsStore) {
    const auto config = first();
    auto a = open(config);
    ASSERT_TRUE(a->check_trains());
    ASSERT_TRUE(a->release());
    a.reset();
    auto b = open(other());
    EXPECT_EQ(reason(b->check_trains()), "trainer_elsewhere");
    // a node of the same name, with a store that knows nothing of the ledger
    ASSERT_TRUE(b->release());
    b.reset();
    auto wiped = config;
    wiped.store = folder_ / "wiped";
    const auto c = open(wiped);
    EXPECT_EQ(reason(c->check_trains()), "trainer_elsewhere");
    ASSERT_TRUE(c->release());
    const auto again = open(config);
    EXPECT_TRUE(again->check_trains());
}

// What a cluster lacks to which the topic of leases was not taken along.
TEST_F(TwoTrainers, WithoutTheTopicOfLeasesTheStoreWithTheLedgerTrainsOn) {
    const auto config = first();
    {
        const auto a = open(config);
        ASSERT_TRUE(a->check_trains());
        ASSERT_TRUE(a->release());
    }
    lose_leases();
    const auto b = open(other());
    EXPECT_EQ(reason(b->check_trains()), "trainer_elsewhere");
    EXPECT_NE(b->check_trains().error().message.find("published under epoch 1"), std::string::npos)
        << b->check_trains().error().message;
    EXPECT_EQ(read_epochs(), (std::vector<uint64_t>{1})) << "it publishes nothing";
    const auto a = open(config);
    EXPECT_TRUE(a->check_trains());
    EXPECT_EQ(read_epochs(), (std::vector<uint64_t>{1, 2}));
    ASSERT_TRUE(b->keep_trainer());
    EXPECT_NE(b->check_trains().error().message.find("the node 'first' trains"), std::string::npos);
}

TEST_F(TwoTrainers, AProcessThatWakesUpAfterItsStoreMovedPublishesNothingThatCounts) {
    const auto config = first();
    const auto a = open(config);
    ASSERT_TRUE(a->check_trains());
    // the store is copied to another machine, as if the process were gone
    auto moved = config;
    moved.store = folder_ / "moved";
    fs::copy(config.store, moved.store, fs::copy_options::recursive);
    const auto b = open(moved);
    EXPECT_TRUE(b->check_trains());
    EXPECT_EQ(reason(a->rollback("anna", "why")), "trainer_elsewhere");
    EXPECT_EQ(reason(a->check_trains()), "trainer_elsewhere");
    EXPECT_EQ(read_epochs(), (std::vector<uint64_t>{1, 2}));
    ASSERT_TRUE(a->advance(stream_.applicants.back().application.event_time));
    EXPECT_EQ(read_epochs(), (std::vector<uint64_t>{1, 2})) << "it writes no notice";
}

}  // namespace
}  // namespace rampart::rampartd
