// A store whose databases are encrypted: with a service that is killed, without its key, with
// another one, in backups, and one that was plain before.
#include "rampart/storage/encryption.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/storage/inspection.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"
#include "support/byte_scan.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::files_with;
using test_support::Ran;
using test_support::run_program;

const fs::path kProgram = test_support::bin_dir() + "/rampart";
const std::string kMarker = "Zq" + base::to_hex(base::random_bytes(8));

class StoreEncryption : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("store_encryption.{}", ::getpid());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 300;
        options.seed = 3;
        stream_ = loan_stream::load(options).value();
        for (auto& applicant : stream_.applicants) {
            auto& person = applicant.application.person;
            person = domain::PersonId(kMarker + person.value());
        }
        ASSERT_TRUE(base::write_file_atomically(folder_ / "pass", "a long passphrase\n", 0600));
    }
    void TearDown() override { fs::remove_all(folder_); }

    Workspace workspace(const std::string& name, bool encrypt) const {
        auto made = prepare_workspace(folder_ / name, test_support::source_dir() + "/ops/config",
                                      stream_, 3)
                        .value();
        configure(made, encrypt);
        return made;
    }
    /// Writes the configuration with the setting; state hashes are shown.
    static void configure(const Workspace& workspace, bool encrypt) {
        auto text = base::read_file(workspace.config, 1 << 20).value();
        const std::string key = "encrypt_databases = ";
        if (const size_t at = text.find(key); at != std::string::npos)
            text.erase(at, text.find('\n', at) + 1 - at);
        const auto line = fmt::format("{}{}\n", key, encrypt);
        if (const size_t at = text.find("[privacy]\n"); at != std::string::npos) {
            text.insert(at + 10, line);
        } else {
            text += "\n[privacy]\n" + line;
        }
        if (text.find("[audit]") == std::string::npos) text += "\n[audit]\nenabled = true\n";
        ASSERT_TRUE(base::write_file_atomically(workspace.config, text));
    }
    static ServiceProcess serve(const Workspace& workspace) {
        auto process = ServiceProcess::start(kProgram, workspace.config, workspace.endpoint_file,
                                             workspace.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    /// Decides and joins the stream; the service is killed in its middle if so asked.
    void fill(const Workspace& workspace, bool killed) const {
        auto process = std::make_unique<ServiceProcess>(serve(workspace));
        bool done = !killed;
        Driver driver(
            stream_, "repaid",
            Session(workspace.endpoint_file, workspace.token, base::Duration::seconds(60)));
        const auto status = driver.run([&](base::TimePoint, double share) {
            if (done || share < 0.5) return;
            done = true;
            process->kill();
            process = std::make_unique<ServiceProcess>(serve(workspace));
        });
        ASSERT_TRUE(status) << status.error().message;
        ASSERT_TRUE(done);
        ASSERT_TRUE(process->stop());
    }
    Ran run(const std::string& command) const {
        return run_program(
            fmt::format("cd '{}' && {} {}", folder_.string(), kProgram.string(), command));
    }
    json::value answer(const std::string& command) const {
        const auto ran = run(command + " --json 2>/dev/null");
        EXPECT_EQ(ran.exit_code, 0) << command << ran.output;
        return json::parse(ran.output.empty() ? "{}" : ran.output);
    }
    std::string state_hash(const Workspace& workspace) const {
        const auto document = answer("inspect store --config " + workspace.config.string());
        return std::string(document.at("state_hash").as_string());
    }
    /// Returns the hash of the joined state of partition 1 in a store, by the log of another.
    static std::string hash_of_one(const Workspace& workspace, const Workspace& with_log) {
        runtime::use_store_keys();
        const auto log = streaming_local::LocalLog::open(with_log.store / "log").value();
        joiner::JoinerOptions options;
        options.product = rampartd::load_settings(workspace.config).value().product;
        options.partitions = 4;
        options.held = {streaming::PartitionId(1)};
        const auto joiner =
            joiner::OutcomeJoiner::open(workspace.store / "partitions", std::move(options), *log);
        EXPECT_TRUE(joiner) << joiner.error().message;
        return joiner ? (*joiner)->partition_states().value().at(0).hash.hex() : "";
    }
    /// Returns how many files of databases are under which key; "": plain.
    static std::map<std::string, uint64_t> files_of(const fs::path& store) {
        std::map<std::string, uint64_t> all;
        const auto databases = storage::find_databases(store).value();
        for (const auto& name : databases) {
            const auto files = storage::files_at_rest(store / name);
            EXPECT_TRUE(files) << name;
            if (!files) continue;
            if (files->plain > 0) all[""] += files->plain;
            for (const auto& [id, count] : files->by_key) all[id] += count;
        }
        return all;
    }
    static std::string id_in(const fs::path& file) {
        return runtime::secret_id(runtime::load_secret(file).value());
    }
    static base::Error refusal(const Workspace& workspace) {
        const auto node = rampartd::Node::open(rampartd::load_settings(workspace.config).value());
        EXPECT_FALSE(node);
        return node ? base::Error{} : node.error();
    }

    fs::path folder_;
    loan_stream::Stream stream_;
};

TEST_F(StoreEncryption, OfAStoreThatIsKilledHidesAllAndChangesNothing) {
    const auto plain = workspace("plain", false), store = workspace("encrypted", true);
    fill(plain, false);
    fill(store, true);
    EXPECT_FALSE(files_with(plain.store, kMarker).empty());
    EXPECT_EQ(files_with(store.store, kMarker), std::vector<std::string>());
    EXPECT_EQ(state_hash(store), state_hash(plain));
    EXPECT_EQ(files_of(store.store).size(), 1u);

    // what is missing or another one is refused by name, and nothing is written
    const auto file = store.store / "keys" / "store";
    const auto key = base::read_file(file, 1024).value(), id = id_in(file);
    EXPECT_EQ(files_of(store.store).begin()->first, id);
    fs::remove(file);
    for (const bool wanted : {true, false}) {
        configure(store, wanted);
        const auto missing = refusal(store);
        EXPECT_EQ(missing.reason, "key_missing") << missing.message;
        EXPECT_NE(missing.message.find(file.string()), std::string::npos) << missing.message;
        EXPECT_FALSE(fs::exists(file));
    }
    configure(store, true);
    const auto unread = run("inspect store --config " + store.config.string());
    EXPECT_NE(unread.exit_code, 0);
    const auto refused =
        run("store encrypt --reason lost --config " + store.config.string()).output;
    EXPECT_NE(refused.find(id), std::string::npos) << "a new key for a store that lost it";
    EXPECT_FALSE(fs::exists(file));
    ASSERT_TRUE(base::write_file_atomically(file, std::string(64, 'a') + "\n", 0600));
    const auto other = run("inspect store --config " + store.config.string()).output;
    EXPECT_NE(other.find(file.string()), std::string::npos) << other;
    EXPECT_NE(other.find(id), std::string::npos) << other;
    ASSERT_TRUE(base::write_file_atomically(file, key, 0600));
    configure(store, false);
    EXPECT_EQ(refusal(store).reason, "databases_encrypted");
    configure(store, true);
    EXPECT_EQ(state_hash(store), state_hash(plain));

    // a copy of the keys brings it back
    const auto config = " --config " + store.config.string();
    const auto copied =
        run("keys export --out keys.rk --passphrase-file pass --reason copy" + config);
    ASSERT_EQ(copied.exit_code, 0) << copied.output;
    fs::remove(file);
    const auto back = run("keys import keys.rk --passphrase-file pass --reason back" + config);
    EXPECT_EQ(back.exit_code, 0) << back.output;
    EXPECT_NE(back.output.find(file.string()), std::string::npos);
    EXPECT_EQ(base::read_file(file, 1024).value(), key);
    EXPECT_EQ(state_hash(store), state_hash(plain));
}

TEST_F(StoreEncryption, InBackupsNeedsTheKeyToo) {
    const auto store = workspace("backed_up", true);
    fill(store, false);
    const auto hash = state_hash(store);
    for (const char* options : {"--to without", "--to with --with-keys"}) {
        const auto made =
            run(fmt::format("backup create --store {} {}", store.store.string(), options));
        EXPECT_EQ(made.exit_code, 0) << made.output;
    }
    EXPECT_EQ(files_with(folder_ / "without", kMarker), std::vector<std::string>());
    EXPECT_EQ(files_with(folder_ / "with", kMarker), std::vector<std::string>());
    EXPECT_EQ(run("backup verify --from with").exit_code, 0);
    const auto unread = run("backup verify --from without");
    EXPECT_NE(unread.exit_code, 0);
    EXPECT_NE(unread.output.find("--store-key"), std::string::npos) << unread.output;
    const auto file = store.store / "keys" / "store";
    EXPECT_EQ(run("backup verify --from without --store-key " + file.string()).exit_code, 0);

    EXPECT_NE(run("backup restore --from without --store back").exit_code, 0);
    EXPECT_FALSE(fs::exists(folder_ / "back"));
    const auto restored =
        run("backup restore --from without --store back --store-key " + file.string());
    ASSERT_EQ(restored.exit_code, 0) << restored.output;
    EXPECT_EQ(files_with(folder_ / "back", kMarker), std::vector<std::string>());
    fs::remove_all(store.store);
    ASSERT_EQ(run("backup restore --from with --store " + store.store.string()).exit_code, 0);
    EXPECT_EQ(state_hash(store), hash);
    EXPECT_EQ(files_with(store.store, kMarker), std::vector<std::string>());
}

TEST_F(StoreEncryption, OfAPlainStoreAndByAnotherKeyIsByCommand) {
    const auto store = workspace("later", false);
    fill(store, false);
    const auto hash = state_hash(store);
    const auto config = " --config " + store.config.string();
    EXPECT_NE(run("store encrypt --reason audit" + config).exit_code, 0) << "not as configured";
    configure(store, true);
    const auto refused = refusal(store);
    EXPECT_EQ(refused.reason, "key_missing");
    EXPECT_NE(refused.message.find("store encrypt"), std::string::npos) << refused.message;

    const auto done = run("store encrypt --reason audit" + config);
    ASSERT_EQ(done.exit_code, 0) << done.output;
    const auto first = id_in(store.store / "keys" / "store");
    EXPECT_EQ(files_of(store.store).size(), 1u);
    EXPECT_TRUE(files_of(store.store).contains(first));
    EXPECT_EQ(files_with(store.store, kMarker), std::vector<std::string>());
    EXPECT_EQ(state_hash(store), hash);
    fs::copy(store.store, folder_ / "earlier", fs::copy_options::recursive);

    const auto changed = run("keys rotate store --reason yearly" + config);
    ASSERT_EQ(changed.exit_code, 0) << changed.output;
    const auto second = id_in(store.store / "keys" / "store");
    EXPECT_NE(first, second);
    EXPECT_EQ(state_hash(store), hash);
    EXPECT_EQ(files_of(store.store).size(), 2u);
    const auto document = answer("keys list" + config);
    std::map<std::string, std::string> states;
    for (const auto& one : document.at("keys").as_array()) {
        if (one.at("name").as_string() == "store")
            states[std::string(one.at("id").as_string())] = one.at("state").as_string().c_str();
    }
    EXPECT_EQ(states, (std::map<std::string, std::string>{{first, "retired"}, {second, "in use"}}));
    // a copy of the keys has both, each for its own place
    const auto copied =
        run("keys export --out both.rk --passphrase-file pass --reason copy" + config);
    ASSERT_EQ(copied.exit_code, 0) << copied.output;
    fs::remove_all(store.store / "keys");
    const auto back = run("keys import both.rk --passphrase-file pass --reason lost" + config);
    ASSERT_EQ(back.exit_code, 0) << back.output;
    EXPECT_EQ(id_in(store.store / "keys" / "store"), second);
    EXPECT_EQ(id_in(store.store / "keys" / "retired" / first), first);
    EXPECT_EQ(state_hash(store), hash);
    EXPECT_TRUE(rampartd::Node::open(rampartd::load_settings(store.config).value()));
    // the same copy opens a store of before the change: the key that it needs is a retired one
    const auto restored = workspace("restored", true);
    fs::remove_all(restored.store);
    fs::copy(folder_ / "earlier", restored.store, fs::copy_options::recursive);
    fs::remove_all(restored.store / "keys");
    const auto put = run("keys import both.rk --passphrase-file pass --reason restored --config " +
                         restored.config.string());
    ASSERT_EQ(put.exit_code, 0) << put.output;
    EXPECT_EQ(id_in(restored.store / "keys" / "store"), second);
    EXPECT_EQ(state_hash(restored), hash);
    EXPECT_TRUE(rampartd::Node::open(rampartd::load_settings(restored.config).value()));
    ASSERT_EQ(run("store encrypt --reason yearly" + config).exit_code, 0);
    EXPECT_EQ(files_of(store.store).size(), 1u);
    EXPECT_TRUE(files_of(store.store).contains(second));
    fs::remove_all(store.store / "keys" / "retired");
    EXPECT_EQ(state_hash(store), hash);
    EXPECT_EQ(run("store check" + config).exit_code, 0);
}

TEST_F(StoreEncryption, OfAPartitionThatMovesIsByTheOtherStoresKeyOrNotAtAll) {
    const auto store = workspace("left", true), plain = workspace("plain_one", false);
    fill(store, false);
    const auto home = store.store / "partitions" / "1";
    const auto move_to = [&](const Workspace& to) {
        return run(fmt::format("partition move 1 --config {} --to {}", store.config.string(),
                               to.config.string()));
    };
    // a store that is not encrypted, and one that is to be and has no key yet, get nothing
    const auto refused = move_to(plain);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.output.find("set privacy.encrypt_databases = true there"), std::string::npos)
        << refused.output;
    const auto other = workspace("other", true);
    const auto early = move_to(other);
    EXPECT_EQ(early.exit_code, 2);
    EXPECT_NE(early.output.find((other.store / "keys" / "store").string()), std::string::npos)
        << early.output;
    for (const auto& to : {plain, other})
        EXPECT_FALSE(fs::exists(to.store / "partitions")) << to.store;
    EXPECT_TRUE(fs::exists(home));

    auto first = serve(other);  // makes its keys, and databases without anything
    ASSERT_TRUE(first.stop());
    fs::remove_all(other.store / "partitions" / "1");
    const auto id = id_in(other.store / "keys" / "store");
    EXPECT_NE(id, id_in(store.store / "keys" / "store"));
    const auto databases = storage::find_databases(home).value();
    ASSERT_FALSE(databases.empty());
    const auto before = hash_of_one(store, store);
    const auto moved = move_to(other);
    ASSERT_EQ(moved.exit_code, 0) << moved.output;
    EXPECT_FALSE(fs::exists(home));
    for (const auto& name : databases) {
        const auto files = storage::files_at_rest(other.store / "partitions" / "1" / name).value();
        EXPECT_EQ(files.plain, 0u) << name;
        ASSERT_EQ(files.by_key.size(), 1u) << name;
        EXPECT_EQ(files.by_key.begin()->first, id) << name;
    }
    EXPECT_EQ(files_with(other.store, kMarker), std::vector<std::string>());
    EXPECT_EQ(hash_of_one(other, store), before);
}

}  // namespace
}  // namespace rampart::demo
