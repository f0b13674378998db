// The topics without a gap to accept (leases, policies, protected attributes) are cut off or made
// anew under nodes that work as `rampart serve` does.
#include "node_answers.hpp"
#include "rampart/lease/lease_record.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/wire/application_json.hpp"
#include "support/kafka_admin.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

class TopicsMadeAnew : public TwoNodes {
  protected:
    static streaming_kafka::KafkaSettings kafka() {
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = test_support::shared_kafka().bootstrap;
        return settings;
    }
    std::vector<std::string> topics() const {
        const auto all = wire::Topics::with_prefix(prefix_);
        return {all.leases, all.policies, all.protected_attributes};
    }
    /// Deletes all records; the offsets go on.
    void cut_off(const std::string& topic) const {
        const auto end =
            streaming_kafka::KafkaReader::open(kafka()).value()->end_offset(topic, kOnly).value();
        support::KafkaAdmin(kafka().bootstrap_servers).delete_records_before(topic, kOnly, end);
    }
    /// Offsets begin at 0 again.
    void make_anew(const std::string& topic) const {
        support::KafkaAdmin(kafka().bootstrap_servers).delete_topic(topic);
        const auto admin = streaming_kafka::TopicAdmin::open(kafka()).value();
        const auto made = admin->create(wire::Topics::with_prefix(prefix_).specs(4), 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    std::vector<streaming::StoredRecord> records_in(const std::string& topic) const {
        const auto log = streaming_kafka::KafkaReader::open(kafka()).value();
        return log->read(topic, kOnly, log->begin_offset(topic, kOnly).value(), 10'000).value();
    }
    /// Returns which leases were renewed since the topic begins: partitions, and -1 for training.
    std::set<int32_t> renewed() const {
        std::set<int32_t> all;
        for (const auto& stored : records_in(prefix_ + "leases"))
            if (const auto lease = lease::lease_of(stored.record.key))
                all.insert(lease->second.value());
        return all;
    }
    bool has_champion() const {
        bool found = false;
        for (const auto& stored : records_in(prefix_ + "policies"))
            found = found || stored.record.key.starts_with("champion/");
        return found;
    }
    template <class Holds>
    static bool soon(const Holds& holds) {
        return test_support::kafka_detail::wait_until(holds, std::chrono::seconds(120));
    }
    /// States what is known of a person, and waits until the node has read it in the log.
    bool states(Node& node, const std::string& person) const {
        const auto& first = node.attributes().catalog().attributes().front();
        const protected_attributes::ProtectedAttributes one{
            domain::PersonId(person), node.now(), {{first.name, first.values.front()}}};
        const auto answer =
            ask(node, "POST", "/v1/protected-attributes", protected_attributes::to_json(one));
        EXPECT_EQ(answer.status, 200) << answer.body;
        return soon([&] { return knows(node, person); });
    }
    static bool knows(const Node& node, const std::string& person) {
        const auto known = node.attributes().get(domain::PersonId(person));
        return known && known->has_value();
    }
    /// Decides applications that are new, at the node that owns each.
    void decide_at(Node& a, Node& b, const std::string& round) {
        const auto all = applications();
        size_t by_a = 0, by_b = 0;
        for (size_t i = 0; i < 40; ++i) {
            auto one = all[i];
            one.id = domain::ApplicationId(fmt::format("{}-{}", round, i));
            one.event_time = a.now();
            const bool of_a = a.decisions().partition_of(one.id).value() < 2;
            base::Result<domain::Decision> decided = base::Error();
            EXPECT_TRUE(soon([&] {  // as a client does: what is perhaps written is asked again
                decided = decide(of_a ? a : b, one);
                return decided || decided.error().code != base::ErrorCode::kUnavailable;
            }));
            ASSERT_TRUE(decided) << round << ": " << decided.error().message;
            ++(of_a ? by_a : by_b);
        }
        EXPECT_GT(by_a, 5u);
        EXPECT_GT(by_b, 5u);
    }

    static inline const PartitionId kOnly{0};
};

TEST_F(TopicsMadeAnew, UnderNodesThatWorkAreReadFromTheirBeginningAndAllGoesOn) {
    auto of_a = first(), of_b = second();
    of_a.event_clock = of_b.event_clock = false;
    const WorkingNode a(open(of_a));
    std::optional<WorkingNode> b(std::in_place, open(of_b));
    ASSERT_TRUE(states(*a, "person-0"));
    decide_at(*a, **b, "before");
    ASSERT_TRUE(soon([&] { return has_champion(); }));
    for (const bool anew : {false, true}) {
        const std::string round = anew ? "made-anew" : "cut-off";
        SCOPED_TRACE(round);
        const auto begin = renewed().size();
        EXPECT_GE(begin, 5u) << "4 partitions, and training";
        for (const auto& topic : topics()) anew ? make_anew(topic) : cut_off(topic);
        decide_at(*a, **b, round);
        EXPECT_TRUE(soon([&] { return renewed() == std::set<int32_t>{-1, 0, 1, 2, 3}; }));
        EXPECT_TRUE(soon([&] { return has_champion(); })) << "for nodes that come later";
        EXPECT_TRUE(states(*a, round)) << "what comes after is read";
        EXPECT_TRUE(knows(*a, "person-0")) << "what was known is known";
        EXPECT_TRUE(a->check_trains()) << a->check_trains().error().message;
        for (Node* node : {&*a, &**b}) {
            const auto ready = ask(*node, "GET", "/readyz");
            EXPECT_EQ(ready.status, 200) << ready.body;
            const auto views = node->decisions().partitions();
            EXPECT_EQ(std::count_if(views.begin(), views.end(),
                                    [](const auto& view) { return view.status.has_value(); }),
                      2)
                << "each holds its partitions";
        }
        // a start finds in the topics what it needs
        b.reset();
        b.emplace(open(of_b));
        EXPECT_TRUE(soon([&] { return (*b)->decisions().policy() != nullptr; }));
        decide_at(*a, **b, round + "-and-started");
    }
}

}  // namespace
}  // namespace rampart::rampartd
