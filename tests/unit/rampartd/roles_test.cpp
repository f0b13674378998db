#include "services/rampartd/roles.hpp"

#include <gtest/gtest.h>

#include "rampart/base/file.hpp"
#include "rampart/config/table.hpp"
#include "services/rampartd/log_settings.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

using streaming::PartitionId;

std::string refusal(std::string_view text) {
    const auto roles = parse_roles(text);
    if (roles) return "";
    EXPECT_EQ(roles.error().reason, "bad_roles");
    return roles.error().message;
}

TEST(Roles, AreReadAndWrittenByName) {
    EXPECT_EQ(to_string(Roles()), "decide,join,train,monitor");
    EXPECT_TRUE(parse_roles("monitor,train,join,decide")->all());
    for (const char* text : {"decide", "join", "decide,join", "join,train", "join,train,monitor",
                             "decide,join,train"}) {
        const auto roles = parse_roles(text);
        ASSERT_TRUE(roles) << roles.error().message;
        EXPECT_EQ(to_string(*roles), text);
        EXPECT_FALSE(roles->all());
        for (const Role role : {Role::kDecide, Role::kJoin, Role::kTrain, Role::kMonitor})
            EXPECT_EQ(roles->has(role),
                      std::string_view(text).find(to_string(role)) != std::string_view::npos);
    }
}

TEST(Roles, ThatDoNotGoTogetherAreRefusedWithWhatToDo) {
    EXPECT_NE(refusal("").find("names no role"), std::string::npos);
    EXPECT_NE(refusal("decide,").find("'' is no role"), std::string::npos);
    EXPECT_NE(refusal("decide,learn").find("'learn' is no role; decide, join, train and monitor"),
              std::string::npos);
    EXPECT_NE(refusal("join,join").find("named twice"), std::string::npos);
    EXPECT_NE(refusal("train").find("add join"), std::string::npos);
    EXPECT_NE(refusal("decide,train").find("add join"), std::string::npos);
    EXPECT_NE(refusal("join,monitor").find("add train"), std::string::npos);
    EXPECT_NE(refusal("monitor").find("add train"), std::string::npos);
}

TEST(Roles, OneThatIsElsewhereIsSaid) {
    const auto roles = parse_roles("decide").value();
    EXPECT_TRUE(check_role(roles, Role::kDecide));
    const auto status = check_role(roles, Role::kJoin);
    ASSERT_FALSE(status);
    EXPECT_TRUE(status.error().is(Reason::kRoleNotHere));
    EXPECT_EQ(status.error().message, "this node does not join: its roles are decide");
}

TEST(Roles, OfACommandLineAreKnownToCommandsUntilAStartWithoutThem) {
    const auto store = std::filesystem::path(testing::TempDir()) / "roles_of_a_store";
    std::filesystem::create_directories(store);
    EXPECT_EQ(remembered_roles(store).value(), "");
    ASSERT_TRUE(remember_roles(store, "train,join"));
    EXPECT_EQ(remembered_roles(store).value(), "join,train");
    ASSERT_TRUE(remember_roles(store, ""));
    ASSERT_TRUE(remember_roles(store, ""));
    EXPECT_EQ(remembered_roles(store).value(), "");
    ASSERT_TRUE(base::write_file_atomically(store / "roles", "learn\n"));
    const auto damaged = remembered_roles(store);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().reason, "bad_roles");
    EXPECT_NE(damaged.error().message.find("roles_of_a_store/roles"), std::string::npos);
    std::filesystem::remove_all(store);
}

/// What the settings of the log are, or why they are refused.
struct Read {
    LogSettings settings;
    std::string refused;
};
Read read(const std::string& text, std::string_view given = {}, bool shared = true) {
    const std::string kafka =
        "[log]\nbroker = \"kafka\"\ngroup_key_files = [\"k\"]\n"
        "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    auto root = config::parse(text + (shared ? kafka : ""), "x.toml").value();
    auto settings = read_log_settings(root, {"/etc"}, given);
    const auto status = root.finish();
    return {std::move(settings), status ? "" : status.error().message};
}

TEST(Roles, SayWhichPartitionsANodeHasWhoseListsNameNone) {
    const std::vector<PartitionId> all{PartitionId(0), PartitionId(1), PartitionId(2),
                                       PartitionId(3)};
    const auto whole = read("").settings;
    EXPECT_TRUE(whole.roles.all());
    EXPECT_EQ(whole.own, all);
    const auto decides = read("roles = [\"decide\"]\n").settings;
    EXPECT_EQ(decides.own, all);
    EXPECT_TRUE(decides.follow.empty());
    const auto learns = read("roles = [\"join\", \"train\"]\n").settings;
    EXPECT_TRUE(learns.own.empty());
    EXPECT_EQ(learns.follow, all);
    EXPECT_TRUE(learns.holds_all());
    EXPECT_EQ(read("roles = [\"decide\"]\n", "join").settings.follow, all) << "in place of those";
}

TEST(Roles, ThatDoNotFitTheLogAreRefusedByName) {
    EXPECT_NE(read("roles = []\n").refused.find("roles: names no role"), std::string::npos);
    EXPECT_NE(read("roles = [\"train\"]\n").refused.find("roles: train needs join"),
              std::string::npos);
    EXPECT_NE(read("", "monitor").refused.find("monitor needs train"), std::string::npos);
    const auto embedded = read("roles = [\"decide\"]\n", {}, false).refused;
    EXPECT_NE(embedded.find("roles: with log.broker = \"local\""), std::string::npos) << embedded;
    EXPECT_NE(read("", "join,train", false).refused.find("log.broker = \"kafka\""),
              std::string::npos);
    EXPECT_EQ(read("roles = [\"decide\", \"join\", \"train\", \"monitor\"]\n", {}, false).refused,
              "");
    const std::string log = "[log]\nbroker = \"kafka\"\ngroup_key_files = [\"k\"]\n";
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    const auto lists = [&](const std::string& roles, const std::string& named) {
        return read(roles + log + named + kafka, {}, false).refused;
    };
    EXPECT_NE(
        lists("roles = [\"join\"]\n", "own = [0]\n").find("log.own: this node does not decide"),
        std::string::npos);
    EXPECT_NE(lists("roles = [\"decide\"]\n", "own = [0]\nfollow = [1]\n")
                  .find("log.follow: this node does not join"),
              std::string::npos);
    EXPECT_EQ(lists("roles = [\"decide\"]\n", "own = [0]\n"), "");
    EXPECT_EQ(lists("roles = [\"join\"]\n", "follow = [1]\n"), "");
}

}  // namespace
}  // namespace rampart::rampartd
