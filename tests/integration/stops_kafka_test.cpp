// Stop buttons of two nodes on a broker: one presses, both stop, whichever is restarted.
#include <algorithm>
#include <chrono>
#include <thread>

#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

using domain::StopKind;
using Clock = std::chrono::steady_clock;

class StopsOfTwoNodes : public TwoNodes {
  protected:
    /// Decides an application that was not sent before, which is the node's own.
    domain::Decision decide_new(Node& node) {
        auto one = applications().front();
        while (true) {
            one.id = domain::ApplicationId(fmt::format("new-{}", next_++));
            one.person = domain::PersonId(one.id.value());
            const auto decided = decide(node, one);
            if (decided) return *decided;
            EXPECT_EQ(decided.error().reason, "not_owner") << decided.error().message;
            if (decided.error().reason != "not_owner") return {};
        }
    }
    /// Decides until a decision is, or is not, one without exploration, and stays so. The promise
    /// is 2 s; a machine under load is given a minute.
    void expect_soon(Node& node, bool stopped) {
        const auto end = Clock::now() + std::chrono::seconds(60);
        while (decide_new(node).exploration_spent != stopped) {
            ASSERT_LT(Clock::now(), end) << "the other node does not follow";
        }
        for (int i = 0; i < 50; ++i)
            EXPECT_EQ(decide_new(node).exploration_spent, stopped) << "and so it stays";
    }

    int next_ = 0;
};

TEST_F(StopsOfTwoNodes, WhatOnePressesTheOtherFollowsWhileItDecides) {
    const WorkingNode a(open(first())), b(open(second()));
    EXPECT_FALSE(decide_new(*b).exploration_spent);
    ASSERT_TRUE(a->stops().press(StopKind::kExplorationOff, "anna", "noise"));
    EXPECT_TRUE(decide_new(*a).exploration_spent) << "here at once";
    expect_soon(*b, true);
    ASSERT_TRUE(b->stops().release(StopKind::kExplorationOff, "bert", "mended").value());
    EXPECT_FALSE(decide_new(*b).exploration_spent);
    expect_soon(*a, false);
    EXPECT_EQ(a->registry().stops(), b->registry().stops());
    EXPECT_EQ(a->registry().stops().at(0).ended_by, "bert");
}

TEST_F(StopsOfTwoNodes, AStopOutlivesTheNodeThatPressedItAndANewStoreHearsOfIt) {
    {
        const auto a = open(first());
        const WorkingNode b(open(second()));
        ASSERT_TRUE(b->stops().press(StopKind::kExplorationOff, "anna", "noise"));
        EXPECT_TRUE(a->registry().stops().empty());  // it ends before it hears of that
    }
    {
        const auto a = open(first());
        EXPECT_TRUE(decide_new(*a).exploration_spent);
        EXPECT_EQ(a->registry().stops().at(0).reason, "noise");
    }
    fs::remove_all(second().store);
    const auto b = open(second());
    EXPECT_TRUE(decide_new(*b).exploration_spent);
    const Tending tending(*b);
    EXPECT_TRUE(b->keep_leases()) << "a stop is no lease";
}

TEST_F(StopsOfTwoNodes, TheNodeThatTrainsKnowsAStopBeforeItReadsWhatHasMatured) {
    const auto a = open(first()), b = open(second());
    ASSERT_TRUE(b->stops().press(StopKind::kRulesOnly, "anna", "harm"));
    EXPECT_TRUE(a->registry().stops().empty());
    ASSERT_TRUE(a->advance(stream_.applicants.front().application.event_time));
    EXPECT_EQ(a->registry().stops().size(), 1u);
}

TEST_F(StopsOfTwoNodes, WhatTheGroupDidNotWriteStopsNothing) {
    const auto a = open(first());
    streaming_kafka::KafkaSettings kafka;
    kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
    const auto writer = streaming_kafka::KafkaWriter::open(kafka).value();
    const registry::StopNotice forged{std::string(32, 'a'),
                                      StopKind::kExplorationOff,
                                      false,
                                      base::kFirstTime,
                                      "mallory",
                                      "noise"};
    const streaming::Record record{registry::key_of(first().log.group, forged),
                                   registry::encode(forged),
                                   base::kFirstTime,
                                   {}};
    ASSERT_TRUE(
        writer->append_to(wire::Topics::with_prefix(prefix_).leases, PartitionId(0), {&record, 1}));
    ASSERT_TRUE(a->stops().follow());
    EXPECT_TRUE(a->registry().stops().empty());
    EXPECT_FALSE(decide_new(*a).exploration_spent);
}

}  // namespace
}  // namespace rampart::rampartd
