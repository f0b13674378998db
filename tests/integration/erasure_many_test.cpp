// Many persons are erased while decisions about them, overrides and outcomes come in; afterwards
// nothing of them can be read anywhere. What is left of an erased person is found in each store.
// RAMPART_ERASURES: how many persons are erased.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <regex>
#include <thread>
#include <unordered_set>

#include "erasure_fixture.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/http/router.hpp"
#include "rampart/joiner/join_state.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/quarantined.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::rampartd {
namespace {

using domain::DecisionId;
using domain::PersonId;
using streaming::Offset;
using streaming::PartitionId;
using test_support::run_program;

size_t erasures() {
    const char* wanted = std::getenv("RAMPART_ERASURES");
    return wanted == nullptr ? 10 : std::strtoul(wanted, nullptr, 10);
}

test_support::Ran check(const demo::Workspace& workspace) {
    return run_program(fmt::format("{}/rampart store check --config {}", test_support::bin_dir(),
                                   workspace.config.string()));
}

/// Clients that apply, report and override for the person whose turn it is, and the one before.
class Traffic {
    // between the requests of a client: what one person has to have erased stays bounded
    static constexpr auto kPause = std::chrono::milliseconds(20);

  public:
    Traffic(Node& node, std::function<Application(size_t person, const std::string& id)> make,
            base::TimePoint at)
        : make_(std::move(make)) {
        for (int client = 0; client < 2; ++client)
            clients_.emplace_back([this, &node, client, at] { work(node, client, at); });
    }
    ~Traffic() { stop(); }
    /// Returns when as many as given were decided since.
    void turn_to(size_t person, size_t wanted) {
        turn_ = person;
        const size_t from = decided_;
        for (size_t n = decided_; n < from + wanted; n = decided_) decided_.wait(n);
    }
    /// Returns the decisions.
    std::vector<DecisionId> stop() {
        stop_ = true;
        for (auto& client : clients_) client.join();
        clients_.clear();
        auto all = ids_[0];
        all.insert(all.end(), ids_[1].begin(), ids_[1].end());
        return all;
    }

  private:
    void work(Node& node, int client, base::TimePoint at) {
        for (int n = 0; !stop_; ++n) {
            const size_t turn = turn_;
            const size_t person = turn > 0 && n % 2 == 0 ? turn - 1 : turn;
            const auto one = make_(person, fmt::format("{}-{}-{}", person, client, n));
            const auto decided = node.decisions().decide(std::span(&one, 1));
            EXPECT_TRUE(decided) << decided.error().message;
            if (decided) {
                const auto id = decided->front().id;
                ids_[static_cast<size_t>(client)].push_back(id);
                const domain::Outcome outcome{id, "repaid", 0, 1, at},
                    other{id, "repaid", 0, 0, at};
                const domain::Override taken{id, 0, domain::Action::kApprove, "a", "r", at};
                EXPECT_TRUE(node.decisions().submit_outcomes(std::vector{outcome, other}));
                EXPECT_TRUE(node.decisions().submit_overrides(std::span(&taken, 1)));
            }
            ++decided_;
            decided_.notify_all();
            std::this_thread::sleep_for(kPause);
        }
    }

    const std::function<Application(size_t, const std::string&)> make_;
    std::atomic<bool> stop_ = false;
    std::atomic<size_t> turn_ = 0, decided_ = 0;
    std::array<std::vector<DecisionId>, 2> ids_;
    std::vector<std::thread> clients_;
};

class ManyErasures : public Erasure {
  protected:
    /// An id of random letters and digits, which compression leaves as they are.
    static PersonId person(size_t n) {
        constexpr std::string_view kLetters =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        std::string id;
        for (const unsigned char byte : base::sha256(fmt::format("a person {}", n)).bytes)
            id += kLetters[byte % kLetters.size()];
        return PersonId(id);
    }
    Application of_person(size_t n, const std::string& id) const {
        auto one = annas(id);
        one.person = person(n);
        return one;
    }
    /// What each GET route answers, asked about the store and about a decision.
    static std::string ask_all(Node& node, const DecisionId& id) {
        http::Router router(access::one_token("t"));
        node.add_routes(router);
        std::string answers;
        for (const auto& route : router.routes()) {
            if (route.method != "GET") continue;
            http::Request request;
            request.method = "GET";
            request.headers = {{"Authorization", "Bearer t"}};
            const auto path =
                std::regex_replace(route.pattern, std::regex(R"(\{\w+\})"), id.value());
            EXPECT_TRUE(http::parse_target(path + "?reason=r", request));
            answers += path + " " + router.handle(std::move(request)).body + "\n";
        }
        return answers;
    }
    static void erase(Node& node, size_t n) {
        const auto report = node.erase(person(n), "privacy-office", "request 7", false);
        EXPECT_TRUE(report || report.error().reason == "unknown_person") << report.error().message;
    }
    /// The files below a folder that have eight bytes of one of the markers in a row.
    static std::vector<std::string> files_with_any(const fs::path& folder,
                                                   const std::vector<std::string>& markers) {
        constexpr size_t kWindow = 8;
        std::unordered_set<std::string_view> traces;
        for (const auto& one : markers) {
            for (size_t at = 0; at + kWindow <= one.size(); ++at)
                traces.insert(std::string_view(one).substr(at, kWindow));
        }
        std::vector<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file()) continue;
            const auto read = base::read_file(entry.path(), size_t{1} << 30);
            EXPECT_TRUE(read || !fs::exists(entry.path())) << entry.path();
            const std::string content = read.value_or(std::string());
            size_t run = 0;  // only where eight letters and digits are in a row
            for (size_t at = 0; at < content.size(); ++at) {
                run = std::isalnum(static_cast<unsigned char>(content[at])) != 0 ? run + 1 : 0;
                if (run < kWindow) continue;
                const auto window = std::string_view(content).substr(at + 1 - kWindow, kWindow);
                if (!traces.contains(window)) continue;
                found.push_back(entry.path().string());
                break;
            }
        }
        return found;
    }
};

TEST_F(ManyErasures, UnderTrafficLeaveNothingReadableAndAStoreThatIsClean) {
    const size_t persons = erasures();
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    std::vector<protected_attributes::ProtectedAttributes> people;
    std::vector<DecisionId> ids;
    std::vector<std::string> markers;
    for (size_t n = 0; n < persons; ++n) {
        markers.push_back(person(n).value());
        ids.push_back(decide(*node, of_person(n, fmt::format("first-{}", n))).id);
    }
    std::vector<domain::Outcome> outcomes;
    for (const auto& id : ids) outcomes.push_back({id, "repaid", 0, 1, application(0).event_time});
    ASSERT_TRUE(node->decisions().submit_outcomes(outcomes));
    decide(*node, application(1));
    const auto end = base::add_months(application(0).event_time, 60);
    ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(files_with_any(workspace.store / "partitions", markers).empty(), false);
    {
        Traffic traffic(
            *node, [&](size_t n, const auto& id) { return of_person(n, id); }, end);
        for (size_t n = 0; n < persons; ++n) {
            traffic.turn_to(n, 2);
            erase(*node, n);
        }
        const auto more = traffic.stop();
        EXPECT_GE(more.size(), 2 * persons);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    ASSERT_TRUE(node->advance(end));
    // who was decided about after the erasure came back, and asks once more
    for (size_t n = 0; n < persons; ++n) erase(*node, n);

    size_t readable = 0;
    for (const auto& id : ids) {
        const auto found = node->decisions().find(id);
        readable += found || found.error().reason != "erased";
        readable += node->joiner().find_decision(id).value().has_value();
    }
    EXPECT_EQ(readable, 0u) << "of " << ids.size();
    for (const auto& answer : {ask_all(*node, ids.front()), ask_all(*node, ids.back())}) {
        for (const auto& marker : markers)
            EXPECT_EQ(answer.find(marker.substr(0, 12)), std::string::npos) << answer;
    }
    EXPECT_TRUE(node->decisions().find(domain::decision_id_of(application(1).id)));
    node.reset();
    EXPECT_EQ(files_with_any(workspace.folder, markers), std::vector<std::string>());
    EXPECT_TRUE(opened_from_log(workspace, ids).empty());
    const auto checked = check(workspace);
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
    EXPECT_NE(checked.output.find("ok   erased persons"), std::string::npos) << checked.output;
}

/// A store in which Anna is erased; each test puts back something of her.
class Leftover : public Erasure {
  protected:
    void SetUp() override {
        workspace_ = prepare(true, 0);
        auto node = open(workspace_);
        id_ = fill(*node);
        decision_ = node->joiner().find_decision(id_).value().value();
        home_ = streaming::partition_of(id_.value(), 4);
        const auto status = node->advance(base::add_months(node->now(), 1));
        ASSERT_TRUE(status) << status.error().message;
        erased_at_ = node->now();
        ASSERT_TRUE(node->erase(kAnna, "privacy-office", "request 7", false));
        node.reset();
        const auto sound = check(workspace_);
        ASSERT_EQ(sound.exit_code, 0) << sound.output;
    }
    /// The check finds this, by name of store, partition and id, and never the person's id.
    void expect_found(const std::string& finding) const {
        const auto found = check(workspace_);
        EXPECT_EQ(found.exit_code, 1) << found.output;
        EXPECT_NE(found.output.find("BAD  erased persons: " + finding), std::string::npos)
            << finding << " is not in\n"
            << found.output;
        EXPECT_EQ(found.output.find(kAnna.value()), std::string::npos) << found.output;
    }
    std::string database(const char* name) const {
        return fmt::format("partitions/{}/{}", home_, name);
    }
    void put(const std::string& database, const std::string& family, const std::string& key,
             const std::optional<std::string>& value) const {
        const auto path = workspace_.store / database;
        const auto families = storage::families_in(path).value();
        const auto found = std::find(families.begin(), families.end(), family);
        ASSERT_NE(found, families.end()) << family;
        const storage::ColumnFamily column{static_cast<uint32_t>(found - families.begin())};
        storage::OpenOptions as_it_is;
        as_it_is.schema.version = storage::Schema::kAnyVersion;
        const auto db = storage::Database::open(path, families, as_it_is).value();
        storage::WriteBatch batch;
        value ? batch.put(column, key, *value) : batch.erase(column, key);
        ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
    }
    void put_quarantined(const std::string& database, const std::string& topic,
                         const streaming::Record& record) const {
        const base::Error why{base::ErrorCode::kInvalidArgument, "why", "what"};
        const auto one = wire::quarantine(topic, {PartitionId(0), Offset(77), record}, why);
        put(database, "quarantine", wire::quarantine_key(topic, PartitionId(0), Offset(77)),
            wire::encode_quarantined(one));
    }
    std::unique_ptr<streaming_local::LocalLog> log() const {
        return streaming_local::LocalLog::open(workspace_.store / "log").value();
    }
    std::unique_ptr<privacy::PersonKeys> keys() const {
        const auto secret = runtime::load_secret(workspace_.store / "keys" / "person").value();
        return privacy::PersonKeys::open(workspace_.store / "privacy/keys", secret).value();
    }

    demo::Workspace workspace_;
    DecisionId id_;
    domain::Decision decision_;
    PartitionId home_;
    base::TimePoint erased_at_;
};

TEST_F(Leftover, InTheJoinedState) {
    joiner::JoinState state;
    state.decision = wire::to_record(decision_, 0).value;
    put(database("joins"), "joins", id_.value(), joiner::encode(state));
    expect_found(fmt::format("joined state, partition {}: decision '{}' is readable, and erased",
                             home_, id_));
}

TEST_F(Leftover, InTheIndexOfDecisions) {
    put(database("decisions"), "decisions", id_.value(), wire::to_record(decision_, 0).value);
    expect_found(fmt::format(
        "index of decisions, partition {}: decision '{}' is readable, and erased", home_, id_));
}

TEST_F(Leftover, InBothAndUnderAnIdThatTheLogDoesNotHave) {
    auto other = decision_;
    other.application.id = domain::ApplicationId("an-application-that-was-lost");
    other.id = domain::decision_id_of(other.application.id);
    home_ = streaming::partition_of(other.id.value(), 4);
    joiner::JoinState state;
    state.decision = wire::to_record(other, 0).value;
    put(database("joins"), "joins", other.id.value(), joiner::encode(state));
    put(database("decisions"), "decisions", other.id.value(), wire::to_record(other, 0).value);
    for (const auto* store : {"joined state", "index of decisions"}) {
        expect_found(
            fmt::format("{}, partition {}: decision '{}' is readable, and its person is erased",
                        store, home_, other.id));
    }
}

TEST_F(Leftover, InTheQuarantinesByDecisionApplicationAndPerson) {
    const domain::Outcome outcome{id_, "repaid", 0, 0, application(0).event_time};
    put_quarantined(database("joins"), "outcomes", wire::to_record(outcome));
    expect_found(
        fmt::format("joined state, partition {}, quarantine: the record at offset 77 of partition "
                    "0 of topic 'outcomes' is about an erased person",
                    home_));
    auto again = wire::to_record(annas(kApplication));
    again.value = "what it says cannot be read";
    put_quarantined(database("decisions"), "applications", again);
    const auto in_index = fmt::format(
        "index of decisions, partition {}, quarantine: the record at offset 77 of partition 0 of "
        "topic 'applications' is about an erased person",
        home_);
    expect_found(in_index);
    auto unknown = wire::to_record(annas("another-application"));
    unknown.headers = {{"schema", "rampart.v9.Application/1"}};
    put_quarantined(database("decisions"), "applications", unknown);
    expect_found(in_index);
}

TEST_F(Leftover, InTheTopicOfTheQuarantine) {
    const base::Error why{base::ErrorCode::kInvalidArgument, "why", "what"};
    const auto other = wire::to_record(wire::quarantine(
        "applications", {PartitionId(0), Offset(0), wire::to_record(application(1))}, why));
    const auto hers = wire::to_record(wire::quarantine(
        "applications", {PartitionId(0), Offset(1), wire::to_record(annas("another"))}, why));
    ASSERT_TRUE(log()->append("quarantine", std::vector{other, hers}));
    expect_found("topic 'quarantine', partition 0: the record at offset 1 is about an erased");
    // an erasure takes it away; a statement of her attributes is something to erase
    auto node = open(workspace_);
    decide(*node, annas("third-application"));
    ASSERT_TRUE(node->advance(base::add_months(node->now(), 1)));
    ASSERT_TRUE(node->erase(kAnna, "privacy-office", "request 8", false));
    node.reset();
    EXPECT_EQ(check(workspace_).exit_code, 0);
    EXPECT_FALSE(on_disk(workspace_.folder, kAnna.value()));
}

TEST_F(Leftover, InTheSealedLogByAKeyAndInTheClear) {
    {
        const auto raw = log();
        const auto opened = keys();
        sealed_log::SealedLog sealed(*raw, *raw, *opened, "decisions", true);
        const auto record = wire::to_record(decision_, 0);
        ASSERT_TRUE(sealed.append_to("decisions", home_, std::span(&record, 1)));
    }
    expect_found(fmt::format(
        "the log, partition {}: decision '{}' is erased, and the key that opens it", home_, id_));
    {
        const auto record = wire::to_record(decision_, 0);
        ASSERT_TRUE(log()->append_to("decisions", home_, std::span(&record, 1)));
    }
    const auto found = check(workspace_);
    EXPECT_NE(found.output.find(fmt::format("decision '{}' is erased, and lies at", id_)),
              std::string::npos)
        << found.output;
}

TEST_F(Leftover, InProtectedAttributes) {
    const protected_attributes::ProtectedAttributes hers{
        kAnna, application(0).event_time, stream_.applicants.at(1).protected_attributes};
    const auto settings = load_settings(workspace_.config).value();
    const auto store_at = [&](base::TimePoint at) {
        const auto store = protected_attributes::ProtectedStore::open(settings.store / "protected",
                                                                      settings.catalog)
                               .value();
        ASSERT_TRUE(store->erase(kAnna));
        ASSERT_TRUE(store->put(std::span(&hers, 1), at));
    };
    store_at(erased_at_);
    EXPECT_EQ(check(workspace_).exit_code, 0) << "stated again: she is another person";
    store_at(erased_at_ - base::Duration::micros(1));
    expect_found("protected attributes: an earlier version of person ");
    expect_found("protected attributes: the record of person ");
}

TEST_F(Leftover, InThePersonKeysAndTheRegister) {
    std::string tag;
    {
        const privacy::Letter letter{kAnna, "name", "content"};
        const auto opened = keys();
        ASSERT_TRUE(opened->seal(std::span(&letter, 1)));
        tag = opened->tag_of(kAnna).value();
    }
    EXPECT_EQ(check(workspace_).exit_code, 0) << "a key of a person who came back";
    put("privacy/keys", "people", tag, std::nullopt);
    expect_found("person keys: key ");
    {
        auto list = privacy::Register::open(workspace_.store / "privacy/register").value();
        ASSERT_TRUE(list->begin({privacy::PersonTag(tag), erased_at_, {{.id = id_.value()}}}));
    }
    expect_found("register: the decisions of person " + base::to_hex(tag));
}

TEST_F(Leftover, IsNoneOfAPersonWhoCameBackOrOfAnErasureUnderWay) {
    auto node = open(workspace_);
    const auto again = decide(*node, annas("second-application")).id;
    ASSERT_TRUE(node->advance(node->now()));
    node.reset();
    EXPECT_EQ(check(workspace_).exit_code, 0);
    {
        // a crash with the key gone, and nothing else
        const auto registry = registry::ModelRegistry::open(workspace_.store / "registry").value();
        const auto opened = keys();
        const auto tag = opened->tag_of(kAnna);
        ASSERT_TRUE(registry->record_operation(erased_at_, "privacy-office", "erase",
                                               {{"person", base::to_hex(tag.value())}}));
        auto list = privacy::Register::open(workspace_.store / "privacy/register").value();
        ASSERT_TRUE(list->begin({tag, erased_at_, {{.id = again.value()}}}));
        ASSERT_EQ(opened->destroy(kAnna).value(), 1u);
    }
    const auto under_way = check(workspace_);
    EXPECT_EQ(under_way.exit_code, 0) << under_way.output;
}

}  // namespace
}  // namespace rampart::rampartd
