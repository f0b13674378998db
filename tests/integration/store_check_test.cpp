// rampart store check finds contradictions in every database of a store.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "rampart/base/bytes.hpp"
#include "rampart/joiner/join_state.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
using storage::ColumnFamily;
using storage::Database;
using storage::KeyRange;
using storage::WriteBatch;

const fs::path kProgram = test_support::bin_dir() + "/rampart";

/// A store that was served for a while, made once; each test damages it and repairs it again.
class StoreCheckTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 4000;  // enough for a training run
        options.seed = 7;
        const auto stream = loan_stream::load(options).value();
        const auto folder = fs::path(testing::TempDir()) / fmt::format("check.{}", ::getpid());
        workspace_ =
            prepare_workspace(folder, test_support::source_dir() + "/ops/config", stream, 7)
                .value();
        auto process = ServiceProcess::start(kProgram, workspace_.config, workspace_.endpoint_file,
                                             workspace_.log);
        ASSERT_TRUE(process) << process.error().message;
        Driver driver(
            stream, "repaid",
            Session(workspace_.endpoint_file, workspace_.token, base::Duration::seconds(60)));
        const auto status = driver.run([](base::TimePoint, double) {});
        ASSERT_TRUE(status) << status.error().message;
        ASSERT_TRUE(process->stop());
    }
    static void TearDownTestSuite() { fs::remove_all(workspace_.folder); }

    static test_support::Ran check() {
        return test_support::run_program(fmt::format(
            "{} store check --config {}", kProgram.string(), workspace_.config.string()));
    }
    static storage::OpenOptions as_it_is() {
        storage::OpenOptions options;
        options.schema.version = storage::Schema::kAnyVersion;
        return options;
    }
    /// Sets the value of a key, or erases it, and returns the earlier value.
    static std::optional<std::string> put(const char* database, ColumnFamily family,
                                          const std::string& key,
                                          const std::optional<std::string>& value) {
        const auto path = workspace_.store / database;
        const auto families = storage::families_in(path).value();
        const auto db = Database::open(path, families, as_it_is()).value();
        auto before = db->get(family, key).value();
        WriteBatch batch;
        value ? batch.put(family, key, *value) : batch.erase(family, key);
        EXPECT_TRUE(db->write(batch, storage::Sync::kAlways));
        return before;
    }
    static ColumnFamily family(const char* database, const std::string& name) {
        const auto families = storage::families_in(workspace_.store / database).value();
        const auto found = std::find(families.begin(), families.end(), name);
        EXPECT_NE(found, families.end()) << name;
        return ColumnFamily{static_cast<uint32_t>(found - families.begin())};
    }
    static std::pair<std::string, std::string> last(const char* database, ColumnFamily family) {
        const auto path = workspace_.store / database;
        const auto db =
            Database::open(path, storage::families_in(path).value(), as_it_is()).value();
        return db->last(family, KeyRange::all()).value().value();
    }
    /// With this change the check finds the problem, and without it none.
    static void expect_found(const char* database, ColumnFamily family, const std::string& key,
                             const std::optional<std::string>& value, const std::string& problem) {
        const auto before = put(database, family, key, value);
        const auto damaged = check();
        EXPECT_EQ(damaged.exit_code, 1) << damaged.output;
        EXPECT_NE(damaged.output.find("BAD  " + problem), std::string::npos)
            << problem << " is not in\n"
            << damaged.output;
        put(database, family, key, before);
    }

    static Workspace workspace_;
};

Workspace StoreCheckTest::workspace_;

TEST_F(StoreCheckTest, AnExplanationWithoutADecisionIsFound) {
    const char* index = "partitions/2/decisions";
    expect_found(
        index, family(index, "explanations"), "d-erased", "left over",
        "decisions: partition 2: an explanation of decision 'd-erased', which is not there");
}

TEST_F(StoreCheckTest, ASoundStoreIsSoundAndEveryDatabaseIsLookedAt) {
    const auto sound = check();
    EXPECT_EQ(sound.exit_code, 0) << sound.output;
    for (const char* name :
         {"log ", "partitions/0/joins", "partitions/3/decisions", "protected ", "registry/registry",
          "trainer ", "embedded log", "joined state", "decisions", "decisions against joined state",
          "protected attributes", "registry", "training runs"}) {
        EXPECT_NE(sound.output.find(std::string("ok   ") + name), std::string::npos)
            << name << " is not in\n"
            << sound.output;
    }
    EXPECT_EQ(sound.output.find("knows no such database"), std::string::npos) << sound.output;
    EXPECT_FALSE(fs::exists(workspace_.store / ".check"));
    const auto help =
        test_support::run_program(fmt::format("{} store check --help", kProgram.string()));
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("--config"), std::string::npos);
    const auto nowhere = test_support::run_program(
        fmt::format("{} store check --config /nowhere.toml", kProgram.string()));
    EXPECT_EQ(nowhere.exit_code, 2);
}

TEST_F(StoreCheckTest, InTheIndexOfDecisions) {
    const char* database = "partitions/0/decisions";
    const auto decisions = family(database, "decisions");
    const auto one = last(database, decisions);
    expect_found(database, decisions, one.first, std::nullopt, "decisions: partition 0: ");
    expect_found(database, decisions, one.first, "nonsense", "decisions: partition 0: decision '");
    const auto elsewhere =
        last("partitions/1/decisions", family("partitions/1/decisions", "decisions"));
    expect_found(
        database, decisions, elsewhere.first, elsewhere.second,
        "decisions: partition 0: decision '" + elsewhere.first + "' belongs to partition 1");
}

TEST_F(StoreCheckTest, InTheJoinedState) {
    const char* database = "partitions/2/joins";
    const auto joins = family(database, "joins");
    const auto one = last(database, joins);
    expect_found(database, joins, one.first, std::nullopt, "joined state: ");
    expect_found(database, family(database, "by_time"),
                 last(database, family(database, "by_time")).first, std::nullopt, "joined state: ");
}

TEST_F(StoreCheckTest, BetweenTheIndexOfDecisionsTheJoinedStateAndTheLog) {
    const char *index = "partitions/1/decisions", *joined = "partitions/1/joins";
    const auto decisions = family(index, "decisions"), joins = family(joined, "joins");
    const auto id = last(index, decisions).first;
    const auto decision =
        fmt::format("decisions against joined state: partition 1: decision '{}' is ", id);
    const auto erased = joiner::encode(joiner::erased_state());
    expect_found(joined, joins, id, erased,
                 decision + "readable in the index of decisions, and erased in the joined state");
    expect_found(index, decisions, id, "",
                 decision + "erased in the index of decisions, and readable in the joined state");
    expect_found(
        joined, joins, id, std::nullopt,
        decision + "readable in the index of decisions, and not known in the joined state");
    expect_found(
        index, decisions, id, std::nullopt,
        decision + "not known in the index of decisions, and readable in the joined state");
    // an erasure that is in the log after the position of both
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        const auto erasure = wire::to_record(
            domain::Erasure{domain::DecisionId(id), base::TimePoint::from_micros(0)});
        ASSERT_TRUE(log->append_to("decisions", streaming::PartitionId(1), std::span(&erasure, 1)));
    }
    const auto early = check();
    EXPECT_EQ(early.output.find("BAD  decisions against joined state"), std::string::npos)
        << "neither has come to it yet";
    EXPECT_NE(early.output.find("and the key that opens it"), std::string::npos)
        << "a record alone is no erasure: " << early.output;
    const auto move_bookmark = [&](const char* database, int64_t by) {
        std::string key = "bookmark/";
        base::append_field(key, "decisions");
        base::append_u32(key, 1);
        const auto meta = family(database, "meta");
        auto mark = streaming::decode_bookmark(put(database, meta, key, "").value()).value();
        mark.next = streaming::Offset(mark.next.value() + by);
        put(database, meta, key, streaming::encode(mark));
    };
    for (const char* database : {index, joined}) move_bookmark(database, 1);
    const auto found = check();
    for (const char* database : {index, joined}) move_bookmark(database, -1);
    EXPECT_EQ(found.exit_code, 1);
    EXPECT_NE(found.output.find(fmt::format("decision '{}' is erased in the log at ", id)),
              std::string::npos)
        << found.output;
}

TEST_F(StoreCheckTest, InTheEmbeddedLog) {
    const auto records = family("log", "records");
    const auto one = last("log", records);
    expect_found("log", records, one.first, one.second + "x", "embedded log: topic '");
    auto key = one.first;  // before the first decision of its topic, or without one
    key[0] = static_cast<char>(key[0] ^ 0x55);
    expect_found("log", records, key, one.second, "embedded log: a record belongs to no topic");
}

TEST_F(StoreCheckTest, BetweenTheStateAndTheLog) {
    // As if the log had been restored from an earlier day than the state.
    const auto partitions = family("log", "partitions"), records = family("log", "records");
    const auto topic = last("log", partitions);
    base::ByteReader in(topic.second);
    const int64_t begin = in.i64().value(), end = in.i64().value();
    const uint64_t bytes = in.u64().value();
    ASSERT_GT(end, begin);
    auto key = topic.first;
    base::append_u64(key, static_cast<uint64_t>(end - 1));
    const auto record = put("log", records, key, std::nullopt).value();
    std::string shorter;
    base::append_i64(shorter, begin);
    base::append_i64(shorter, end - 1);
    base::append_u64(shorter, bytes - record.size());
    put("log", partitions, topic.first, shorter);
    const auto found = check();
    put("log", records, key, record);
    put("log", partitions, topic.first, topic.second);
    EXPECT_EQ(found.exit_code, 1);
    EXPECT_NE(found.output.find("the log ends at"), std::string::npos) << found.output;
    EXPECT_NE(found.output.find("ok   embedded log"), std::string::npos) << found.output;
}

TEST_F(StoreCheckTest, InProtectedAttributesWithoutNamingAnyone) {
    const auto people = family("protected", "people");
    const auto one = last("protected", people);
    expect_found("protected", people, one.first, "nonsense", "protected attributes: 1 of ");
    expect_found("protected", people, "somebody-else", one.second,
                 "protected attributes: 1 of 8001 records are stored under another person's key");
}

TEST_F(StoreCheckTest, InTheRegistryAndItsFiles) {
    const auto models = workspace_.store / "registry" / "models";
    const auto model = fs::directory_iterator(models)->path();
    fs::rename(model, model.string() + ".away");
    const auto found = check();
    fs::rename(model.string() + ".away", model);
    EXPECT_EQ(found.exit_code, 1) << found.output;
    EXPECT_NE(found.output.find("BAD  registry: model "), std::string::npos) << found.output;
    const auto audit = family("registry/registry", "audit");
    const auto entry = last("registry/registry", audit);
    expect_found("registry/registry", audit, entry.first, std::nullopt, "registry: ");
}

TEST_F(StoreCheckTest, InTheTrainingRuns) {
    const auto runs = family("trainer", "runs");
    const auto one = last("trainer", runs);
    expect_found("trainer", runs, one.first, "{}", "training runs: ");
    std::string later;
    base::append_u32(later, 99);
    expect_found("trainer", runs, later, one.second, "training runs: run ");
}

}  // namespace
}  // namespace rampart::demo
