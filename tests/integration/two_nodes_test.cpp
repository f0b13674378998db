// Nodes that share a log: which node decides, which follows, which takes over, which is too late.
#include "two_nodes.hpp"

#include <algorithm>
#include <optional>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/lease/lease_record.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/byte_scan.hpp"

namespace rampart::rampartd {
namespace {

TEST_F(TwoNodes, SealWhatTheyDecideUnlessConfiguredOtherwiseAndNeedTheSecretOfTheGroup) {
    EXPECT_TRUE(first().privacy.encrypt_log);
    const auto config = folder_ / "first" / "rampartd.toml";
    auto text = base::read_file(config, 1 << 20).value();
    const std::string secret = "secret = \"../person.key\"\n";
    text.erase(text.find(secret), secret.size());
    ASSERT_TRUE(base::write_file_atomically(config, text));
    const auto without = load_settings(config);
    ASSERT_FALSE(without);
    EXPECT_NE(without.error().message.find("privacy.secret"), std::string::npos)
        << without.error().message;
    ASSERT_TRUE(base::write_file_atomically(config, text + "encrypt_log = false\n"));
    EXPECT_TRUE(load_settings(config));
}

TEST_F(TwoNodes, EachDecidesItsOwnAndTheFollowerHasTheSameState) {
    const auto a = open(first());
    const auto b = open(second());
    const Tending tending_a(*a), tending_b(*b);
    for (Node* node : {a.get(), b.get()})
        ASSERT_TRUE(node->keep_leases());  // each has read about the other
    size_t by_a = 0, by_b = 0;
    for (const auto& application : applications()) {
        const bool of_a = a->decisions().partition_of(application.id).value() < 2;
        Node& owner = of_a ? *a : *b;
        Node& other = of_a ? *b : *a;
        const auto refused = decide(other, application);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "not_owner");
        EXPECT_NE(refused.error().message.find(of_a ? "first" : "second"), std::string::npos)
            << refused.error().message;
        const auto decision = decide(owner, application);
        ASSERT_TRUE(decision) << decision.error().message;
        ++(of_a ? by_a : by_b);
        if (decision->action == domain::Action::kApprove) {
            const domain::Outcome outcome{decision->id, "repaid", 0, 1,
                                          application.event_time + base::Duration::days(30)};
            ASSERT_TRUE(owner.decisions().submit_outcomes(std::span(&outcome, 1)));
        }
    }
    EXPECT_GT(by_a, 50u);
    EXPECT_GT(by_b, 50u);
    const auto end = base::add_months(stream_.applicants.back().application.event_time, 36);
    for (Node* node : {a.get(), b.get()}) {
        const auto status = node->advance(end);
        ASSERT_TRUE(status) << status.error().message;
    }
    EXPECT_EQ(a->joiner().counts().decisions, by_a + by_b);  // it follows what it does not own
    EXPECT_EQ(b->joiner().counts().decisions, by_b);
    const auto of_a = hashes(*a), of_b = hashes(*b);
    EXPECT_EQ(of_b.size(), 2u);
    for (const auto& [partition, hash] : of_b) EXPECT_EQ(of_a.at(partition), hash);
    EXPECT_EQ(b->decisions().policy()->id(), a->decisions().policy()->id());
    EXPECT_TRUE(a->joiner().check()->empty());
    EXPECT_TRUE(b->joiner().check()->empty());
}

/// A node behind a server, whose address it advertises.
class ServedNode {
  public:
    explicit ServedNode(Settings settings)
        : server_(http::Server::start({}, closed_).value()),
          address("http://" + server_->endpoint()) {
        settings.log.advertise = address;
        auto opened = Node::open(settings);
        EXPECT_TRUE(opened) << opened.error().message;
        node = std::move(*opened);
        router_ = http::Router(node->callers());
        node->add_routes(router_);
        server_->answer_by(router_);
        http::ClientOptions options;
        options.token = base::read_file(settings.store / "keys" / "token", 256).value();
        options.token.pop_back();  // its newline
        client.emplace(http::Client::create(address, options).value());
    }
    ~ServedNode() { server_->stop(); }

  private:
    http::Router closed_, router_;
    std::unique_ptr<http::Server> server_;

  public:
    const std::string address;
    std::unique_ptr<Node> node;
    std::optional<http::Client> client;  // with a token of the node
};

TEST_F(TwoNodes, AClientThatFollowsTheOwnersAddressIsAnswered) {
    ServedNode a(first()), b(second());
    const Tending tending_a(*a.node), tending_b(*b.node);
    for (Node* node : {a.node.get(), b.node.get()}) ASSERT_TRUE(node->keep_leases());
    size_t decided = 0, followed = 0;
    for (const auto& application : applications()) {
        if (++decided > 60) break;
        const auto body = wire::to_json(application);
        auto answer = a.client->post("/v1/decisions", body).value();
        if (answer.status == 421) {
            const std::string owner(answer.header("X-Rampart-Owner"));
            ASSERT_EQ(owner, b.address);
            EXPECT_NE(answer.body.find(fmt::format(R"("owner":"{}")", owner)), std::string::npos)
                << answer.body;
            answer = b.client->post("/v1/decisions", body).value();
            EXPECT_EQ(b.client->post("/v1/decisions", body)->body, answer.body);
            ++followed;
        }
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    EXPECT_GT(followed, 5u);
    EXPECT_LT(followed, 55u);
}

TEST_F(TwoNodes, AnAddressThatTheOwnerDidNotWriteIsNotGivenToClients) {
    ServedNode a(first()), b(second());
    ASSERT_TRUE(b.node->keep_leases());
    streaming_kafka::KafkaSettings kafka;
    kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
    const auto writer = streaming_kafka::KafkaWriter::open(kafka).value();
    const auto reader = streaming_kafka::KafkaReader::open(kafka).value();
    const auto topic = wire::Topics::with_prefix(prefix_).leases;
    const auto there = reader->read(topic, PartitionId(0), streaming::Offset(0), 1000).value();
    size_t forged = 0;
    for (const auto& stored : there) {
        auto lease = lease::decode_lease(stored.record.value).value();
        if (lease.node != "second" || lease.kind != lease::LeaseRecord::Kind::kBeat) continue;
        EXPECT_EQ(lease.address, b.address);
        lease.address = "http://thief.example:80";
        auto record = stored.record;  // with the MAC of the node's own
        record.value = lease::encode(lease);
        ASSERT_TRUE(writer->append_to(topic, PartitionId(0), {&record, 1}));
        ++forged;
    }
    EXPECT_GE(forged, 2u);
    ASSERT_TRUE(a.node->keep_leases());
    const auto all = applications();
    const auto of_b = std::find_if(all.begin(), all.end(), [&](const auto& one) {
        return a.node->decisions().partition_of(one.id).value() >= 2;
    });
    const auto answer = a.client->post("/v1/decisions", wire::to_json(*of_b)).value();
    EXPECT_EQ(answer.status, 421);
    EXPECT_EQ(answer.header("X-Rampart-Owner"), b.address);
}

/// Returns a record like `record` that its MAC does not fit any more.
streaming::Record altered(streaming::Record record) {
    record.value.back() = static_cast<char>(record.value.back() ^ 1);
    return record;
}

/// Writes what a stranger could who may write to the topics, and has no key of the group: fences,
/// leases, altered decisions, an end of a person's key, and the erasure of the given decisions.
/// Returns how many records.
size_t forge(const std::string& prefix, base::TimePoint now,
             const std::map<domain::DecisionId, int>& erased) {
    streaming_kafka::KafkaSettings kafka;
    kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
    const auto writer = streaming_kafka::KafkaWriter::open(kafka).value();
    const auto reader = streaming_kafka::KafkaReader::open(kafka).value();
    const auto topics = wire::Topics::with_prefix(prefix);
    size_t forged = 0;
    const auto send = [&](const std::string& topic, int partition, streaming::Record record) {
        EXPECT_TRUE(writer->append_to(topic, PartitionId(partition), {&record, 1}));
        ++forged;
    };
    for (const int p : {0, 1}) {
        send(topics.decisions, p, wire::fence_record(uint64_t{1} << 62, "thief", now));
        const auto there =
            reader->read(topics.decisions, PartitionId(p), streaming::Offset(0), 1000).value();
        for (const auto& one : there)
            if (!one.record.value.empty()) send(topics.decisions, p, altered(one.record));
        auto fence = there.front().record;  // a fence with its MAC, under another epoch
        EXPECT_TRUE(wire::writer_mark(fence)->fence);
        for (auto& header : fence.headers)
            if (header.name == wire::kFenceHeader) header.value = "4611686018427387904";
        send(topics.decisions, p, fence);
        send(topics.leases, 0,
             {lease::lease_key("rampart", PartitionId(p)),
              lease::encode({.kind = lease::LeaseRecord::Kind::kBeat,
                             .epoch = uint64_t{1} << 62,
                             .ttl = base::Duration::hours(1),
                             .node = "thief",
                             .session = std::string(16, 's')}),
              now,
              {}});
    }
    for (const auto& [id, partition] : erased)
        send(topics.decisions, partition, wire::to_record(domain::Erasure{id, now}));
    send(topics.person_keys, 0, {std::string(16, 'p'), "\x02", now, {}});
    return forged;
}

TEST_F(TwoNodes, RecordsThatNoNodeWroteChangeNothing) {
    const auto a = open(first());
    const Tending tending(*a);
    ASSERT_TRUE(a->keep_leases());
    std::map<domain::DecisionId, domain::Decision> decided;
    const auto all = applications();
    const auto decide_some = [&](size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) {
            if (a->decisions().partition_of(all[i].id).value() > 1) continue;
            const auto decision = decide(*a, all[i]);
            ASSERT_TRUE(decision) << decision.error().message;
            decided[decision->id] = *decision;
        }
    };
    decide_some(0, 60);
    std::map<domain::DecisionId, int> known;
    for (const auto& [id, decision] : decided)
        known[id] = a->decisions().partition_of(decision.application.id).value();
    const auto topics = wire::Topics::with_prefix(prefix_);
    const auto now = stream_.applicants.back().application.event_time;
    EXPECT_GT(forge(prefix_, now, known), 60u);
    ASSERT_TRUE(a->keep_leases());
    decide_some(60, all.size());
    const auto end = base::add_months(now, 36);
    ASSERT_TRUE(a->advance(end));
    for (const auto& [id, decision] : decided)
        EXPECT_EQ(a->decisions().find(id).value(), decision) << id.value();
    EXPECT_EQ(a->joiner().counts().decisions, decided.size());
    EXPECT_TRUE(a->joiner().check()->empty());
    http::Router router;
    a->add_routes(router);
    http::Request metrics;
    metrics.method = "GET";
    metrics.path = "/metrics";
    const auto text = router.handle(metrics).body;
    for (const auto& topic : {topics.decisions, topics.leases}) {
        const auto line =
            fmt::format("rampart_log_unauthenticated_records_total{{topic=\"{}\"}} ", topic);
        const auto at = text.find(line);
        ASSERT_NE(at, std::string::npos) << topic;
        EXPECT_GT(std::stod(text.substr(at + line.size())), 0) << topic;
    }
}

TEST_F(TwoNodes, WhatALiveNodeOwnsIsRefusedAndWhatADeadOneOwnedIsTakenOver) {
    const auto a = open(first());
    std::optional<Tending> tending_a(std::in_place, *a);
    std::map<domain::DecisionId, domain::Decision> acknowledged;
    const auto all = applications();
    for (size_t i = 0; i < 60; ++i) {
        if (a->decisions().partition_of(all[i].id).value() > 1) continue;
        const auto decision = decide(*a, all[i]);
        ASSERT_TRUE(decision) << decision.error().message;
        acknowledged[decision->id] = *decision;
    }
    const auto heir = settings("heir", "own = [1]",
                               "enabled = false\ngate_key = \"../first/store/gate.pub.pem\"\n");
    const auto early = Node::open(heir);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().reason, "partition_owned");
    EXPECT_NE(early.error().message.find("first"), std::string::npos);
    EXPECT_FALSE(fs::exists(heir.store / "partitions" / "1")) << "it would be left over";
    tending_a.reset();
    // `a` gives no sign of life any more, as if it were stopped; its process still exists.
    const auto c = open(heir);
    const Tending tending_c(*c);
    size_t checked = 0, refused = 0;
    for (const auto& application : all) {
        if (a->decisions().partition_of(application.id).value() != 1) continue;
        const auto late = decide(*a, application);
        const auto known = acknowledged.find(domain::decision_id_of(application.id));
        if (known == acknowledged.end()) {
            EXPECT_FALSE(late) << "acknowledged by a node that has lost the partition";
            ++refused;
        }
        const auto decision = decide(*c, application);
        ASSERT_TRUE(decision) << decision.error().message;
        if (known == acknowledged.end()) continue;
        EXPECT_EQ(*decision, known->second);
        ++checked;
    }
    EXPECT_GT(checked, 5u);
    EXPECT_GT(refused, 5u);
    ASSERT_TRUE(a->keep_leases());  // it reads about it
    const auto views = a->decisions().partitions();
    for (const auto& view : views) {
        EXPECT_EQ(view.status.has_value(), view.partition != PartitionId(1));
    }
    // Any reader of the log counts each application of the partition once.
    ASSERT_TRUE(c->advance(stream_.applicants.back().application.event_time));
    EXPECT_EQ(c->joiner().counts().decisions, checked + refused);
    EXPECT_EQ(c->joiner().counts().conflicting_decisions, 0u);
    EXPECT_LE(c->joiner().counts().fenced, refused);
    EXPECT_GT(c->joiner().counts().fenced, 0u);  // the late node did write
}

TEST_F(TwoNodes, APersonErasedAtOneNodeIsErasedAtBothAndTheBrokerHasOnlyUnreadableBytes) {
    const std::string marker = "kx7QvW2mZp9RtYb4NcLs8JdH";
    auto of_a = first(), of_b = second();
    for (auto* one : {&of_a, &of_b}) one->privacy.retention_months = 0;
    const auto a = open(of_a), b = open(of_b);
    const Tending tending_a(*a), tending_b(*b);
    for (Node* node : {a.get(), b.get()}) ASSERT_TRUE(node->upkeep());
    auto all = applications();
    // a decision that b decides and a follows
    const auto hers = std::find_if(all.begin(), all.end(), [&](const auto& one) {
        return b->decisions().partition_of(one.id).value() >= 2;
    });
    hers->person = domain::PersonId(marker);
    std::optional<domain::DecisionId> id;
    for (const auto& application : all) {
        const bool by_a = a->decisions().partition_of(application.id).value() < 2;
        const auto decision = decide(by_a ? *a : *b, application);
        ASSERT_TRUE(decision) << decision.error().message;
        if (application.person == hers->person) id = decision->id;
    }
    const auto end = all.back().event_time;
    for (Node* node : {a.get(), b.get()}) ASSERT_TRUE(node->advance(end));
    ASSERT_TRUE(a->joiner().find_decision(*id).value());
    streaming_kafka::KafkaSettings kafka;
    kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
    const auto log = streaming_kafka::KafkaReader::open(kafka).value();
    const auto in_the_broker = [&] {
        for (int32_t p = 0; p < 4; ++p) {
            streaming::Offset next(0);
            while (true) {
                const auto records =
                    log->read(prefix_ + "decisions", PartitionId(p), next, 1000).value();
                if (records.empty()) break;
                for (const auto& stored : records) {
                    if (test_support::has_trace(stored.record.value, marker)) return true;
                }
                next = streaming::Offset(records.back().offset.value() + 1);
            }
        }
        return false;
    };
    EXPECT_FALSE(in_the_broker());
    EXPECT_FALSE(test_support::files_with(folder_ / "first" / "store", marker).empty());
    const auto erased = a->erase(hers->person, "privacy-office", "request 7", false);
    ASSERT_TRUE(erased) << erased.error().message;
    EXPECT_EQ(erased->decisions.size(), 1u);
    EXPECT_EQ(erased->keys, 1u);
    EXPECT_EQ(erased->in_clear, 0u);
    // b has not read about it, and seals another decision with the destroyed key
    auto further = *hers;
    for (int n = 0; b->decisions().partition_of(further.id).value() < 2 || further.id == hers->id;
         ++n) {
        further.id = domain::ApplicationId(fmt::format("further-{}", n));
    }
    const auto late = decide(*b, further);
    ASSERT_TRUE(late) << late.error().message;
    // b reads about it in the log
    for (Node* node : {b.get(), a.get(), b.get()}) ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(b->joiner().find_decision(late->id).value(), std::nullopt);
    const auto gone = b->decisions().find(late->id);
    ASSERT_FALSE(gone) << "it can still be read";
    EXPECT_EQ(gone.error().reason, "erased");
    EXPECT_EQ(b->joiner().find_decision(*id).value(), std::nullopt);
    const auto refused = decide(*b, *hers);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "erased");
    auto state_of_a = hashes(*a);
    for (const auto& [partition, hash] : hashes(*b)) EXPECT_EQ(state_of_a.at(partition), hash);
    EXPECT_EQ(test_support::files_with(folder_ / "first", marker), std::vector<std::string>());
}

}  // namespace
}  // namespace rampart::rampartd
