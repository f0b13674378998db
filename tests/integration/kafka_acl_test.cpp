// Rights on a real broker with an authorizer: what the table says is what each role needs, and
// `rampart topics acls` and `rampart topics check --acls` make and compare it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>

#include "rampart/base/file.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/node.hpp"
#include "support/kafka_admin.hpp"
#include "support/kafka_broker.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::streaming_kafka {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Duration;
using streaming::Offset;
using streaming::PartitionId;
using test_support::KafkaBroker;
using test_support::Ran;
using test_support::run_program;
using testing::HasSubstr;
using testing::Not;

/// The principals of these tests, each with a login.
const std::vector<std::string> kUsers{"decider", "trainer", "sender", "watcher", "maker", "guest"};

std::string principal_of(const std::string& user) { return "User:" + user; }

rd_kafka_AclOperation_t to_kafka(Operation operation) {
    for (int i = 0; i < RD_KAFKA_ACL_OPERATION__CNT; ++i) {
        const auto one = static_cast<rd_kafka_AclOperation_t>(i);
        if (rd_kafka_AclOperation_name(one) == to_string(operation)) return one;
    }
    ADD_FAILURE() << to_string(operation);
    return RD_KAFKA_ACL_OPERATION_UNKNOWN;
}

class KafkaAcl : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (!test_support::kafka_missing().empty()) return;
        broker_ = std::make_unique<KafkaBroker>(
            test_support::KafkaOptions{.secure = true, .acl = true, .users = kUsers});
        admin_ = TopicAdmin::open(as_super()).value();
        acls_ = std::make_unique<support::KafkaAdmin>(broker_->bootstrap());
    }
    static void TearDownTestSuite() {
        acls_.reset();
        admin_.reset();
        broker_.reset();
    }
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        prefix_ = test_support::unique_topic("acl") + "-";
        specs_ = wire::Topics::with_prefix(prefix_).specs(4);
        const auto made = admin_->create(specs_, 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    void TearDown() override {
        if (acls_ == nullptr) return;
        for (const auto& user : kUsers) acls_->remove_acls(principal_of(user));
        acls_->remove_acls("User:*");
    }

    /// Returns settings without a login: who connects in clear may do everything.
    static KafkaSettings as_super() {
        KafkaSettings settings;
        settings.bootstrap_servers = broker_->bootstrap();
        settings.request_timeout = Duration::seconds(15);
        return settings;
    }
    static KafkaSettings as(const std::string& user) {
        const auto& address = broker_->address();
        auto settings = as_super();
        settings.bootstrap_servers = address.sasl_ssl_bootstrap;
        settings.security = Security::kSaslTls;
        settings.sasl_mechanism = SaslMechanism::kPlain;
        settings.ca_file = address.ca;
        settings.user = user;
        settings.password_file = address.password_file;
        return settings;
    }
    /// Returns the options by which a command logs in as this user.
    static std::string login(const std::string& user) {
        const auto settings = as(user);
        return fmt::format(
            " --bootstrap {} --security sasl_tls --sasl-mechanism PLAIN --ca '{}' --user {} "
            "--password-file '{}'",
            settings.bootstrap_servers, settings.ca_file.string(), user,
            settings.password_file.string());
    }
    static Ran rampart(const std::string& words) {
        return run_program(test_support::bin_dir() + "/rampart " + words);
    }
    /// Asks as a super user.
    Ran check(const std::string& user, Role role, const std::string& more = "") const {
        return rampart(fmt::format(
            "topics check --acls --role {} --principal {} --prefix {} --bootstrap {} {}",
            to_string(role), principal_of(user), prefix_, broker_->bootstrap(), more));
    }
    std::string topic(std::string_view name) const { return prefix_ + std::string(name); }

    /// Adds an entry, and waits until the broker judges by it.
    static void put(const AclEntry& entry) {
        acls_->add_acl(
            entry.resource == Resource::kTopic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_BROKER,
            entry.name,
            entry.pattern == AclPattern::kPrefixed ? RD_KAFKA_RESOURCE_PATTERN_PREFIXED
                                                   : RD_KAFKA_RESOURCE_PATTERN_LITERAL,
            entry.principal, to_kafka(entry.operation),
            entry.allows ? RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW : RD_KAFKA_ACL_PERMISSION_TYPE_DENY);
        const auto there = [&] {
            const auto entries = admin_->acl_entries();
            return entries && std::find(entries->begin(), entries->end(), entry) != entries->end();
        };
        EXPECT_TRUE(test_support::kafka_detail::wait_until(there, std::chrono::seconds(20)));
    }
    AclEntry entry_for(const std::string& user, std::string_view name, Operation operation) const {
        return {Resource::kTopic,
                AclPattern::kLiteral,
                topic(name),
                principal_of(user),
                "*",
                operation,
                true};
    }
    /// Gives the user what the role needs, but for one right.
    void give(const std::string& user, Role role, std::string_view but_for = "",
              Operation operation = Operation::kUnknown) const {
        for (const auto& grant : grants_of(role)) {
            if (grant.old_brokers) continue;
            for (const Operation one : grant.operations) {
                if (grant.name == but_for && one == operation) continue;
                auto entry = entry_for(user, grant.name, one);
                entry.resource = grant.resource;
                if (grant.resource == Resource::kCluster) entry.name = grant.name;
                put(entry);
            }
        }
    }

    static std::unique_ptr<KafkaBroker> broker_;
    static std::unique_ptr<TopicAdmin> admin_;
    static std::unique_ptr<support::KafkaAdmin> acls_;
    std::string prefix_;
    std::vector<streaming::TopicSpec> specs_;
};
std::unique_ptr<KafkaBroker> KafkaAcl::broker_;
std::unique_ptr<TopicAdmin> KafkaAcl::admin_;
std::unique_ptr<support::KafkaAdmin> KafkaAcl::acls_;

TEST(KafkaAclTable, NamesTheTopicsThatThereAre) {
    std::vector<std::string> names(topic_names().begin(), topic_names().end()), wanted;
    for (const auto& spec : wire::Topics::with_prefix("").specs(1)) wanted.push_back(spec.name);
    EXPECT_EQ(names, wanted);
}

/// Runs lines of kafka-acls.sh by the class that this script runs, from the broker's jars.
Ran run_kafka_acls(const std::string& lines, const fs::path& folder) {
    fs::create_directories(folder);
    const auto jars = run_program(test_support::kafka_detail::kScript +
                                  " fetch --offline --version " + test_support::kafka_version());
    auto path = jars.output;
    while (!path.empty() && path.back() == '\n') path.pop_back();
    path = path.substr(path.rfind('\n') + 1);
    std::ofstream(folder / "kafka-acls.sh")
        << "#!/bin/sh\nexec ${JAVA_HOME:+$JAVA_HOME/bin/}java -Xmx128m -XX:+UseSerialGC "
           "-XX:TieredStopAtLevel=1 -cp '"
        << path << "/*' kafka.admin.AclCommand \"$@\"\n";
    fs::permissions(folder / "kafka-acls.sh", fs::perms::owner_all);
    std::ofstream(folder / "lines") << "set -e\n" << lines;
    return run_program(
        fmt::format("PATH='{}':\"$PATH\" sh '{}'", folder.string(), (folder / "lines").string()));
}

TEST_F(KafkaAcl, TheLinesThatAreShownGiveTheRightsAndTheCheckFindsThemGood) {
    const auto folder = fs::path(testing::TempDir()) / fmt::format("kafka_acls.{}", ::getpid());
    std::string lines;
    const std::map<std::string, Role> roles{{"decider", Role::kDeciding}, {"maker", Role::kAdmin}};
    for (const auto& [user, role] : roles) {
        EXPECT_EQ(check(user, role).exit_code, 2) << "there is no entry at all yet";
        const auto shown = rampart(
            fmt::format("topics acls --role {} --principal {} --prefix {} --bootstrap {} "
                        "--commands",
                        to_string(role), principal_of(user), prefix_, broker_->bootstrap()));
        ASSERT_EQ(shown.exit_code, 0) << shown.output;
        lines += shown.output;
    }
    const auto ran = run_kafka_acls(lines, folder);
    fs::remove_all(folder);
    ASSERT_EQ(ran.exit_code, 0) << lines << ran.output;
    for (const auto& [user, role] : roles) {
        Ran found;
        EXPECT_TRUE(test_support::kafka_detail::wait_until(
            [&] {
                found = check(user, role);
                return found.exit_code == 0;
            },
            std::chrono::seconds(20)))
            << lines << found.output;
        EXPECT_THAT(found.output, HasSubstr("0 missing, 0 too many"));
    }
}

TEST_F(KafkaAcl, ARightThatIsMissingIsNamedWithTheLineThatGivesIt) {
    give("decider", Role::kDeciding, "leases", Operation::kWrite);
    const auto found = check("decider", Role::kDeciding);
    EXPECT_EQ(found.exit_code, 1) << found.output;
    EXPECT_THAT(found.output, HasSubstr("1 missing, 0 too many"));
    EXPECT_THAT(found.output, HasSubstr("missing: WRITE on topic " + topic("leases")));
    EXPECT_THAT(found.output, HasSubstr("--add --allow-principal User:decider --operation Write "
                                        "--topic " +
                                        topic("leases")));
    const auto document =
        json::parse(check("decider", Role::kDeciding, "--json").output).as_object();
    EXPECT_EQ(document.at("good"), json::value(false));
    const auto& missing = document.at("missing").as_array();
    ASSERT_EQ(missing.size(), 1u);
    EXPECT_EQ(missing[0].as_object().at("operation"), json::value("WRITE"));
    EXPECT_EQ(missing[0].as_object().at("name"), json::value(topic("leases")));
    put(entry_for("decider", "leases", Operation::kWrite));
    EXPECT_EQ(check("decider", Role::kDeciding).exit_code, 0);
    auto denied = entry_for("decider", "leases", Operation::kRead);
    denied.allows = false;
    put(denied);
    const auto after = check("decider", Role::kDeciding);
    EXPECT_EQ(after.exit_code, 1);
    EXPECT_THAT(after.output, HasSubstr("missing: READ on topic " + topic("leases") +
                                        ": User:decider may not READ"));
}

TEST_F(KafkaAcl, ARightTooManyIsNamedWithTheEntryThatGivesIt) {
    give("decider", Role::kDeciding);
    ASSERT_EQ(check("decider", Role::kDeciding).exit_code, 0);
    put(entry_for("decider", "protected-attributes", Operation::kRead));
    auto found = check("decider", Role::kDeciding);
    EXPECT_EQ(found.exit_code, 1) << found.output;
    EXPECT_THAT(found.output, HasSubstr("0 missing, 1 too many"));
    EXPECT_THAT(found.output, HasSubstr("too many: READ on topic " + topic("protected-attributes") +
                                        ": User:decider may READ topic"));
    EXPECT_THAT(found.output, HasSubstr("--remove --force --allow-principal User:decider"));
    acls_->remove_acls("User:decider");
    // the rights of an earlier runbook
    for (const Operation one : {Operation::kRead, Operation::kWrite}) {
        auto all = entry_for("decider", "", one);
        all.pattern = AclPattern::kPrefixed;
        put(all);
    }
    found = check("decider", Role::kDeciding);
    EXPECT_EQ(found.exit_code, 1) << found.output;
    EXPECT_THAT(found.output, HasSubstr("too many: READ on topic " + topic("protected-attributes") +
                                        ": User:decider may READ topics that begin with"));
    EXPECT_THAT(found.output, HasSubstr("too many: WRITE on topic " + topic("policies")));
    EXPECT_THAT(found.output, HasSubstr(" --resource-pattern-type prefixed --topic " + prefix_));
    auto everyone = entry_for("*", "person-keys", Operation::kDelete);
    put(everyone);
    EXPECT_THAT(check("decider", Role::kDeciding).output,
                HasSubstr("too many: DELETE on topic " + topic("person-keys") + ": User:* may"));
}

TEST_F(KafkaAcl, WhoMayAskIsTheAuditorAndNotWhoHasNoRight) {
    give("watcher", Role::kAuditing);
    const auto ask = [&](const std::string& user) {
        return rampart(fmt::format(
            "topics check --acls --role auditing --principal User:watcher --prefix {}{}", prefix_,
            login(user)));
    };
    const auto seen = ask("watcher");
    EXPECT_EQ(seen.exit_code, 0) << seen.output;
    const auto topics =
        rampart(fmt::format("topics check --prefix {}{}", prefix_, login("watcher")));
    EXPECT_EQ(topics.exit_code, 0) << topics.output;
    const auto refused = ask("guest");
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("DESCRIBE on the cluster"));
    const auto error = TopicAdmin::open(as("guest")).value()->acl_entries();
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().reason, "no_access_lists") << error.error().message;
}

TEST_F(KafkaAcl, ABrokerWithoutAnAuthorizerIsSaidToHaveNone) {
    const auto open =
        rampart("topics check --acls --role deciding --principal User:decider --bootstrap " +
                test_support::shared_kafka().bootstrap);
    EXPECT_EQ(open.exit_code, 2) << open.output;
    EXPECT_THAT(open.output, HasSubstr("authorizer.class.name"));
    KafkaSettings settings;
    settings.bootstrap_servers = test_support::shared_kafka().bootstrap;
    const auto error = TopicAdmin::open(settings).value()->acl_entries();
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().reason, "no_access_lists") << error.error().message;
}

TEST_F(KafkaAcl, WrongWordsAreMisuse) {
    for (const std::string words :
         {"check --acls --role root --principal User:x", "check --acls --role deciding",
          "check --acls --role deciding --principal x", "check --role deciding --principal User:x",
          "acls --commands", "acls --role root", "acls --principal User:x"}) {
        const bool asks = words.starts_with("check");
        const auto ran = rampart("topics " + words +
                                 (asks ? " --bootstrap " + broker_->bootstrap() : std::string()));
        EXPECT_EQ(ran.exit_code, 2) << words << ran.output;
    }
}

/// Reads and writes each topic as the user; a right that the role has not must fail.
TEST_F(KafkaAcl, TheBrokerGivesEachRoleWhatTheTableSaysAndNoMore) {
    const std::map<std::string, Role> roles{{"decider", Role::kDeciding},
                                            {"trainer", Role::kTraining},
                                            {"sender", Role::kProducingApplications},
                                            {"watcher", Role::kAuditing}};
    // where there is nothing to read, a reader need not ask for it
    const streaming::Record record{"k", "v", base::TimePoint::from_micros(1'000'000), {}};
    KafkaSettings everyone;
    everyone.bootstrap_servers = broker_->bootstrap();
    const auto first = KafkaWriter::open(everyone).value();
    for (const auto name : topic_names())
        ASSERT_TRUE(first->append_to(topic(name), PartitionId(0), {&record, 1}));
    for (const auto& [user, role] : roles) {
        give(user, role);
        auto settings = as(user);
        settings.delivery_timeout = Duration::seconds(3);
        const auto reader = KafkaReader::open(settings).value();
        auto writer = KafkaWriter::open(settings).value();
        for (const auto name : topic_names()) {
            std::vector<Operation> operations;
            for (const auto& grant : grants_of(role))
                if (grant.name == name) operations = grant.operations;
            const auto may = [&](Operation one) {
                return std::find(operations.begin(), operations.end(), one) != operations.end();
            };
            const auto where = fmt::format("{} {}", user, name);
            EXPECT_EQ(reader->partitions(topic(name)).has_value(), !operations.empty()) << where;
            const auto read = reader->read(topic(name), PartitionId(0), Offset(0), 1);
            EXPECT_EQ(read.has_value(), may(Operation::kRead)) << where;
            if (!read) {
                EXPECT_EQ(read.error().reason, "not_authorized") << where;
            }
            const auto written = writer->append_to(topic(name), PartitionId(0), {&record, 1});
            EXPECT_EQ(written.has_value(), may(Operation::kWrite))
                << where << (written ? "" : written.error().message);
            if (!written) writer = KafkaWriter::open(settings).value();
        }
    }
}

/// Two nodes of a group, each with a principal of its own.
class KafkaAclNodes : public KafkaAcl {
  protected:
    void SetUp() override {
        KafkaAcl::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        folder_ = fs::path(testing::TempDir()) / fmt::format("kafka_acl_nodes.{}", ::getpid());
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 200;
        stream_ = loan_stream::load(options).value();
    }
    void TearDown() override {
        KafkaAcl::TearDown();
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    rampartd::Settings settings(const std::string& user, const std::string& partitions,
                                const std::string& training = "") {
        const auto kafka = as(user);
        const auto workspace =
            demo::prepare_workspace(folder_ / user, test_support::source_dir() + "/ops/config",
                                    stream_, 5, demo::KafkaBroker{kafka.bootstrap_servers, prefix_})
                .value();
        auto text = base::read_file(workspace.config, 1 << 20).value();
        const size_t schedule = text.find("every_months = ");  // no runs: there is too little data
        text.replace(schedule, text.find_first_of(" #\n", schedule + 15) - schedule,
                     "every_months = 120");
        const auto insert = [&](const std::string& line, const std::string& more) {
            const size_t at = text.find(line);
            ASSERT_NE(at, std::string::npos) << line;
            text.insert(at + line.size(), more);
        };
        insert("\n[training]\n", training);
        insert("\npartitions = 4\n", partitions + "\n");
        insert("\n[kafka]\n",
               fmt::format("security = \"sasl_tls\"\nsasl_mechanism = \"PLAIN\"\n"
                           "ca_file = \"{}\"\nuser = \"{}\"\npassword_file = \"{}\"\n",
                           kafka.ca_file.string(), user, kafka.password_file.string()));
        text.replace(text.find("node = \"demo\""), 13, fmt::format("node = \"{}\"", user));
        EXPECT_TRUE(base::write_file_atomically(workspace.config, text));
        const auto loaded = rampartd::load_settings(workspace.config);
        EXPECT_TRUE(loaded) << loaded.error().message;
        return loaded.value();
    }
    rampartd::Settings trainer() { return settings("trainer", "own = [0, 1]\nfollow = [2, 3]"); }
    rampartd::Settings decider() {
        return settings("decider", "own = [2, 3]",
                        "enabled = false\ngate_key = \"../trainer/store/gate.pub.pem\"\n");
    }
    /// Decides all applications of the partitions that the node owns, reports an outcome of each
    /// approved one, and reads everything.
    size_t serve(rampartd::Node& node, const std::set<int32_t>& partitions) {
        EXPECT_TRUE(node.keep_leases());
        size_t decided = 0;
        for (const auto& applicant : stream_.applicants) {
            const auto& application = applicant.application;
            const auto home = node.decisions().partition_of(application.id).value();
            if (!partitions.contains(home)) continue;
            const auto decisions = node.decisions().decide(std::span(&application, 1));
            EXPECT_TRUE(decisions) << decisions.error().message;
            if (!decisions) return decided;
            ++decided;
            if (decisions->front().action != domain::Action::kApprove) continue;
            const domain::Outcome outcome{decisions->front().id, "repaid", 0, 1,
                                          application.event_time + Duration::days(30)};
            const auto reported = node.decisions().submit_outcomes(std::span(&outcome, 1));
            EXPECT_TRUE(reported) << reported.error().message;
        }
        const auto end = base::add_months(stream_.applicants.back().application.event_time, 36);
        const auto status = node.advance(end);
        EXPECT_TRUE(status) << status.error().message;
        return decided;
    }
    static http::Response ask(rampartd::Node& node, const std::string& method,
                              const std::string& path, const std::string& body = "") {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node.add_routes(router);
        http::Request request;
        request.method = method;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = body;
        EXPECT_TRUE(http::parse_target(path, request));
        return router.handle(std::move(request));
    }
    static http::Response state_attributes(rampartd::Node& node) {
        return ask(node, "POST", "/v1/protected-attributes",
                   R"({"person_id":"p-1","event_time":"2024-01-01T00:00:00Z",)"
                   R"("attributes":{"race":"white"}})");
    }

    fs::path folder_;
    loan_stream::Stream stream_;
};

TEST_F(KafkaAclNodes, ServeWithExactlyTheRightsOfTheirRoles) {
    give("trainer", Role::kTraining);
    give("decider", Role::kDeciding);
    const auto a = rampartd::Node::open(trainer());
    ASSERT_TRUE(a) << a.error().message;
    EXPECT_FALSE(decider().log.attributes) << "group-blind, and another node trains";
    const auto b = rampartd::Node::open(decider());
    ASSERT_TRUE(b) << b.error().message;
    EXPECT_GT(serve(**a, {0, 1}), 20u);
    const auto by_b = serve(**b, {2, 3});
    EXPECT_GT(by_b, 20u);
    EXPECT_TRUE((*a)->release());
    EXPECT_EQ((*b)->decisions().policy()->id(), (*a)->decisions().policy()->id());
    EXPECT_EQ((*b)->joiner().counts().decisions, by_b);
    const auto there = state_attributes(**a);
    EXPECT_EQ(there.status, 200) << there.body;
    const auto elsewhere = state_attributes(**b);
    EXPECT_EQ(elsewhere.status, 409) << elsewhere.body;
    EXPECT_THAT(elsewhere.body, HasSubstr("attributes_elsewhere"));
    EXPECT_TRUE((*b)->advance((*b)->now() + Duration::days(1)));
    EXPECT_EQ(check("trainer", Role::kTraining).exit_code, 0);
    EXPECT_EQ(check("decider", Role::kDeciding).exit_code, 0);
}

TEST_F(KafkaAclNodes, WithoutOneReadRightANodeDoesNotServe) {
    give("trainer", Role::kTraining);
    const auto a = rampartd::Node::open(trainer());
    ASSERT_TRUE(a) << a.error().message;
    give("decider", Role::kDeciding, "decisions", Operation::kRead);
    const auto without = rampartd::Node::open(decider());
    ASSERT_FALSE(without) << "it may write decisions and not read them";
    EXPECT_EQ(without.error().reason, "not_authorized") << without.error().message;
    EXPECT_THAT(without.error().message, HasSubstr(topic("decisions")));
    put(entry_for("decider", "decisions", Operation::kRead));
    const auto with = rampartd::Node::open(decider());
    EXPECT_TRUE(with) << with.error().message;
}

TEST_F(KafkaAclNodes, WithoutTheRightToSeeSettingsANodeServesDegradedAndChecksTheOthers) {
    give("trainer", Role::kTraining, "outcomes", Operation::kDescribeConfigs);
    {
        const auto node = rampartd::Node::open(trainer());
        ASSERT_TRUE(node) << node.error().message;
        const auto ready = ask(**node, "GET", "/readyz");
        EXPECT_EQ(ready.status, 200);
        EXPECT_THAT(ready.body, HasSubstr("{\"name\":\"topics\",\"ok\":false"));
        EXPECT_THAT(ready.body, HasSubstr("the configuration of topic '" + topic("outcomes")));
        EXPECT_TRUE((*node)->release());
    }
    acls_->set(topic("decisions"), {{"retention.ms", "86400000"}});
    const auto refused = rampartd::Node::open(trainer());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "topic_loses_records") << refused.error().message;
}

}  // namespace
}  // namespace rampart::streaming_kafka
