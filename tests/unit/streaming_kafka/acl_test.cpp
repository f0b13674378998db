#include "rampart/streaming_kafka/acl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rampart::streaming_kafka {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum Operation;

constexpr const char* kMe = "User:node";

AclEntry allow(std::string topic, Operation operation) {
    return {Resource::kTopic, AclPattern::kLiteral, std::move(topic), kMe, "*", operation, true};
}
AclEntry deny(std::string topic, Operation operation) {
    auto entry = allow(std::move(topic), operation);
    entry.allows = false;
    return entry;
}
AclEntry on_cluster(Operation operation) {
    return {Resource::kCluster, AclPattern::kLiteral, "kafka-cluster", kMe, "*", operation, true};
}
AclEntry prefixed(AclEntry entry) {
    entry.pattern = AclPattern::kPrefixed;
    return entry;
}
AclEntry from(AclEntry entry, std::string host) {
    entry.host = std::move(host);
    return entry;
}
AclEntry of_all_users(AclEntry entry) {
    entry.principal = "User:*";
    return entry;
}

/// Returns an entry for each right that the role needs, as the table has them.
std::vector<AclEntry> exactly(Role role, bool old_brokers = false) {
    std::vector<AclEntry> entries;
    for (const auto& grant : grants_of(role)) {
        if (grant.old_brokers && !old_brokers) continue;
        for (const Operation one : grant.operations)
            entries.push_back(grant.resource == Resource::kCluster
                                  ? on_cluster(one)
                                  : allow("loans-" + std::string(grant.name), one));
    }
    return entries;
}

/// Compares, as lines.
struct Compared {
    std::vector<std::string> missing, extra;
};
Compared compare(AclSubject subject, const std::vector<AclEntry>& entries) {
    subject.principal = kMe;
    subject.prefix = "loans-";
    const auto found = compare_rights(subject, entries);
    Compared lines;
    for (const auto& right : found.missing)
        lines.missing.push_back(fmt::format("{} {}{}", to_string(right.operation), right.name,
                                            right.denied_by ? " denied" : ""));
    for (const auto& right : found.extra) {
        std::string line;
        for (const Operation one : right.operations) line += std::string(to_string(one)) + " ";
        lines.extra.push_back(line + right.name);
    }
    EXPECT_EQ(found.good(), lines.missing.empty() && lines.extra.empty());
    return lines;
}
Compared compare(Role role, const std::vector<AclEntry>& entries) {
    return compare(AclSubject{.role = role}, entries);
}
std::vector<AclEntry> with(std::vector<AclEntry> entries, const AclEntry& more) {
    entries.push_back(more);
    return entries;
}
std::vector<AclEntry> without(std::vector<AclEntry> entries, const AclEntry& less) {
    EXPECT_EQ(std::erase(entries, less), 1u);
    return entries;
}

TEST(Acl, ExactlyTheRightsOfARoleAreGood) {
    for (const Role role : kRoles) {
        const auto found = compare(role, exactly(role));
        EXPECT_THAT(found.missing, IsEmpty()) << to_string(role);
        EXPECT_THAT(found.extra, IsEmpty()) << to_string(role);
    }
}

TEST(Acl, EachRightThatIsNotThereIsMissing) {
    for (const Role role : kRoles) {
        const auto all = exactly(role);
        for (const auto& entry : all) {
            const auto found = compare(role, without(all, entry));
            EXPECT_THAT(found.missing,
                        ElementsAre(fmt::format("{} {}", to_string(entry.operation), entry.name)))
                << to_string(role);
            EXPECT_THAT(found.extra, IsEmpty());
        }
    }
}

TEST(Acl, EachRightThatTheRoleLacksIsTooMany) {
    const auto role = Role::kDeciding;
    const auto all = exactly(role);
    for (const Operation one : {kRead, kWrite, kDescribe, kDescribeConfigs, kDelete, kCreate})
        EXPECT_THAT(compare(role, with(all, allow("loans-protected-attributes", one))).extra,
                    ElementsAre(fmt::format("{} loans-protected-attributes", to_string(one))));
    EXPECT_THAT(compare(role, with(all, allow("loans-policies", kWrite))).extra,
                ElementsAre("WRITE loans-policies"));
    EXPECT_THAT(compare(role, with(all, allow("loans-decisions", kAlterConfigs))).extra,
                ElementsAre("ALTER_CONFIGS loans-decisions"));
    EXPECT_THAT(compare(role, with(all, on_cluster(kAlter))).extra,
                ElementsAre("ALTER kafka-cluster"));
    EXPECT_THAT(compare(role, with(all, allow("loans-decisions", kDescribe))).extra, IsEmpty())
        << "it comes with READ";
}

TEST(Acl, PatternsCountForEachTopicThatTheyCover) {
    const auto role = Role::kProducingOutcomes;
    const auto one = exactly(role);
    EXPECT_THAT(compare(role, {prefixed(allow("loans-", kWrite))}).missing, IsEmpty());
    EXPECT_EQ(compare(role, {prefixed(allow("loans-", kWrite))}).extra.size(), 7u);
    EXPECT_THAT(compare(role, with(one, prefixed(allow("loans-p", kRead)))).extra,
                ElementsAre("READ loans-protected-attributes", "READ loans-policies",
                            "READ loans-person-keys"));
    EXPECT_EQ(compare(role, with(one, allow("*", kRead))).extra.size(), 8u);
    EXPECT_EQ(compare(role, with(one, prefixed(allow("", kRead)))).extra.size(), 8u);
    EXPECT_THAT(compare(role, with(one, prefixed(allow("*", kRead)))).extra, IsEmpty())
        << "as a prefix it is a name";
    EXPECT_THAT(compare(role, with(one, allow("loans-", kRead))).extra, IsEmpty())
        << "literal: another topic";
    EXPECT_THAT(compare(role, with(one, allow("other-decisions", kRead))).extra, IsEmpty())
        << "another deployment's";
    EXPECT_THAT(compare(role, with(one, allow("loans-outcomes", kAll))).extra,
                ElementsAre("READ CREATE DELETE ALTER ALTER_CONFIGS loans-outcomes"));
}

TEST(Acl, RightsOfAllUsersAreThePrincipalsToo) {
    const auto role = Role::kProducingOutcomes;
    EXPECT_THAT(compare(role, {of_all_users(allow("loans-outcomes", kWrite))}).missing, IsEmpty());
    EXPECT_THAT(
        compare(role, with(exactly(role), of_all_users(allow("loans-leases", kWrite)))).extra,
        ElementsAre("WRITE loans-leases"));
    auto others = allow("loans-leases", kWrite);
    others.principal = "User:other";
    EXPECT_THAT(compare(role, with(exactly(role), others)).extra, IsEmpty());
    others.principal = "Group:*";
    EXPECT_THAT(compare(role, with(exactly(role), others)).extra, IsEmpty());
}

TEST(Acl, WhatDeniesCountsFirst) {
    const auto role = Role::kProducingOutcomes;
    const auto all = exactly(role);
    EXPECT_THAT(compare(role, with(all, deny("loans-outcomes", kWrite))).missing,
                ElementsAre("WRITE loans-outcomes denied"));
    EXPECT_THAT(compare(role, with(all, prefixed(deny("loans-", kAll)))).missing,
                ElementsAre("WRITE loans-outcomes denied"));
    EXPECT_THAT(compare(role, with(all, deny("loans-outcomes", kDescribe))).missing,
                ElementsAre("DESCRIBE loans-outcomes denied"))
        << "the client asks for the topic's partitions";
    EXPECT_THAT(compare(role, with(all, of_all_users(deny("*", kWrite)))).missing,
                ElementsAre("WRITE loans-outcomes denied"));
    EXPECT_THAT(compare(role, with(all, deny("loans-outcomes", kRead))).missing, IsEmpty());
}

TEST(Acl, WhatIsDeniedIsNotTooMany) {
    const auto role = Role::kProducingOutcomes;
    auto wide = with(exactly(role), allow("loans-leases", kRead));
    EXPECT_THAT(compare(role, wide).extra, ElementsAre("READ loans-leases"));
    EXPECT_THAT(compare(role, with(wide, deny("loans-leases", kRead))).extra,
                ElementsAre("DESCRIBE loans-leases"))
        << "it came with READ, and is not denied";
    EXPECT_THAT(compare(role, with(wide, deny("loans-leases", kAll))).extra, IsEmpty());
    EXPECT_THAT(compare(role, with(wide, from(deny("loans-leases", kAll), "10.0.0.9"))).extra,
                ElementsAre("READ loans-leases"))
        << "from elsewhere it is allowed";
}

TEST(Acl, AHostsRightIsNoRightOfAll) {
    const auto role = Role::kProducingOutcomes;
    const std::vector<AclEntry> there{from(allow("loans-outcomes", kWrite), "10.0.0.7")};
    EXPECT_THAT(compare(role, there).missing, ElementsAre("WRITE loans-outcomes"));
    EXPECT_THAT(compare({.role = role, .host = "10.0.0.7"}, there).missing, IsEmpty());
    EXPECT_THAT(compare({.role = role, .host = "10.0.0.8"}, there).missing,
                ElementsAre("WRITE loans-outcomes"));
    const auto denied = with(exactly(role), from(deny("loans-outcomes", kWrite), "10.0.0.7"));
    EXPECT_EQ(compare(role, denied).missing.size(), 1u);
    EXPECT_EQ(compare({.role = role, .host = "10.0.0.7"}, denied).missing.size(), 1u);
    EXPECT_THAT(compare({.role = role, .host = "10.0.0.8"}, denied).missing, IsEmpty());
    EXPECT_THAT(
        compare(role, with(exactly(role), from(allow("loans-leases", kRead), "10.0.0.7"))).extra,
        ElementsAre("READ loans-leases"));
}

TEST(Acl, OldBrokersWantIdempotentWriteAndNewOnesDoNotMind) {
    const auto role = Role::kProducingOutcomes;
    const AclSubject old{.role = role, .old_brokers = true};
    EXPECT_THAT(compare(old, exactly(role)).missing, ElementsAre("IDEMPOTENT_WRITE kafka-cluster"));
    EXPECT_THAT(compare(old, exactly(role, true)).missing, IsEmpty());
    EXPECT_THAT(compare(role, exactly(role, true)).extra, IsEmpty());
    EXPECT_THAT(
        compare(Role::kAuditing, with(exactly(Role::kAuditing), on_cluster(kIdempotentWrite)))
            .extra,
        ElementsAre("IDEMPOTENT_WRITE kafka-cluster"));
}

TEST(Acl, CreateOnTheClusterMakesTopics) {
    const auto role = Role::kAdmin;
    auto entries = exactly(role);
    std::erase_if(entries, [](const AclEntry& entry) { return entry.operation == kCreate; });
    EXPECT_EQ(compare(role, entries).missing.size(), 8u);
    const auto found = compare(role, with(entries, on_cluster(kCreate)));
    EXPECT_THAT(found.missing, IsEmpty());
    EXPECT_THAT(found.extra, ElementsAre("CREATE kafka-cluster")) << "of any name";
}

TEST(Acl, EntriesAreSaidInWords) {
    EXPECT_EQ(to_string(allow("loans-leases", kRead)), "User:node may READ topic 'loans-leases'");
    EXPECT_EQ(to_string(from(prefixed(deny("loans-", kAll)), "10.0.0.7")),
              "User:node may not ALL topics that begin with 'loans-', from 10.0.0.7");
    EXPECT_EQ(to_string(allow("*", kWrite)), "User:node may WRITE all topics");
    EXPECT_EQ(to_string(on_cluster(kDescribe)), "User:node may DESCRIBE the cluster");
}

TEST(Acl, APrincipalIsATypeAndAName) {
    for (const char* good : {"User:node", "User:CN=node,O=lender", "Group:a:b"})
        EXPECT_TRUE(validate(AclSubject{.principal = good})) << good;
    for (const std::string& bad :
         {std::string("node"), std::string(""), std::string(":node"), std::string("User:"),
          std::string("User:a\nb"), "User:" + std::string(2000, 'x')}) {
        const auto status = validate(AclSubject{.principal = bad});
        ASSERT_FALSE(status) << bad;
        EXPECT_EQ(status.error().reason, "bad_kafka_principal");
    }
}

}  // namespace
}  // namespace rampart::streaming_kafka
