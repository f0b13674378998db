// A deployment moves to another cluster, to which its topics were mirrored (ops/runbooks/
// migration.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "demo_store.hpp"
#include "node_answers.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/node.hpp"
#include "support/kafka_broker.hpp"
#include "support/kafka_mirror.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using streaming::Offset;
using streaming::PartitionId;
using test_support::DemoStore;
using test_support::KafkaBroker;
using testing::HasSubstr;
using testing::Not;

constexpr int32_t kPartitions = 4;  // as in a demo, whose topics have no prefix

/// The store of a demo that trained, on a broker of its own, and the broker to which it moves.
class ClusterMigration : public testing::Test, public DemoStore {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        old_ = std::make_unique<KafkaBroker>();
        new_ = std::make_unique<KafkaBroker>();
        const auto specs = wire::Topics::with_prefix("").specs(kPartitions);
        make_topics(*old_, specs);
        make("cluster_migration_test", fmt::format("--kafka {}", old_->bootstrap()));
    }
    void TearDown() override {
        if (old_) remove();
    }

    static std::unique_ptr<streaming_kafka::TopicAdmin> admin_of(const KafkaBroker& broker) {
        return streaming_kafka::TopicAdmin::open(settings_of(broker)).value();
    }
    static streaming_kafka::KafkaSettings settings_of(const KafkaBroker& broker) {
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = broker.bootstrap();
        settings.request_timeout = base::Duration::seconds(15);
        return settings;
    }
    static void make_topics(const KafkaBroker& broker,
                            const std::vector<streaming::TopicSpec>& specs) {
        const auto made = admin_of(broker)->create(specs, 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    /// Makes the topics at the new broker, so that they keep the times of the copied records, and
    /// copies all of them.
    size_t mirror() const {
        auto specs = wire::Topics::with_prefix("").specs(kPartitions);
        for (auto& spec : specs) spec.broker_time = false;
        make_topics(*new_, specs);
        const support::KafkaMirror mirror(old_->bootstrap(), new_->bootstrap());
        size_t copied = 0;
        for (const auto& spec : specs)
            for (int32_t p = 0; p < spec.partitions; ++p)
                copied += mirror.copy(spec.name, PartitionId(p));
        return copied;
    }
    /// Lets the new broker say when a record is appended, from now on.
    void date_by_broker() const {
        const support::KafkaAdmin cluster(new_->bootstrap());
        for (const auto& spec : wire::Topics::with_prefix("").specs(kPartitions))
            if (spec.broker_time)
                cluster.set(spec.name, streaming_kafka::required_configs(spec, 1));
    }
    /// Points the configurations at the new broker.
    void point_at_new() const {
        for (const char* name : {"rampartd.toml", "audit.toml"}) {
            auto text = read(out() / "a" / name);
            const auto at = text.find(old_->bootstrap());
            ASSERT_NE(at, std::string::npos);
            text.replace(at, old_->bootstrap().size(), new_->bootstrap());
            ASSERT_TRUE(base::write_file_atomically(out() / "a" / name, text));
        }
    }
    static std::unique_ptr<Node> open(const std::string& name = "a") {
        auto node = Node::open(load_settings(out() / name / "rampartd.toml").value());
        EXPECT_TRUE(node) << node.error().message;
        return node ? std::move(*node) : nullptr;
    }
    static std::string ask(Node& node, const std::string& method, const std::string& path,
                           const std::string& body = "") {
        const auto answer = rampartd::ask(node, method, path, body);
        EXPECT_EQ(answer.status, 200) << method << " " << path << ": " << answer.body;
        return answer.body;
    }
    /// Returns the decisions that a node reads in its log.
    static std::vector<domain::Decision> decisions_in_log(Node& node) {
        std::vector<domain::Decision> all;
        for (int32_t p = 0; p < kPartitions; ++p) {
            Offset next(0);
            while (true) {
                const auto records =
                    node.log().read("decisions", PartitionId(p), next, 1000).value();
                if (records.empty()) break;
                for (const auto& stored : records)
                    if (auto one = wire::decode_decision(stored.record.value))
                        all.push_back(*std::move(one));
                next = Offset(records.back().offset.value() + 1);
            }
        }
        return all;
    }
    /// Returns the answers of GET /v1/decisions/ID, by id.
    static std::map<std::string, std::string> answers(Node& node) {
        std::map<std::string, std::string> all;
        for (const auto& one : decisions_in_log(node)) {
            const auto& id = one.id.value();
            all[id] = ask(node, "GET", "/v1/decisions/" + id);
        }
        return all;
    }
    static std::map<PartitionId, base::Digest> hashes(Node& node) {
        std::map<PartitionId, base::Digest> found;
        const auto states = node.joiner().partition_states().value();
        for (const auto& state : states) found[state.partition] = state.hash;
        return found;
    }
    /// What must be the same after the move.
    struct Account {
        std::map<std::string, std::string> answers;
        std::map<PartitionId, base::Digest> state;
        size_t runs = 0;
        std::string ledger, champion;
        base::TimePoint now;
    };
    static void expect_same(const Account& found, const Account& before) {
        EXPECT_EQ(found.runs, before.runs);
        EXPECT_EQ(found.ledger, before.ledger);
        EXPECT_EQ(found.champion, before.champion);
        EXPECT_EQ(found.now, before.now);
        EXPECT_EQ(found.state, before.state) << "joined once";
        ASSERT_EQ(found.answers.size(), before.answers.size());
        size_t other = 0;
        for (const auto& [id, answer] : before.answers) {
            const auto now = found.answers.find(id);
            const bool same = now != found.answers.end() && now->second == answer;
            if (!same && ++other == 1)
                ADD_FAILURE() << id << ": " << answer << "\nand now "
                              << (now == found.answers.end() ? "nothing" : now->second);
        }
        EXPECT_EQ(other, 0u);
    }
    /// `now`: the event time to which it is to come; nullopt: where it stands.
    static Account account(std::optional<base::TimePoint> now = std::nullopt) {
        const auto a = open();
        while (a->mend()) {  // an index that is made anew
        }
        const auto joined = a->advance(now.value_or(a->now()));
        EXPECT_TRUE(joined) << joined.error().message;
        const auto ledger =
            certification::DeltaLedger::open(a->registry().ledger_entries().value()).value();
        Account account{answers(*a),
                        hashes(*a),
                        a->trainer().runs()->size(),
                        ledger.head().hex(),
                        a->registry().champion()->policy.value(),
                        a->now()};
        EXPECT_TRUE(a->release());
        return account;
    }
    /// Expects that each record of a topic is known since the same time in both clusters.
    void expect_same_times(const std::string& topic) const {
        const auto before = streaming_kafka::KafkaReader::open(settings_of(*old_)).value();
        const auto after = streaming_kafka::KafkaReader::open(settings_of(*new_)).value();
        size_t compared = 0;
        for (int32_t p = 0; p < kPartitions; ++p) {
            const PartitionId partition(p);
            ASSERT_EQ(before->end_offset(topic, partition).value(),
                      after->end_offset(topic, partition).value());
            for (Offset next(0);;) {
                const auto there = before->read(topic, partition, next, 500).value();
                if (there.empty()) break;
                const auto here = after->read(topic, partition, next, there.size()).value();
                for (size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
                    ASSERT_EQ(here[i].record, there[i].record);
                    ASSERT_EQ(here[i].appended_at, there[i].appended_at) << topic;
                    next = Offset(here[i].offset.value() + 1);
                    ++compared;
                }
                ASSERT_FALSE(here.empty());
            }
        }
        EXPECT_GT(compared, 100u) << topic;
    }
    static void expect(const std::string& command, int exit_code, std::string_view says) {
        const auto ran = rampart(command);
        EXPECT_EQ(ran.exit_code, exit_code) << command << ": " << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(std::string(says))) << command;
    }

    /// Copies decisions as a mirror does that sends a record again. It is another log, and the
    /// check of the ledger says so before a node starts. Leaves the new broker without topics.
    void expect_twice_is_not_the_log_of_then() const {
        make_topics(*new_, wire::Topics::with_prefix("").specs(kPartitions));
        const support::KafkaMirror mirror(old_->bootstrap(), new_->bootstrap());
        mirror.copy("decisions", PartitionId(0), 1);
        for (int32_t p = 0; p < kPartitions; ++p) mirror.copy("decisions", PartitionId(p));
        expect("ledger check --config a/audit.toml --head head", 1, "NOT CONTINUED");
        const support::KafkaAdmin cluster(new_->bootstrap());
        for (const auto& spec : wire::Topics::with_prefix("").specs(kPartitions))
            cluster.delete_topic(spec.name);
    }

    /// Serves at the new broker, and accepts there what the runbook says.
    static void accept_the_cluster() {
        auto served = demo::ServiceProcess::start(kRampart, out() / "a/rampartd.toml",
                                                  out() / "a/store/endpoint", out() / "a/new.log");
        ASSERT_TRUE(served) << served.error().message;
        expect("partition list --config a/rampartd.toml", 1, "topic_recreated");
        for (const char* topic : {"decisions", "outcomes", "applications"})
            expect(fmt::format("partition resume all --topic {} --accept-gap --reason "
                               "'another cluster' --config a/rampartd.toml",
                               topic),
                   0, "");
        ASSERT_TRUE(served->stop());
    }
    /// Makes the configuration of a further node of the group, without a store.
    static void make_node(const std::string& name) {
        fs::create_directories(out() / name);
        for (const auto& entry : fs::directory_iterator(out() / "a"))
            if (entry.is_regular_file())
                fs::copy(entry.path(), out() / name / entry.path().filename());
        auto text = read(out() / name / "rampartd.toml");
        const std::string node = "node = \"demo\"";
        text.replace(text.find(node), node.size(), fmt::format("node = \"{}\"", name));
        ASSERT_TRUE(base::write_file_atomically(out() / name / "rampartd.toml", text));
    }

    std::unique_ptr<KafkaBroker> old_, new_;
};

TEST_F(ClusterMigration, EachDecisionIsAnsweredAsBeforeAndAllGoesOn) {
    ASSERT_FALSE(HasFatalFailure());
    const auto before = account();
    ASSERT_GT(before.answers.size(), 5000u);
    ASSERT_GT(before.runs, 1u);
    expect("ledger head --config a/audit.toml --out head", 0, "");
    expect("ledger copy --config a/audit.toml --out ledger --reason study --actor anna", 0, "");
    point_at_new();
    expect_twice_is_not_the_log_of_then();
    EXPECT_GT(mirror(), before.answers.size());
    date_by_broker();
    for (const char* topic : {"decisions", "outcomes"}) expect_same_times(topic);
    old_->kill();
    // before a node starts: the mirror has each decision of then, at its place
    expect("ledger check --config a/audit.toml --head head", 0,
           "records of the log are those of then");
    expect("topics check --config a/rampartd.toml", 0, "");
    accept_the_cluster();
    expect_same(account(), before);
    for (const auto& entry : fs::directory_iterator(out() / "a/certificates")) {
        if (entry.path().extension() != ".cert") continue;
        expect(
            fmt::format("verify {} --key a/certificates/gate.pub.pem --ledger ledger --head head",
                        entry.path().string()),
            0, "");
    }
    {
        const auto a = open();
        EXPECT_TRUE(a->check_trains());
        ASSERT_TRUE(a->advance(before.now));
        const std::string bad_keys = R"("name":"person_keys","ok":false)";
        EXPECT_THAT(ask(*a, "GET", "/readyz"), HasSubstr(bad_keys))
            << "it has read that topic, too";
        ask(*a, "POST", "/v1/partitions/resume",
            R"({"topic":"person-keys","partition":0,"reason":"another cluster"})");
        EXPECT_THAT(ask(*a, "GET", "/readyz"), Not(HasSubstr(bad_keys)));
        auto one = decisions_in_log(*a).front().application;
        const auto known = a->decisions().decide(std::span(&one, 1));
        ASSERT_TRUE(known) << known.error().message;
        EXPECT_EQ(decisions_in_log(*a).size(), before.answers.size()) << "it has its decision";
        one.id = domain::ApplicationId("after-the-move");
        one.event_time = a->now();
        ASSERT_TRUE(a->decisions().decide(std::span(&one, 1)));
        EXPECT_EQ(decisions_in_log(*a).size(), before.answers.size() + 1);
        const auto model = a->registry().models().value().front().id;
        const auto run = a->certify(model, a->now(), "");
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(run->ordinal, before.runs + 1);
        ASSERT_TRUE(a->release());
    }
    expect("ledger check --config a/audit.toml --head head", 0,
           "records of the log are those of then");
    // a node without a store makes the same state from the mirror
    const auto grown = account();
    make_node("b");
    const auto b = open("b");
    EXPECT_EQ(b->check_trains().error().reason, "trainer_elsewhere");
    const auto joined = b->advance(grown.now);
    ASSERT_TRUE(joined) << joined.error().message;
    EXPECT_EQ(hashes(*b), grown.state);
    // and so does the old one, which may have its databases made anew again
    ASSERT_TRUE(b->release());
    fs::remove_all(out() / "a/store/partitions");
    expect_same(account(grown.now), grown);
}

}  // namespace
}  // namespace rampart::rampartd
