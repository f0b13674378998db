#include "rampart/streaming_kafka/roles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "support/places.hpp"

namespace rampart::streaming_kafka {
namespace {

using enum Operation;
using Operations = std::vector<Operation>;

/// Returns what the role may do with a topic or the cluster; nothing where it has no grant.
Operations operations_on(Role role, std::string_view name) {
    for (const auto& grant : grants_of(role))
        if (grant.name == name) return grant.operations;
    return {};
}

/// The table of rights as a page shows it.
std::string markdown_table() {
    std::string text = "| topic |", line = "| --- |";
    for (const Role role : kRoles) {
        text += fmt::format(" `{}` |", to_string(role));
        line += " --- |";
    }
    text += "\n" + line + "\n";
    std::vector<std::string_view> names(topic_names().begin(), topic_names().end());
    names.push_back(kClusterName);
    for (const auto name : names) {
        text +=
            name == kClusterName ? std::string("| the cluster |") : fmt::format("| `{}` |", name);
        for (const Role role : kRoles) {
            std::string cell;
            for (const auto& grant : grants_of(role)) {
                if (grant.name != name) continue;
                for (const Operation one : grant.operations)
                    cell += fmt::format(" {}", to_string(one));
                if (grant.old_brokers) cell += " (before 2.8)";
            }
            text += cell + " |";
        }
        text += "\n";
    }
    return text;
}

TEST(Roles, TheRunbookHasTheTable) {
    std::ifstream file(test_support::source_dir() + "/ops/runbooks/kafka.md");
    std::ostringstream page;
    page << file.rdbuf();
    const auto table = markdown_table();
    EXPECT_NE(page.str().find("\n\n" + table + "\n"), std::string::npos)
        << "ops/runbooks/kafka.md has to have this table:\n"
        << table;
}

TEST(Roles, WhoDecidesGroupBlindHasNoRightOnProtectedAttributes) {
    EXPECT_EQ(operations_on(Role::kDeciding, "protected-attributes"), Operations{});
    for (const Role role : {Role::kDecidingGroupAware, Role::kTraining})
        EXPECT_EQ(operations_on(role, "protected-attributes"),
                  (Operations{kRead, kWrite, kDescribeConfigs}));
    for (const Role role : {Role::kProducingApplications, Role::kProducingOutcomes})
        EXPECT_EQ(operations_on(role, "protected-attributes"), Operations{});
    const auto seen = operations_on(Role::kAuditing, "protected-attributes");
    EXPECT_EQ(std::count(seen.begin(), seen.end(), kRead), 0) << "its settings, not its records";
}

TEST(Roles, OnlyTheNodeThatTrainsPublishesPolicies) {
    for (const Role role : kRoles) {
        const auto operations = operations_on(role, "policies");
        EXPECT_EQ(std::count(operations.begin(), operations.end(), kWrite),
                  role == Role::kTraining ? 1 : 0)
            << to_string(role);
    }
}

TEST(Roles, ProducersWriteOneTopicAndReadNone) {
    const std::map<Role, std::string_view> topics{
        {Role::kProducingApplications, "applications"},
        {Role::kProducingOutcomes, "outcomes"},
        {Role::kProducingAttributes, "protected-attributes"}};
    for (const auto& [role, topic] : topics) {
        for (const auto& grant : grants_of(role)) {
            if (grant.resource == Resource::kCluster) {
                EXPECT_TRUE(grant.old_brokers);
                continue;
            }
            EXPECT_EQ(grant.name, topic);
            EXPECT_EQ(grant.operations, Operations{kWrite});
        }
    }
}

TEST(Roles, WhoAuditsWritesNothingAndWhoMakesTopicsReadsNoRecord) {
    for (const auto& grant : grants_of(Role::kAuditing))
        for (const Operation one : grant.operations)
            EXPECT_TRUE(one == kRead || one == kDescribe || one == kDescribeConfigs) << grant.name;
    for (const auto& grant : grants_of(Role::kAdmin))
        for (const Operation one : grant.operations)
            EXPECT_TRUE(one == kCreate || one == kDescribe || one == kDescribeConfigs)
                << grant.name;
    for (const auto name : topic_names()) {
        EXPECT_FALSE(operations_on(Role::kAuditing, name).empty()) << name;
        EXPECT_FALSE(operations_on(Role::kAdmin, name).empty()) << name;
    }
}

TEST(Roles, EachHasOneGrantForAResourceAndSaysWhatItIsFor) {
    for (const Role role : kRoles) {
        EXPECT_FALSE(purpose_of(role).empty());
        std::set<std::string_view> names;
        for (const auto& grant : grants_of(role)) {
            EXPECT_TRUE(names.insert(grant.name).second) << to_string(role) << " " << grant.name;
            EXPECT_FALSE(grant.purpose.empty());
            const std::set<Operation> once(grant.operations.begin(), grant.operations.end());
            EXPECT_EQ(once.size(), grant.operations.size());
            EXPECT_FALSE(once.contains(kAll) || once.contains(kUnknown)) << grant.name;
            if (grant.resource == Resource::kCluster) continue;
            EXPECT_NE(std::find(topic_names().begin(), topic_names().end(), grant.name),
                      topic_names().end())
                << grant.name;
        }
    }
}

TEST(Roles, HaveNamesByWhichTheyAreFound) {
    for (const Role role : kRoles) {
        const auto parsed = parse_role(to_string(role));
        ASSERT_TRUE(parsed) << parsed.error().message;
        EXPECT_EQ(*parsed, role);
    }
    const auto none = parse_role("root");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().reason, "unknown_role");
    EXPECT_NE(none.error().message.find("deciding-group-aware"), std::string::npos);
    EXPECT_EQ(to_string(kDescribeConfigs), "DESCRIBE_CONFIGS");
    EXPECT_EQ(to_string(kIdempotentWrite), "IDEMPOTENT_WRITE");
}

}  // namespace
}  // namespace rampart::streaming_kafka
