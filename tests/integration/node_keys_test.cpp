// A store and its keys: made together, and never one without the other.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/server.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/secrets.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using test_support::run_program;

const fs::path kProgram = test_support::bin_dir() + "/rampartd";

class NodeKeys : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 100;
        options.seed = 3;
        const auto stream = loan_stream::load(options).value();
        folder_ = fs::path(testing::TempDir()) / fmt::format("node_keys.{}", ::getpid());
        fs::remove_all(folder_);
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream, 3)
                .value();
        fs::remove_all(store());  // with the keys that a demo has before it starts
    }
    void TearDown() override { fs::remove_all(folder_); }

    const fs::path& store() const { return workspace_.store; }
    fs::path key(const std::string& name) const { return store() / "keys" / name; }
    Settings settings() const { return load_settings(workspace_.config).value(); }
    base::Result<std::unique_ptr<Node>> open() { return Node::open(settings()); }
    void make_store() {
        const auto node = open();
        ASSERT_TRUE(node) << node.error().message;
    }
    /// Returns every file with its content.
    std::map<std::string, std::string> content() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(store())) {
            const auto path = entry.path().lexically_relative(store()).generic_string();
            found[path] = entry.is_regular_file() ? base::read_file(entry.path(), 1 << 28).value()
                                                  : std::string("folder");
        }
        return found;
    }
    void configure_port(int port) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const size_t at = text.find("port = ");
        ASSERT_NE(at, std::string::npos);
        text.replace(at, text.find_first_of(" #\n", at + 7) - at, fmt::format("port = {}", port));
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    std::string serve_command() const {
        return fmt::format("{} --config {}", kProgram.string(), workspace_.config.string());
    }

    fs::path folder_;
    demo::Workspace workspace_;
};

TEST_F(NodeKeys, AStoreWhoseKeyIsMissingIsRefusedByNameAndNothingIsWritten) {
    make_store();
    for (const std::string name : {"draw", "arm", "split", "evidence", "signing", "person"}) {
        const fs::path kept = folder_ / name;
        fs::rename(key(name), kept);
        const auto before = content();
        const auto refused = open();
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().reason, "key_missing");
        EXPECT_NE(refused.error().message.find(key(name).string()), std::string::npos);
        EXPECT_NE(refused.error().message.find("Restore"), std::string::npos);
        EXPECT_EQ(content(), before) << name;
        fs::rename(kept, key(name));
    }
    fs::rename(store() / "keys", folder_ / "keys");
    const auto refused = open();
    ASSERT_FALSE(refused);
    for (const std::string name : {"draw", "arm", "split", "evidence", "signing", "person"}) {
        EXPECT_NE(refused.error().message.find(key(name).string()), std::string::npos) << name;
    }
    EXPECT_FALSE(fs::exists(store() / "keys"));
    fs::rename(folder_ / "keys", store() / "keys");
    EXPECT_TRUE(open());
}

TEST_F(NodeKeys, AStoreThatLostItsRegistryGetsNoNewKeysEither) {
    make_store();
    fs::remove_all(store() / "registry");
    fs::remove(key("split"));
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "key_missing");
    EXPECT_FALSE(fs::exists(store() / "registry"));
}

TEST_F(NodeKeys, AnotherKeyThanTheStoreWasMadeWithIsRefusedByName) {
    make_store();
    const auto log = store() / "log" / "CURRENT";
    for (const std::string name : {"draw", "arm", "split", "evidence", "signing"}) {
        const auto own = base::read_file(key(name), 100).value();
        ASSERT_TRUE(base::write_file_atomically(key(name), std::string(64, 'a') + "\n", 0600));
        const auto opened_before = fs::last_write_time(log);
        const auto gate_key = base::read_file(store() / "gate.pub.pem", 4096).value();
        const auto refused = open();
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().reason, "other_key");
        EXPECT_NE(refused.error().message.find(key(name).string()), std::string::npos)
            << refused.error().message;
        EXPECT_EQ(fs::last_write_time(log), opened_before) << "the log was opened";
        EXPECT_EQ(base::read_file(store() / "gate.pub.pem", 4096).value(), gate_key);
        ASSERT_TRUE(base::write_file_atomically(key(name), own, 0600));
    }
    EXPECT_TRUE(open());
}

TEST_F(NodeKeys, TheRegistryHoldsTheIdsOfTheKeysFromTheFirstStartOn) {
    const auto node = open().value();
    for (const std::string name : {"arm", "draw", "evidence", "signing", "split"}) {
        EXPECT_EQ(node->registry().recorded_keys().at(name),
                  runtime::secret_id(runtime::load_secret(key(name)).value()));
    }
    const auto entries = node->registry().audit_entries().value();
    EXPECT_EQ(entries.front().action, "keys");
}

TEST_F(NodeKeys, AStoreThatHadNotRecordedIdsGetsThoseOfItsKeysAndNoNewKeys) {
    const auto with_keys = settings();
    for (const char* name : {"draw", "split", "evidence", "signing"}) {
        ASSERT_TRUE(runtime::load_or_create_secret(key(name)));
    }
    {  // as an earlier release made it
        const auto policy =
            model::Policy::create(with_keys.schema.features(), {with_keys.bootstrap}, {},
                                  {{"learner", "bootstrap"}})
                .value();
        const auto registry = registry::ModelRegistry::open(store() / "registry").value();
        const auto id =
            registry->register_model(model::encode_model_file(policy), {}, "test").value();
        ASSERT_TRUE(registry->bootstrap_champion(id, {}, "test"));
    }
    fs::rename(key("draw"), folder_ / "draw");
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "key_missing");
    fs::rename(folder_ / "draw", key("draw"));
    testing::internal::CaptureStderr();
    { const auto node = open().value(); }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("recorded those"), std::string::npos);
    EXPECT_EQ(open().value()->registry().recorded_keys().at("draw"),
              runtime::secret_id(runtime::load_secret(key("draw")).value()));
}

TEST_F(NodeKeys, AStoreFromBeforeThereWereArmsGetsTheirKeyOnceAndNeverAgain) {
    const auto with_keys = settings();
    std::map<std::string, std::string> ids;
    for (const char* name : {"draw", "split", "evidence", "signing"}) {
        ids[name] = runtime::secret_id(runtime::load_or_create_secret(key(name)).value());
    }
    {  // as an earlier release made it
        const auto registry = registry::ModelRegistry::open(store() / "registry").value();
        ASSERT_TRUE(registry->record_keys(ids, {}, "test"));
    }
    make_store();
    ids["arm"] = runtime::secret_id(runtime::load_secret(key("arm")).value());
    EXPECT_EQ(open().value()->registry().recorded_keys(), ids);
    fs::remove(key("arm"));
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "key_missing");
    EXPECT_FALSE(fs::exists(key("arm")));
}

TEST_F(NodeKeys, WithoutPrincipalsATokenIsMadeThatCanMakeTokensOnly) {
    make_store();
    const auto before = base::read_file(key("token"), 100).value();
    fs::remove(key("principals.toml"));
    fs::remove(key("token"));
    const auto node = open().value();
    auto token = base::read_file(key("token"), 100).value();
    token.pop_back();
    EXPECT_NE(token, before);
    const auto first = node->callers()->identify({.token = token, .address = "127.0.0.1"});
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->scopes, access::Scopes{access::Scope::kGrant});
}

TEST_F(NodeKeys, AFirstStartThatFailsLeavesNothing) {
    auto bad = settings();
    bad.training.recipes.front().learner = "forest";  // noticed last, when all databases are there
    const auto failed = Node::open(bad);
    ASSERT_FALSE(failed);
    EXPECT_FALSE(fs::exists(store())) << failed.error().message;

    const auto given = runtime::load_or_create_secret(key("split")).value();
    ASSERT_FALSE(Node::open(bad));
    EXPECT_EQ(content().size(), 2u) << "keys/ and keys/split";
    EXPECT_EQ(runtime::load_secret(key("split")).value(), given);
    EXPECT_TRUE(open());
}

TEST_F(NodeKeys, AFirstStartOnAPortInUseLeavesNothing) {
    const auto other =
        http::Server::start({}, [](const http::Request&) { return http::Response{}; }).value();
    configure_port(other->port());
    const auto ran = run_program(serve_command());
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.output.find("is in use"), std::string::npos) << ran.output;
    EXPECT_FALSE(fs::exists(store()));
}

/// Starts a service and kills it as soon as `mark` is in its store; false: it served or ended
/// before.
bool killed_at(const fs::path& config, const fs::path& store, const std::string& mark) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int quiet = ::open("/dev/null", O_WRONLY);
        ::dup2(quiet, STDERR_FILENO);
        ::execl(kProgram.c_str(), kProgram.c_str(), "--config", config.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    while (!fs::exists(store / mark)) {
        if (::waitpid(child, &status, WNOHANG) == child) return false;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

/// Returns what in the folder has a bit for others than its owner, reachable for them or not.
std::vector<std::string> open_to_others(const fs::path& folder) {
    std::vector<std::string> found;
    const auto look = [&](const fs::path& path) {
        if ((fs::symlink_status(path).permissions() & fs::perms(077)) != fs::perms::none)
            found.push_back(path.string());
    };
    look(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) look(entry.path());
    return found;
}

TEST_F(NodeKeys, AStoreThatIsMadeUnderALaxUmaskIsItsOwnersAlone) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::umask(022);
        ::execl(kProgram.c_str(), kProgram.c_str(), "--config", workspace_.config.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    while (!fs::exists(store() / "endpoint"))
        ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "ended with " << status;
    EXPECT_EQ(open_to_others(store()), std::vector<std::string>{}) << "while it serves";
    ::kill(child, SIGTERM);
    ::waitpid(child, &status, 0);
    EXPECT_EQ(open_to_others(store()), std::vector<std::string>{});

    // a command that opens it, and a restore of a copy of which others could read everything
    const std::string lax = "umask 022; " + test_support::bin_dir() + "/rampart ";
    const auto inspected =
        run_program(lax + "inspect store --config " + workspace_.config.string());
    EXPECT_EQ(inspected.exit_code, 0) << inspected.output;
    EXPECT_EQ(open_to_others(store()), std::vector<std::string>{});
    for (const auto& entry : fs::recursive_directory_iterator(store())) {
        if (entry.path().parent_path() != store() / "keys")
            fs::permissions(entry, fs::perms::group_read | fs::perms::others_read,
                            fs::perm_options::add);
    }
    const auto backups = folder_ / "backups", restored = folder_ / "restored";
    const auto copied = run_program(fmt::format(
        "{0} backup create --with-keys --store {1} --to {2} && {0} backup restore --from {2} "
        "--store {3}",
        lax, store().string(), backups.string(), restored.string()));
    EXPECT_EQ(copied.exit_code, 0) << copied.output;
    EXPECT_EQ(open_to_others(backups), std::vector<std::string>{});
    EXPECT_EQ(open_to_others(restored), std::vector<std::string>{});
}

TEST_F(NodeKeys, AStoreThatOthersCanReadIsNamedAtTheStart) {
    make_store();
    fs::permissions(store(), fs::perms(0755));
    fs::remove(key("split"));  // so that it ends
    const auto ran = run_program(serve_command());
    EXPECT_NE(ran.output.find(fmt::format("chmod -R go= {}", store().string())), std::string::npos)
        << ran.output;
}

TEST_F(NodeKeys, AFirstStartThatIsKilledLeavesAStoreThatStarts) {
    for (const std::string mark :
         {"keys", "keys/draw", "keys/evidence", "registry", "registry/registry/CURRENT",
          "gate.pub.pem", "log/CURRENT", "partitions", "trainer/CURRENT"}) {
        ASSERT_TRUE(killed_at(workspace_.config, store(), mark)) << mark;
        std::map<std::string, std::string> there;
        for (const char* name : {"draw", "arm", "split", "evidence", "signing", "person"}) {
            if (fs::exists(key(name))) there[name] = base::read_file(key(name), 100).value();
        }
        {
            const auto node = open();
            ASSERT_TRUE(node) << mark << ": " << node.error().message;
        }
        for (const auto& [name, secret] : there) {
            EXPECT_EQ(base::read_file(key(name), 100).value(), secret) << mark;
        }
        fs::remove_all(store());
    }
}

}  // namespace
}  // namespace rampart::rampartd
