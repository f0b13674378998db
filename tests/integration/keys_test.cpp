// `rampart keys`: what it lists, copies out and puts back, and a draw key that is changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/runtime/secrets.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::Ran;
using test_support::run_program;

const std::vector<std::string> kNames{"arm", "draw", "evidence", "person", "signing", "split"};

class KeysTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("keys_test.{}", ::getpid());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 200;
        options.seed = 5;
        stream_ = loan_stream::load(options).value();
        workspace_ = prepare("a");
        ASSERT_TRUE(base::write_file_atomically(folder_ / "pass", "a long passphrase\n", 0600));
        const auto node = open();
    }
    void TearDown() override { fs::remove_all(folder_); }

    demo::Workspace prepare(const std::string& name) const {
        auto workspace = demo::prepare_workspace(
                             folder_ / name, test_support::source_dir() + "/ops/config", stream_, 5)
                             .value();
        fs::remove_all(workspace.store);  // with the keys that a demo has before it starts
        return workspace;
    }
    const fs::path& store() const { return workspace_.store; }
    fs::path key(const std::string& name) const { return store() / "keys" / name; }
    std::unique_ptr<Node> open() const {
        auto node = Node::open(load_settings(workspace_.config).value());
        EXPECT_TRUE(node) << node.error().message;
        return *std::move(node);
    }
    static std::string read(const fs::path& file) { return base::read_file(file, 1 << 20).value(); }
    static void write(const fs::path& file, const std::string& text) {
        ASSERT_TRUE(base::write_file_atomically(file, text, 0600));
    }
    /// Runs a command of `rampart keys` for the store of `workspace`.
    Ran keys(const std::string& command, const demo::Workspace& workspace) const {
        return run_program(fmt::format("cd '{}' && {}/rampart keys {} --config {}",
                                       folder_.string(), test_support::bin_dir(), command,
                                       workspace.config.string()));
    }
    Ran keys(const std::string& command) const { return keys(command, workspace_); }
    Ran copied() const {
        return keys("export --out keys.rk --passphrase-file pass --reason copy --actor anna");
    }
    Ran imported() const {
        return keys("import keys.rk --passphrase-file pass --reason back --actor anna");
    }
    /// Returns name -> state of the keys that are listed, and id -> state of retired ones.
    std::map<std::string, std::string> states() const {
        const auto ran =
            run_program(fmt::format("({}/rampart keys list --json --config {} 2>/dev/null)",
                                    test_support::bin_dir(), workspace_.config.string()));
        std::map<std::string, std::string> states;
        const auto document = json::parse(ran.output);
        for (const auto& one : document.at("keys").as_array()) {
            const bool retired = !one.at("retired").is_null();
            states[std::string(one.at(retired ? "id" : "name").as_string())] =
                std::string(one.at("state").as_string());
        }
        return states;
    }
    /// Returns the keys under keys/ with the content of their files: not what callers show.
    std::map<std::string, std::string> content() const {
        std::map<std::string, std::string> found;
        if (!fs::exists(store() / "keys")) return found;
        for (const auto& entry : fs::recursive_directory_iterator(store() / "keys")) {
            const auto name = entry.path().filename().string();
            const bool of_callers = name == "token" || name.starts_with("principals.toml");
            if (entry.is_regular_file() && !of_callers)
                found[entry.path().lexically_relative(store()).generic_string()] =
                    read(entry.path());
        }
        return found;
    }
    std::vector<std::string> audited(const std::string& action) const {
        const auto registry = registry::ModelRegistry::open(
                                  store() / "registry", registry::ModelRegistry::Mode::kReadOnly)
                                  .value();
        std::vector<std::string> who;
        const auto entries = registry->audit_entries().value();
        for (const auto& entry : entries)
            if (entry.action == action) who.push_back(entry.actor);
        return who;
    }

    fs::path folder_;
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
};

TEST_F(KeysTest, ListShowsEachKeyBesideARunningNodeAndWhatIsMissing) {
    const auto node = open();
    std::map<std::string, std::string> all;
    for (const auto& name : kNames) all[name] = "in use";
    EXPECT_EQ(states(), all);
    const auto text = keys("list");
    EXPECT_EQ(text.exit_code, 0) << text.output;
    EXPECT_NE(text.output.find(runtime::secret_id(node->keys().split)), std::string::npos);
    for (const auto& name : kNames)
        EXPECT_EQ(text.output.find(read(key(name)).substr(0, 16)), std::string::npos) << name;

    fs::rename(key("split"), folder_ / "split");
    write(key("draw"), std::string(64, 'a') + "\n");
    all["split"] = "missing";
    all["draw"] = "other";
    EXPECT_EQ(states(), all);
    EXPECT_EQ(keys("list").exit_code, 1);
    EXPECT_FALSE(fs::exists(key("split"))) << "it only reads";
}

TEST_F(KeysTest, WhatIsExportedBringsAStoreBack) {
    const auto before = content();
    const auto ran = copied();
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto file = read(folder_ / "keys.rk");
    for (const auto& name : kNames)
        EXPECT_EQ(file.find(read(key(name)).substr(0, 16)), std::string::npos) << name;
    EXPECT_EQ(fs::status(folder_ / "keys.rk").permissions(), fs::perms(0600));
    EXPECT_EQ(copied().exit_code, 2) << "an earlier copy is not overwritten";

    fs::remove_all(store() / "keys");
    const auto back = imported();
    ASSERT_EQ(back.exit_code, 0) << back.output;
    EXPECT_EQ(content(), before);
    for (const auto& name : kNames)
        EXPECT_EQ(fs::status(key(name)).permissions(), fs::perms(0600)) << name;
    EXPECT_TRUE(open());
    EXPECT_EQ(imported().exit_code, 0) << "once more changes nothing";
    EXPECT_EQ(audited("keys_exported"), std::vector<std::string>{"anna"});
    EXPECT_EQ(audited("keys_imported"), std::vector<std::string>{"anna"});

    const auto other = keys("import keys.rk --passphrase-file wrong --reason x --json");
    EXPECT_NE(other.output.find("no_such_file"), std::string::npos) << other.output;
    write(folder_ / "wrong", "another passphrase\n");
    const auto wrong = keys("import keys.rk --passphrase-file wrong --reason x --json");
    EXPECT_NE(wrong.output.find("wrong_passphrase"), std::string::npos) << wrong.output;
    fs::permissions(folder_ / "wrong", fs::perms(0644));
    const auto exposed = keys("import keys.rk --passphrase-file wrong --reason x --json");
    EXPECT_NE(exposed.output.find("secret_exposed"), std::string::npos) << exposed.output;
}

TEST_F(KeysTest, ImportReplacesNoOtherKeyAndPutsNoneOfThemWhereOneIsRefused) {
    ASSERT_EQ(copied().exit_code, 0);
    fs::remove(key("arm"));
    fs::remove(key("split"));
    const auto own = read(key("draw"));
    write(key("draw"), std::string(64, 'a') + "\n");
    const auto before = content();
    const auto there = keys("import keys.rk --passphrase-file pass --reason x --json");
    EXPECT_EQ(there.exit_code, 2);
    EXPECT_NE(there.output.find("other_key"), std::string::npos) << there.output;
    EXPECT_NE(there.output.find(key("draw").string()), std::string::npos) << there.output;
    EXPECT_EQ(content(), before);
    EXPECT_TRUE(audited("keys_imported").empty());
    write(key("draw"), own);

    // a copy of another store's keys
    const auto second = prepare("b");
    { const auto node = Node::open(load_settings(second.config).value()).value(); }
    for (const auto& name : kNames) fs::remove(second.store / "keys" / name);
    const auto foreign = keys("import keys.rk --passphrase-file pass --reason x --json", second);
    EXPECT_EQ(foreign.exit_code, 2);
    EXPECT_NE(foreign.output.find("other_key"), std::string::npos) << foreign.output;
    for (const auto& name : kNames) EXPECT_FALSE(fs::exists(second.store / "keys" / name)) << name;
}

TEST_F(KeysTest, AnImportThatFailsOrIsKilledLeavesNothingHalfDone) {
    ASSERT_EQ(copied().exit_code, 0);
    const auto all = runtime::unwrap_keys(read(folder_ / "keys.rk"), "a long passphrase").value();
    fs::remove_all(store() / "keys");
    write(folder_ / "file", "");
    {  // the last but one cannot be written: its folder would be a file
        const auto registry = registry::ModelRegistry::open(store() / "registry").value();
        const auto failed = import_keys({store(), folder_ / "file" / "person"}, registry.get(), all,
                                        {"anna", "x", {}});
        ASSERT_FALSE(failed);
    }
    EXPECT_FALSE(fs::exists(store() / "keys"));
    EXPECT_TRUE(audited("keys_imported").empty());

    fs::create_directories(store() / "keys");
    write(key("draw").string() + kUnplaced, "what a killed import left\n");
    ASSERT_EQ(imported().exit_code, 0);
    write(key("draw").string() + kUnplaced, "what a killed import left\n");
    ASSERT_TRUE(open());
    EXPECT_FALSE(fs::exists(key("draw").string() + kUnplaced));
}

TEST_F(KeysTest, AStoreCanBeBegunWithItsKeys) {
    ASSERT_EQ(copied().exit_code, 0);
    const auto second = prepare("b");
    const auto ran = keys("import keys.rk --passphrase-file pass --reason move", second);
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto node = Node::open(load_settings(second.config).value()).value();
    EXPECT_EQ(runtime::secret_id(node->keys().split),
              runtime::secret_id(runtime::load_secret(key("split")).value()));
    EXPECT_EQ(read(second.store / "keys" / "signing"), read(key("signing")));
}

TEST_F(KeysTest, KeysThatMayNotChangeAreRefusedInWords) {
    const auto before = content();
    for (const std::string name : {"arm", "evidence", "person", "split"}) {
        const auto ran = keys("rotate " + name + " --reason x --json");
        EXPECT_EQ(ran.exit_code, 2) << name;
        EXPECT_NE(ran.output.find("key_stays"), std::string::npos) << ran.output;
        EXPECT_NE(ran.output.find(key(name).string()), std::string::npos) << ran.output;
    }
    EXPECT_EQ(keys("rotate token --reason x").exit_code, 2);
    {
        const auto node = open();
        const auto ran = keys("rotate draw --reason x --json");
        EXPECT_NE(ran.output.find("database_in_use"), std::string::npos) << ran.output;
    }
    write(key("draw"), std::string(64, 'a') + "\n");
    EXPECT_NE(keys("rotate draw --reason x --json").output.find("other_key"), std::string::npos);
    write(key("draw"), before.at("keys/draw"));
    EXPECT_EQ(content(), before);
    EXPECT_TRUE(audited("key_rotated").empty());
}

/// Decides a part of the stream's applications, each as if it came at the node's time.
std::vector<domain::Decision> decide(Node& node, const loan_stream::Stream& stream, size_t from,
                                     size_t to) {
    std::vector<domain::Application> batch;
    for (size_t i = from; i < to; ++i) {
        batch.push_back(stream.applicants[i].application);
        batch.back().event_time = node.now();
    }
    auto decided = node.decisions().decide(batch);
    EXPECT_TRUE(decided) << decided.error().message;
    return *std::move(decided);
}

TEST_F(KeysTest, DecisionsOfARetiredDrawKeyAreReplayedWithItAndRepeatedAsTheyWere) {
    std::vector<domain::Decision> before, after;
    const auto start = stream_.applicants.front().application.event_time;
    {
        const auto node = open();
        ASSERT_TRUE(node->advance(start));
        before = decide(*node, stream_, 0, 100);
    }
    const auto retired = before.front().draw_key_id;
    const auto ran = keys("rotate draw --reason 'a custodian left' --actor anna");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_NE(read(key("draw")), read(retired_file(store(), retired)));
    EXPECT_EQ(fs::status(retired_file(store(), retired)).permissions(), fs::perms(0600));
    auto listed = states();
    EXPECT_EQ(listed.at("draw"), "in use");
    EXPECT_EQ(listed.at(retired), "retired");
    EXPECT_EQ(audited("key_rotated"), std::vector<std::string>{"anna"});

    const auto node = open();
    EXPECT_EQ(decide(*node, stream_, 0, 100), before) << "an answer that was given stands";
    after = decide(*node, stream_, 100, 200);
    EXPECT_NE(after.front().draw_key_id, retired);
    auto model = std::make_shared<const model::LoadedPolicy>(
        node->registry().load_model(before.front().policy).value());
    const auto policy = decision::PolicyInForce::create(std::move(model), false).value();
    const auto key_of = [&](const domain::Decision& one) {
        const bool now = one.draw_key_id == node->keys().ids.draw;
        const auto file = now ? key("draw") : retired_file(store(), one.draw_key_id);
        return decision::DrawKey{one.draw_key_id, runtime::load_secret(file).value()};
    };
    for (const auto* all : {&before, &after}) {
        for (const auto& one : *all) {
            const auto status = decision::replay(one, *policy, key_of(one), std::nullopt);
            ASSERT_TRUE(status) << status.error().message;
        }
    }
    const decision::DrawKey mixed{before[0].draw_key_id, node->keys().draw};
    EXPECT_FALSE(decision::replay(before[0], *policy, mixed, std::nullopt));
}

TEST_F(KeysTest, RetiredKeysAreInACopyAndInABackupWithKeys) {
    ASSERT_EQ(keys("rotate draw --reason x").exit_code, 0);
    ASSERT_EQ(keys("rotate signing --reason x").exit_code, 0);
    ASSERT_EQ(keys("rotate draw --reason x").exit_code, 0);
    const auto before = content();
    ASSERT_EQ(before.size(), kNames.size() + 3) << "three are retired";
    ASSERT_EQ(copied().exit_code, 0);
    const auto backup = run_program(fmt::format(
        "cd '{0}' && {1} backup create --with-keys --store {2} --to backups && {1} backup restore "
        "--from backups --store restored",
        folder_.string(), test_support::bin_dir() + "/rampart", store().string()));
    ASSERT_EQ(backup.exit_code, 0) << backup.output;
    for (const auto& [path, text] : before) EXPECT_EQ(read(folder_ / "restored" / path), text);

    fs::remove_all(store() / "keys");
    for (const auto& [id, state] : states()) EXPECT_EQ(state, "missing") << id;
    ASSERT_EQ(imported().exit_code, 0);
    EXPECT_EQ(content(), before);
    for (const auto& [id, state] : states()) EXPECT_NE(state, "missing") << id;
    EXPECT_TRUE(open());
}

TEST_F(KeysTest, AChangeThatACrashCutOffIsCompletedOrTakenBack) {
    const auto old = read(key("draw"));
    const auto old_id = runtime::secret_id(runtime::load_secret(key("draw")).value());
    const auto next = base::random_bytes(32);
    const auto waiting = key("draw").string() + ".next";
    const auto prepare_change = [&] {
        fs::create_directories(store() / "keys" / "retired");
        write(retired_file(store(), old_id), old);
        write(waiting, base::to_hex(next) + "\n");
    };
    prepare_change();  // and no more: the registry knows nothing of it
    ASSERT_TRUE(open());
    EXPECT_EQ(read(key("draw")), old);
    EXPECT_FALSE(fs::exists(waiting));
    EXPECT_FALSE(fs::exists(retired_file(store(), old_id)));

    prepare_change();
    {
        const auto registry = registry::ModelRegistry::open(store() / "registry").value();
        ASSERT_TRUE(
            registry->replace_key({"draw", old_id, runtime::secret_id(next), "x"}, {}, "x"));
    }
    write(waiting, base::to_hex(next).substr(1) + "\n");  // damaged: no start with the wrong key
    const auto refused = Node::open(load_settings(workspace_.config).value());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "other_key");
    EXPECT_TRUE(fs::exists(waiting));

    write(waiting, base::to_hex(next) + "\n");
    const auto node = open();
    EXPECT_EQ(read(key("draw")), base::to_hex(next) + "\n");
    EXPECT_FALSE(fs::exists(waiting));
    EXPECT_EQ(read(retired_file(store(), old_id)), old);
    EXPECT_EQ(node->keys().draw, next);
}

}  // namespace
}  // namespace rampart::rampartd
