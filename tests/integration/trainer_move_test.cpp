// The training of a group moves to another store: with ledger, runs and keys, once, and whatever
// step is cut off.
#include "services/rampartd/trainer_move.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "demo_store.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/storage/encryption.hpp"
#include "rampart/storage/inspection.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/store_layout.hpp"
#include "support/kafka_broker.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using test_support::DemoStore;

const std::string kWords = "correct horse battery";

/// What must not be lost on the way.
struct Account {
    double spent = 0;
    std::string ledger;
    uint32_t runs = 0;
    std::string champion;
    bool operator==(const Account&) const = default;
};

/// The store of a demo that trained, on a broker of its own, and nodes beside it. The demo's topics
/// have no prefix.
class TrainerMoveTest : public testing::Test, public DemoStore {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        broker_ = std::make_unique<test_support::KafkaBroker>();
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = broker_->bootstrap();
        const auto admin = streaming_kafka::TopicAdmin::open(settings).value();
        const auto made = admin->create(wire::Topics::with_prefix("").specs(4), 1);
        ASSERT_TRUE(made) << made.error().message;
        make("trainer_move_test", fmt::format("--kafka {}", broker_->bootstrap()));
        ASSERT_TRUE(base::write_file_atomically(out() / "words", kWords + "\n", 0600));
        for (const char* name : {"b", "c"}) make_node(name);
    }
    void TearDown() override {
        if (broker_) remove();
    }

    /// Makes the configuration of a further node of the group, without a store.
    static void make_node(const std::string& name) {
        fs::create_directories(out() / name);
        for (const auto& entry : fs::directory_iterator(out() / "a")) {
            if (entry.is_regular_file())
                fs::copy(entry.path(), out() / name / entry.path().filename());
        }
        auto text = read(out() / name / "rampartd.toml");
        const std::string node = "node = \"demo\"";
        text.replace(text.find(node), node.size(), fmt::format("node = \"{}\"", name));
        ASSERT_TRUE(base::write_file_atomically(out() / name / "rampartd.toml", text));
    }
    static Settings settings(const std::string& name) {
        return load_settings(out() / name / "rampartd.toml").value();
    }
    static std::unique_ptr<Node> open(const std::string& name) {
        auto node = Node::open(settings(name));
        EXPECT_TRUE(node) << node.error().message;
        return node ? std::move(*node) : nullptr;
    }
    static Account account_of(Node& node) {
        const auto ledger =
            certification::DeltaLedger::open(node.registry().ledger_entries().value()).value();
        return {ledger.spent(), ledger.head().hex(),
                static_cast<uint32_t>(node.trainer().runs()->size()),
                node.registry().champion()->policy.value()};
    }
    static Account account_of(const std::string& name) {
        const auto node = open(name);
        const auto account = account_of(*node);
        EXPECT_TRUE(node->release());
        return account;
    }
    static test_support::Ran move(const std::string& command, const std::string& node) {
        return rampart(
            fmt::format("trainer {} --config {}/rampartd.toml --passphrase-file words "
                        "--reason 'a new machine' --actor anna",
                        command, node));
    }
    static TrainerMove request(const std::string& file) {
        return {out() / file,
                kWords,
                {"anna", "a new machine", base::TimePoint::from_micros(1'700'000'000'000'000)},
                {10, 1, 1},
                {}};
    }
    static std::string reason(const base::Status& status) {
        return status ? "" : status.error().reason;
    }
    static std::string reason(const base::Result<HandOver>& moved) {
        return moved ? "" : moved.error().reason;
    }

    /// Expects both ends of the move in the audit log, with who moved the training and why.
    static void expect_audited(Node& node) {
        std::set<std::string> audited;
        const auto entries = node.registry().audit_entries().value();
        for (const auto& entry : entries) {
            if (entry.action.starts_with("trainer_")) audited.insert(entry.action);
            if (entry.action != "trainer_taken_over") continue;
            EXPECT_EQ(entry.actor, "anna");
            EXPECT_EQ(entry.details.at("from"), "demo");
            EXPECT_EQ(entry.details.at("reason"), "a new machine");
        }
        EXPECT_EQ(audited, (std::set<std::string>{"trainer_handed_over", "trainer_taken_over"}));
    }

    /// Returns the last action in the audit log of a store, and why it was refused.
    static std::string last_audited(const std::string& name) {
        const auto registry =
            registry::ModelRegistry::open(settings(name).store / "registry",
                                          registry::ModelRegistry::Mode::kReadOnly)
                .value();
        const auto last = registry->audit_entries().value().back();
        const auto why = last.details.find("why");
        return last.action + " " + (why == last.details.end() ? "" : why->second);
    }

    std::unique_ptr<test_support::KafkaBroker> broker_;
};

TEST_F(TrainerMoveTest, LedgerRunsAndKeysGoOnAtTheOtherNodeAndTheFileIsGoodOnce) {
    ASSERT_FALSE(HasFatalFailure());
    const auto before = account_of("a");
    ASSERT_GT(before.spent, 0);
    ASSERT_GT(before.runs, 1u);
    {
        const auto b = open("b");  // it decides for the group already
        EXPECT_EQ(reason(b->check_trains()), "trainer_elsewhere");
        ASSERT_TRUE(b->release());
    }
    const auto draw_of_b = read(out() / "b/store/keys/draw");
    const auto out_of_a = move("hand-over --out training.rt", "a");
    ASSERT_EQ(out_of_a.exit_code, 0) << out_of_a.output;
    EXPECT_NE(rampart("registry at 2099-01-01 --store a/store").output.find("another store trains"),
              std::string::npos);
    std::string old_model;
    base::TimePoint at;
    {
        const auto a = open("a");
        EXPECT_EQ(reason(a->check_trains()), "trainer_handed_over");
        at = a->now();
        const auto models = a->registry().models().value();
        for (const auto& one : models) old_model = one.id.value();
        EXPECT_EQ(reason(a->certify(domain::PolicyId(old_model), at, "").map([](const auto&) {})),
                  "trainer_handed_over");
        EXPECT_EQ(account_of(*a), before);
        ASSERT_TRUE(a->release());
    }
    EXPECT_EQ(rampart("rollback --config a/rampartd.toml --reason why").exit_code, 2);
    const auto into_b = move("take-over training.rt", "b");
    ASSERT_EQ(into_b.exit_code, 0) << into_b.output;
    {
        const auto b = open("b");
        ASSERT_TRUE(b);
        EXPECT_TRUE(b->check_trains());
        EXPECT_EQ(account_of(*b), before);
        EXPECT_EQ(read(out() / "b/store/keys/split"), read(out() / "a/store/keys/split"));
        EXPECT_EQ(read(out() / "b/store/gate.pub.pem"), read(out() / "a/store/gate.pub.pem"));
        const auto run = b->certify(domain::PolicyId(old_model), at, "");
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(run->ordinal, before.runs + 1);
        expect_audited(*b);
        ASSERT_TRUE(b->release());
    }
    const auto after = account_of("b");
    for (const char* node : {"b", "c", "a"}) {
        const auto again = move("take-over training.rt", node);
        EXPECT_EQ(again.exit_code, 2) << node << again.output;
        EXPECT_NE(again.output.find("the node 'b' trains"), std::string::npos) << again.output;
        EXPECT_FALSE(fs::exists(out() / node / "store" / ".take-over"));
    }
    EXPECT_EQ(account_of("b"), after);
    EXPECT_NE(move("hand-over --out other.rt", "a").exit_code, 0);
    EXPECT_FALSE(fs::exists(out() / "other.rt"));
    EXPECT_EQ(reason(take_back(settings("a"), {}, request("").by)), "trainer_elsewhere");
    EXPECT_EQ(last_audited("a"), "trainer_take_back_refused trainer_elsewhere");
    {
        const auto a = open("a");
        EXPECT_EQ(reason(a->check_trains()), "trainer_elsewhere");
        EXPECT_EQ(a->decisions().policy()->id().value(), after.champion) << "it follows";
        EXPECT_EQ(account_of(*a), before);
    }
    size_t kept = 0;
    for (const auto& entry : fs::directory_iterator(out() / "b/store/.before-take-over"))
        kept += read(entry.path() / "keys/draw") == draw_of_b;
    EXPECT_EQ(kept, 1u);
}

// Between what was placed and its encryption the take-over is cut off, and goes on.
TEST_F(TrainerMoveTest, AnEncryptedStoreHasNothingPlainAfterATakeOver) {
    ASSERT_FALSE(HasFatalFailure());
    runtime::use_store_keys();
    auto config = read(out() / "b/rampartd.toml");
    config.insert(config.find("[privacy]\n") + 10, "encrypt_databases = true\n");
    ASSERT_TRUE(base::write_file_atomically(out() / "b/rampartd.toml", config));
    const auto before = account_of("a");
    ASSERT_TRUE(open("b")->release());
    const auto store = out() / "b/store";
    ASSERT_TRUE(fs::exists(store / "keys/store"));
    const auto plain = [&] {
        uint64_t files = 0;
        const auto databases = storage::find_databases(store).value();
        EXPECT_GT(databases.size(), 3u);
        for (const auto& name : databases)
            files += storage::files_at_rest(store / name).value().plain;
        return files;
    };
    EXPECT_EQ(plain(), 0u);
    ASSERT_EQ(reason(hand_over(settings("a"), request("sealed"))), "");
    auto cut = request("sealed");
    cut.after = [](std::string_view step) {
        return step == "placed trainer.seat"
                   ? base::Status(base::Error{base::ErrorCode::kUnavailable, "crash", ""})
                   : base::ok();
    };
    EXPECT_EQ(reason(take_over(settings("b"), cut)), "crash");
    EXPECT_GT(plain(), 0u) << "they came plain";
    const auto into_b = move("take-over sealed", "b");
    ASSERT_EQ(into_b.exit_code, 0) << into_b.output;
    EXPECT_EQ(plain(), 0u);
    EXPECT_EQ(account_of("b"), before);
    const auto check = rampart("store check --config b/rampartd.toml");
    EXPECT_EQ(check.exit_code, 0) << check.output;
}

TEST_F(TrainerMoveTest, AMoveThatIsCutOffAtAnyStepGoesOnOrNeverBegan) {
    ASSERT_FALSE(HasFatalFailure());
    const auto before = account_of("a");
    const base::Error crash{base::ErrorCode::kUnavailable, "crash", "crash"};
    std::string from = "a", to = "b";
    std::vector<std::string> steps{"ready"};
    for (size_t i = 0; i < steps.size(); ++i) {
        SCOPED_TRACE(fmt::format("{} from {} to {}", steps[i], from, to));
        const auto file = fmt::format("move{}", i);
        ASSERT_EQ(reason(hand_over(settings(from), request(file))), "");
        auto cut = request(file);
        cut.after = [&](std::string_view step) {
            return step == steps[i] ? base::Status(crash) : base::ok();
        };
        if (i == 0) {  // learns the steps
            steps.clear();
            cut.after = [&](std::string_view step) {
                steps.emplace_back(step);
                return base::ok();
            };
            ASSERT_EQ(reason(take_over(settings(to), cut)), "");
            EXPECT_GT(steps.size(), 10u);
        } else {
            EXPECT_EQ(reason(take_over(settings(to), cut)), "crash");
            if (steps[i] != "done") {
                const auto started = Node::open(settings(to));
                ASSERT_FALSE(started);
                EXPECT_EQ(started.error().reason, "take_over_unfinished");
                EXPECT_EQ(reason(hand_over(settings(to), request("none"))), "take_over_unfinished");
                ASSERT_EQ(reason(take_over(settings(to), request(file))), "");
            }
        }
        EXPECT_EQ(reason(take_over(settings("c"), request(file))), "hand_over_used");
        EXPECT_NE(reason(hand_over(settings(from), request("none"))), "");
        std::swap(from, to);
    }
    EXPECT_EQ(account_of(from), before);
}

TEST_F(TrainerMoveTest, AHandOverThatIsCutOffIsRepeatedOrTakenBack) {
    ASSERT_FALSE(HasFatalFailure());
    const auto before = account_of("a");
    for (const char* step : {"marked", "recorded"}) {
        auto cut = request("cut");
        cut.after = [&](std::string_view at) {
            return at == step
                       ? base::Status(base::Error{base::ErrorCode::kUnavailable, "crash", ""})
                       : base::ok();
        };
        EXPECT_EQ(reason(hand_over(settings("a"), cut)), "crash");
        EXPECT_FALSE(fs::exists(out() / "cut"));
        EXPECT_EQ(reason(lease::check_not_handed_over(seat_of(out() / "a/store"))),
                  "trainer_handed_over");
    }
    ASSERT_EQ(reason(hand_over(settings("a"), request("first"))), "");
    ASSERT_EQ(reason(hand_over(settings("a"), request("second"))), "");
    EXPECT_EQ(reason(take_over(settings("b"), request("first"))), "hand_over_used");
    auto wrong = request("second");
    wrong.passphrase = "wrong horse battery";
    EXPECT_EQ(reason(take_over(settings("b"), wrong)), "wrong_passphrase");
    auto other = settings("b");
    other.log.group = "other";
    EXPECT_EQ(reason(take_over(other, request("second"))), "other_group");
    other = settings("b");
    other.trains = false;
    EXPECT_EQ(reason(take_over(other, request("second"))), "training_off");
    EXPECT_FALSE(fs::exists(out() / "b/store/.take-over"));
    ASSERT_EQ(reason(take_back(settings("a"), {}, request("").by)), "");
    EXPECT_EQ(last_audited("a"), "trainer_taken_back ");
    EXPECT_EQ(reason(take_over(settings("b"), request("second"))), "hand_over_used");
    const auto a = open("a");
    EXPECT_TRUE(a->check_trains());
    EXPECT_EQ(account_of(*a), before);
}

TEST_F(TrainerMoveTest, AStoreRestoredFromBeforeAChargeTrainsOnlyWhenItIsSaid) {
    ASSERT_FALSE(HasFatalFailure());
    auto restored = settings("a");
    restored.store = out() / "restored";
    fs::copy(out() / "a/store", restored.store, fs::copy_options::recursive);
    {
        const auto a = open("a");
        ASSERT_TRUE(a->check_trains());
        // as if it had been copied while the node runs, which claims no lease before the charge
        fs::copy_file(seat_of(out() / "a/store"), seat_of(restored.store),
                      fs::copy_options::overwrite_existing);
        const auto models = a->registry().models().value();
        ASSERT_TRUE(a->certify(models.back().id, a->now(), ""));
    }
    const auto trains = [&] {
        const auto node = Node::open(restored);
        EXPECT_TRUE(node) << node.error().message;
        const auto status = (*node)->check_trains();
        EXPECT_TRUE((*node)->release());
        return reason(status);
    };
    EXPECT_EQ(trains(), "trainer_elsewhere");
    const auto epoch = lease::read_seat(seat_of(out() / "a/store"))->latest();
    EXPECT_EQ(reason(take_back(restored, epoch - 1, request("").by)), "trainer_elsewhere");
    ASSERT_EQ(reason(take_back(restored, epoch, request("").by)), "");
    EXPECT_EQ(trains(), "");
}

}  // namespace
}  // namespace rampart::rampartd
