// `rampart candidate` for a node whose log is a broker's: at rest, served, promoted and replayed.
#include "candidate_fixture.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "support/kafka_broker.hpp"

namespace rampart {
namespace {

namespace json = boost::json;

/// The store of a demo on a broker of its own: the demo's topics have no prefix.
class CandidateOnKafka : public test_support::CandidateStore {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        broker_ = std::make_unique<test_support::KafkaBroker>();
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = broker_->bootstrap();
        const auto admin = streaming_kafka::TopicAdmin::open(settings).value();
        const auto made = admin->create(wire::Topics::with_prefix("").specs(4), 1);
        ASSERT_TRUE(made) << made.error().message;
        make_store("candidate_kafka_test", fmt::format("--kafka {}", broker_->bootstrap()));
    }
    void TearDown() override {
        if (broker_) remove();
    }

    std::unique_ptr<test_support::KafkaBroker> broker_;
};

TEST_F(CandidateOnKafka, AModelIsSubmittedToTheNodePromotedServedAndReplayed) {
    ASSERT_FALSE(HasFatalFailure());
    const auto bootstrap = champion();
    const auto before = left_behind();
    const auto at_rest = told("--model lgb.rmp");
    EXPECT_EQ(at_rest.at("champion"), json::value(bootstrap));
    EXPECT_EQ(left_behind(), before);
    const auto folder = out() / "a";
    auto process = demo::ServiceProcess::start(
        kRampart, folder / "rampartd.toml", folder / "store" / "endpoint", folder / "service.log");
    ASSERT_TRUE(process) << process.error().message;
    const auto made = told("--model lgb.rmp --submit");
    const std::string id(made.at("candidate").as_string());
    EXPECT_EQ(made.at("candidate"), at_rest.at("candidate")) << "asked at rest and submitted";
    ASSERT_EQ(made.at("run").at("verdict"), "CERTIFIED") << json::serialize(made.at("run"));
    ASSERT_TRUE(process->stop());
    EXPECT_EQ(champion(), id);
    {
        const auto node = open();
        ASSERT_TRUE(node->keep_leases());
        test_support::expect_replayed(*node, id);
    }
    const auto next = told("--model lgb.rmp");
    EXPECT_EQ(next.at("champion"), json::value(id));
    EXPECT_EQ(next.at("links"), 3);
    broker_->kill();
    const auto unreachable = rampart("candidate --config a/rampartd.toml --model lgb.rmp");
    EXPECT_EQ(unreachable.exit_code, 4) << unreachable.output;
    EXPECT_EQ(champion(), id);
}

}  // namespace
}  // namespace rampart
