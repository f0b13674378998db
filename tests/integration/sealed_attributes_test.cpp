// Protected attributes of nodes on a real broker: sealed there, erased with the person's key, and
// deleted where a node does not read them any more.
#include <algorithm>

#include "rampart/lease/trainer_seat.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "services/rampartd/store_layout.hpp"
#include "support/byte_scan.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

using protected_attributes::ProtectedStore;

class AttributesOnKafka : public TwoNodes {
  protected:
    static inline const std::string kPerson = "kx7QvW2mZp9RtYb4NcLs8JdH";

    static streaming_kafka::KafkaSettings kafka() {
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = test_support::shared_kafka().bootstrap;
        return settings;
    }
    /// Returns what the topic of protected attributes has, as it lies there.
    std::vector<streaming::Record> in_the_broker() const {
        const auto log = streaming_kafka::KafkaReader::open(kafka()).value();
        const auto stored =
            log->read(prefix_ + "protected-attributes", PartitionId(0), streaming::Offset(0), 1000)
                .value();
        std::vector<streaming::Record> records;
        for (const auto& one : stored) records.push_back(one.record);
        return records;
    }
    /// Returns some values for a person, as the first of the catalog has them.
    protected_attributes::ProtectedAttributes attributes_of(const Node& node,
                                                            const std::string& person) const {
        const auto& first = node.attributes().catalog().attributes().front();
        return {domain::PersonId(person),
                stream_.applicants.front().application.event_time,
                {{first.name, first.values.front()}}};
    }
    static int post(Node& node, const protected_attributes::ProtectedAttributes& one) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node.add_routes(router);
        http::Request request;
        request.method = "POST";
        request.headers = {{"Authorization", "Bearer t"}};
        request.path = "/v1/protected-attributes";
        request.body = protected_attributes::to_json(one);
        return router.handle(request).status;
    }
    static void close(std::unique_ptr<Node>& node) {
        EXPECT_TRUE(node->release());  // or the next start waits for the leases
        node.reset();
    }
    void read(Node& node) const {
        const auto status = node.advance(stream_.applicants.back().application.event_time);
        ASSERT_TRUE(status) << status.error().message;
    }
    static void plant(const Settings& settings) {
        const auto& first = settings.catalog.attributes().front();
        const protected_attributes::ProtectedAttributes one{domain::PersonId(kPerson),
                                                            base::TimePoint::from_micros(1),
                                                            {{first.name, first.values.front()}}};
        auto store = ProtectedStore::open(settings.store / "protected", settings.catalog).value();
        ASSERT_TRUE(store->put(std::span(&one, 1), one.event_time));
    }
    static bool traces(const Settings& settings) {
        return !test_support::files_with(settings.store / "protected", kPerson).empty();
    }
};

TEST_F(AttributesOnKafka, AreInTheClearInNoRecordThatANodeWroteAndErasedWithThePerson) {
    auto of_a = first();
    of_a.privacy.retention_months = 0;
    auto a = open(of_a);
    const auto hers = attributes_of(*a, kPerson), his = attributes_of(*a, "person-2");
    ASSERT_EQ(post(*a, hers), 200);
    ASSERT_EQ(post(*a, his), 200);
    // another system's, as it always wrote
    const auto theirs = attributes_of(*a, "person-3");
    const streaming::Record plain{
        "person-3", protected_attributes::encode(theirs), theirs.event_time, {}};
    ASSERT_TRUE(streaming_kafka::KafkaWriter::open(kafka()).value()->append_to(
        prefix_ + "protected-attributes", PartitionId(0), {&plain, 1}));
    const auto records = in_the_broker();
    ASSERT_EQ(records.size(), 3u);
    const auto& [name, value] = *hers.attributes.begin();
    for (size_t i = 0; i < 3; ++i) {
        const bool clear = records[i].value.find(name) != std::string::npos;
        EXPECT_EQ(clear, i == 2) << i;
        EXPECT_EQ(records[i].value == encode(i == 0 ? hers : i == 1 ? his : theirs), i == 2);
    }
    read(*a);
    // after a restart, and in a store that has to read it all again
    for (const bool anew : {false, true}) {
        close(a);
        if (anew) fs::remove_all(of_a.store / "protected");
        a = open(of_a);
        read(*a);
        for (const auto& one : {hers, his, theirs})
            EXPECT_EQ(a->attributes().get(one.person).value(), one) << anew;
    }
    const auto erased = a->erase(hers.person, "privacy-office", "request 7", false);
    ASSERT_TRUE(erased) << erased.error().message;
    EXPECT_TRUE(erased->attributes);
    EXPECT_EQ(erased->keys, 1u);
    EXPECT_TRUE(std::any_of(erased->remains.begin(), erased->remains.end(), [](const auto& line) {
        return line.starts_with("the topic protected-attributes");
    }));
    close(a);
    fs::remove_all(of_a.store / "protected");
    a = open(of_a);
    read(*a);
    EXPECT_FALSE(a->attributes().get(hers.person).value());
    EXPECT_EQ(a->attributes().get(his.person).value(), his);
    EXPECT_FALSE(traces(of_a));
}

/// A node that has nothing to do with attributes is asked first, and the trainer has not read yet.
TEST_F(AttributesOnKafka, AnErasureElsewhereReachesWhatWasNotReadYet) {
    const auto of_a = first();
    auto of_b = second();
    of_b.privacy.retention_months = 0;
    const auto a = open(of_a);
    const auto b = open(of_b);
    const auto hers = attributes_of(*a, kPerson);
    ASSERT_EQ(post(*a, hers), 200);
    EXPECT_EQ(post(*b, hers), 409) << "it neither reads nor writes them";
    const auto erased = b->erase(hers.person, "privacy-office", "request 7", false);
    ASSERT_TRUE(erased) << erased.error().message;
    EXPECT_EQ(erased->keys, 1u);
    read(*a);
    EXPECT_FALSE(a->attributes().get(hers.person).value());
    EXPECT_FALSE(traces(of_a));
}

TEST_F(AttributesOnKafka, OfANodeThatReadsThemNoMoreAreDeletedAtItsStart) {
    const auto a = open(first());
    const auto of_b = second();
    ASSERT_FALSE(of_b.log.attributes);
    auto b = open(of_b);
    close(b);  // it has a registry
    plant(of_b);
    ASSERT_TRUE(traces(of_b));
    b = open(of_b);
    EXPECT_FALSE(traces(of_b));
    EXPECT_TRUE(b->attributes().check()->empty());
    const auto audited = [](Node& node) {
        const auto entries = node.registry().audit_entries().value();
        return std::count_if(entries.begin(), entries.end(), [](const auto& one) {
            return one.action == "protected_attributes_removed";
        });
    };
    EXPECT_EQ(audited(*b), 1);
    close(b);
    b = open(of_b);
    EXPECT_EQ(audited(*b), 1) << "there was nothing more";
    close(b);

    // its store has the right to train, which is switched off
    plant(of_b);
    ASSERT_TRUE(lease::write_seat(seat_of(of_b.store),
                                  {lease::Turn{1, std::string(16, 's')}, std::nullopt, false}));
    const auto refused = Node::open(of_b);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "attributes_left");
    EXPECT_TRUE(traces(of_b));
}

TEST_F(AttributesOnKafka, OfTheNodeThatTrainsStay) {
    const auto of_a = first();
    auto a = open(of_a);
    close(a);
    plant(of_a);
    a = open(of_a);
    EXPECT_TRUE(traces(of_a));
    EXPECT_TRUE(a->attributes().get(domain::PersonId(kPerson)).value());
}

}  // namespace
}  // namespace rampart::rampartd
