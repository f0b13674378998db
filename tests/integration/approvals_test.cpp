// Certified policies that wait for people, as a story: two candidates, of which one expires and one
// is approved by two principals, over kill -9, by commands and by HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

const std::string kProgram = test_support::bin_dir() + "/rampart";

class Approvals : public testing::Test {
  protected:
    struct Certified {
        std::string model, file;
    };

    Approvals() : Approvals("event", base::parse_iso8601("2006-01-01").value()) {}
    Approvals(const std::string& clock, base::TimePoint start)
        : folder_(fs::path(testing::TempDir()) /
                  ("approvals" + base::to_hex(base::random_bytes(8)))) {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 1)
                .value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        const std::string section = "[training]\n";
        config.replace(config.find(section), section.size(),
                       section + "on_certified = \"propose\"\napprovals = 2\nproposal_days = 14\n");
        const std::string event = "mode = \"event\"";
        config.replace(config.find(event), event.size(), "mode = \"" + clock + "\"");
        EXPECT_TRUE(base::write_file_atomically(workspace_.config, config));
        const auto node = Node::open(load_settings(workspace_.config).value()).value();
        const auto began = node->advance(start);
        EXPECT_TRUE(began) << began.error().message;
        late_ = certify(*node, 50, "late");
        good_ = certify(*node, 60, "good");
        first_ = node->registry().champion()->policy.value();
    }
    ~Approvals() override { fs::remove_all(folder_); }

    /// Registers a policy and has it certified, as a run of the gate does; writes the files.
    Certified certify(Node& node, double score, const std::string& name) {
        const auto reference = node.registry().champion()->policy;
        const auto loaded = node.registry().load_model(reference).value();
        auto links = loaded.policy.links();
        auto link = support::scored_link(score);
        link.ramp = {0.3, 0.5, {0.0}, {1.0}};
        links.emplace_back(link);
        return certify(node, support::explained_policy(loaded.policy.schema(), links), name);
    }
    Certified certify(Node& node, const model::Policy& policy, const std::string& name) {
        namespace gate = registry::testing;
        auto& registry = node.registry();
        const auto reference = registry.champion()->policy;
        const auto id =
            registry.register_model(model::encode_model_file(policy), node.now(), "a test").value();
        const auto run = gate::run_gate(id.value(), reference.value(), node.keys().signing,
                                        registry.ledger_entries().value(), 0.75, 0.25, 8,
                                        node.now() - gate::at(4));
        EXPECT_EQ(run.verdict, certification::Verdict::kCertified);
        for (size_t i = 0; i < run.ledger.size(); ++i)
            EXPECT_TRUE(registry.append_ledger_entries(i, std::vector<std::string>{run.ledger[i]},
                                                       node.now(), "gate"));
        const auto key = node.keys().signing.public_key();
        EXPECT_TRUE(registry.store_certificate({run.files.certificate, run.files.evidence, key},
                                               node.now(), "gate"));
        const auto file = folder_ / (name + ".cert");
        EXPECT_TRUE(base::write_file_atomically(file, run.files.certificate));
        EXPECT_TRUE(base::write_file_atomically(folder_ / (name + ".jsonl"), run.files.evidence));
        return {id.value(), file.string()};
    }
    /// Proposes, as people do after the first proposal of a certificate has ended, too.
    test_support::Ran promote(const Certified& what, const std::string& name) {
        return as("petra",
                  fmt::format("promote --model {} --certificate {} --evidence {} --actor "
                              "petra",
                              what.model, what.file, (folder_ / (name + ".jsonl")).string()));
    }
    demo::ServiceProcess start() {
        auto process = demo::ServiceProcess::start(kProgram, workspace_.config,
                                                   workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    http::Client client() const {
        auto endpoint = base::read_file(workspace_.endpoint_file, 256).value();
        endpoint.pop_back();
        return http::Client::create(endpoint, {.token = workspace_.token}).value();
    }
    /// Runs a command with the token of a principal.
    test_support::Ran as(const std::string& who, const std::string& arguments) const {
        return test_support::run_program(fmt::format("RAMPART_TOKEN_FILE={} {} {} --config {}",
                                                     (folder_ / who).string(), kProgram, arguments,
                                                     workspace_.config.string()));
    }
    test_support::Ran approve(const std::string& who, int number, const std::string& digest,
                              const std::string& more = "") const {
        return as(who, fmt::format("proposal approve {} --digest {} --comment 'board, {}'{}",
                                   number, digest, who, more));
    }
    void make_token(const std::string& who, const std::string& scopes) {
        const auto made = test_support::run_program(
            fmt::format("{} token create {} {} --out {} --config {}", kProgram, who, scopes,
                        (folder_ / who).string(), workspace_.config.string()));
        ASSERT_EQ(made.exit_code, 0) << made.output;
    }
    json::object proposal(int number) const {
        const auto answer = client().get(fmt::format("/v1/proposals/{}", number)).value();
        EXPECT_EQ(answer.status, 200) << answer.body;
        return json::parse(answer.body).at("proposal").as_object();
    }
    std::string digest_of(int number) const {
        return std::string(proposal(number).at("digest").as_string());
    }
    std::string deciding() const { return client().get("/v1/policy").value().body; }
    void move_clock(const std::string& time) const {
        const auto moved = client().post("/v1/clock", fmt::format(R"({{"now":"{}"}})", time));
        ASSERT_EQ(moved->status, 200) << moved->body;
    }

    fs::path folder_;
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    Certified late_, good_;
    std::string first_;
};

TEST_F(Approvals, OneExpiresAndOneIsApprovedByTwo) {
    for (const char* who : {"anna", "bert", "petra"})
        make_token(who, "--scope approve --scope read --scope operate");
    make_token("rita", "--scope read");

    // the first candidate waits for too long
    const auto proposed = promote(late_, "late");
    ASSERT_EQ(proposed.exit_code, 0) << proposed.output;
    EXPECT_THAT(proposed.output, HasSubstr("proposal 1: waiting"));
    auto process = start();
    EXPECT_THAT(deciding(), HasSubstr(first_)) << "what is proposed does not decide";
    EXPECT_EQ(approve("anna", 1, digest_of(1)).exit_code, 0);
    move_clock("2006-01-16");
    EXPECT_EQ(proposal(1).at("state"), "expired");
    const auto too_late = approve("bert", 1, digest_of(1));
    EXPECT_NE(too_late.exit_code, 0);
    EXPECT_THAT(too_late.output, HasSubstr("proposal 1 is expired"));
    EXPECT_THAT(deciding(), HasSubstr(first_));
    ASSERT_TRUE(process.stop());

    // the second one is seen and approved
    ASSERT_EQ(promote(good_, "good").exit_code, 0);
    process = start();
    const auto digest = digest_of(2);
    EXPECT_THAT(client().get("/metrics")->body, HasSubstr("rampart_proposals_waiting 1"));
    EXPECT_NE(approve("rita", 2, digest).exit_code, 0) << "who may read may not approve";
    EXPECT_THAT(approve("petra", 2, digest).output, HasSubstr("was proposed by petra"));
    EXPECT_THAT(approve("anna", 2, digest_of(1)).output, HasSubstr("is not that of proposal 2"));
    EXPECT_EQ(approve("anna", 2, digest).exit_code, 0);
    EXPECT_THAT(deciding(), HasSubstr(first_)) << "the first alone does not switch";
    EXPECT_THAT(approve("anna", 2, digest).output, HasSubstr("has approved proposal 2 already"));
    process.kill();
    process = start();
    EXPECT_EQ(proposal(2).at("approvals").as_array().size(), 1u);
    EXPECT_THAT(deciding(), HasSubstr(first_));
    const auto switched = approve("bert", 2, digest);
    ASSERT_EQ(switched.exit_code, 0) << switched.output;
    EXPECT_THAT(switched.output, HasSubstr("2 of 2 approvals (anna, bert)"));
    EXPECT_THAT(deciding(), HasSubstr(good_.model)) << "when the answer is there, it decides";
    process.kill();
    process = start();
    EXPECT_THAT(deciding(), HasSubstr(good_.model));

    // who let that policy decide, when, and on what evidence
    const auto live = client().get("/v1/policies/at?time=2099-01-01").value();
    EXPECT_THAT(live.body, HasSubstr(R"("proposed_by":"petra")"));
    const auto at = test_support::run_program(
        fmt::format("{} registry at 2099-01-01 --store {}", kProgram, workspace_.store.string()));
    EXPECT_THAT(at.output, HasSubstr("by anna at 2006-01-16T00:00:00Z: board, anna"));
    EXPECT_THAT(at.output, HasSubstr("by bert"));
    const auto audit = test_support::run_program(
        fmt::format("{} audit list --store {} --object 2", kProgram, workspace_.store.string()));
    for (const char* action : {"open_proposal", "approve_proposal", "promote"})
        EXPECT_THAT(audit.output, HasSubstr(action));
    const auto listed = as("rita", "proposal list");
    EXPECT_THAT(listed.output, HasSubstr("approved"));
    EXPECT_THAT(listed.output, HasSubstr("expired"));
    const auto again = as("anna", "proposal reject 2 --digest " + digest + " --comment late");
    EXPECT_THAT(again.output, HasSubstr("proposal 2 is approved"));
}

TEST_F(Approvals, ASwitchIsScheduledAndComesAfterAKill) {
    for (const char* who : {"anna", "bert", "petra"})
        make_token(who, "--scope approve --scope read --scope operate");
    ASSERT_EQ(promote(good_, "good").exit_code, 0);
    auto process = start();
    const auto digest = digest_of(1);
    const auto empty = approve("anna", 1, digest, " --switch-at ''");
    EXPECT_EQ(empty.exit_code, 2) << "an empty time is not at once: " << empty.output;
    EXPECT_EQ(approve("anna", 1, digest, " --switch-at 2006-01-05").exit_code, 0);
    EXPECT_THAT(approve("bert", 1, digest).output, HasSubstr("name the same"));
    const auto both = approve("bert", 1, digest, " --switch-at 2006-01-05");
    ASSERT_EQ(both.exit_code, 0) << both.output;
    EXPECT_THAT(both.output, HasSubstr("scheduled (2006-01-05T00:00:00Z)"));
    move_clock("2006-01-04T23:59:59Z");
    EXPECT_THAT(deciding(), HasSubstr(first_));
    process.kill();
    process = start();
    EXPECT_EQ(proposal(1).at("state"), "scheduled");
    EXPECT_THAT(as("anna", "proposal list").output, HasSubstr("scheduled"));
    EXPECT_THAT(client().get("/metrics")->body, HasSubstr("rampart_proposals_waiting 0"));
    move_clock("2006-01-05T00:00:00Z");
    EXPECT_THAT(deciding(), HasSubstr(good_.model)) << "when the clock is there, it decides";
    EXPECT_EQ(proposal(1).at("state"), "approved");
    const auto at = test_support::run_program(
        fmt::format("{} registry at 2099-01-01 --store {}", kProgram, workspace_.store.string()));
    EXPECT_THAT(at.output, HasSubstr("by anna"));
    EXPECT_THAT(at.output, HasSubstr("by bert"));
    process.kill();
    process = start();
    EXPECT_THAT(deciding(), HasSubstr(good_.model));
}

class ApprovalsByTheWallClock : public Approvals {
  protected:
    ApprovalsByTheWallClock() : Approvals("system", runtime::SystemClock().now()) {}
};

TEST_F(ApprovalsByTheWallClock, AScheduledSwitchComesByItself) {
    for (const char* who : {"anna", "bert", "petra"})
        make_token(who, "--scope approve --scope read --scope operate");
    ASSERT_EQ(promote(good_, "good").exit_code, 0);
    const auto process = start();
    const auto digest = digest_of(1);
    const runtime::SystemClock clock;
    const auto at = base::TimePoint::from_micros(
        (clock.now() + base::Duration::seconds(30)).micros() / 1'000'000 * 1'000'000);
    for (const char* who : {"anna", "bert"}) {
        const auto ran = approve(who, 1, digest, " --switch-at " + base::to_iso8601(at));
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
    }
    for (bool switched = false; !switched;) {
        const auto asked = clock.now();
        switched = deciding().find(good_.model) != std::string::npos;
        EXPECT_TRUE(!switched || clock.now() >= at) << "it came before its time";
        ASSERT_LT(asked, at + base::Duration::seconds(120)) << "it never came";
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(proposal(1).at("state"), "approved");
}

TEST_F(Approvals, OfTwoScheduledOneThatCannotBeMadeStarvesNoOther) {
    for (const char* who : {"anna", "bert", "petra"})
        make_token(who, "--scope approve --scope read --scope operate");
    ASSERT_EQ(promote(late_, "late").exit_code, 0);
    ASSERT_EQ(promote(good_, "good").exit_code, 0);
    const auto process = start();
    const auto schedule = [&](int number, const std::string& at) {
        for (const char* who : {"anna", "bert"}) {
            const auto ran = approve(who, number, digest_of(number), " --switch-at " + at);
            EXPECT_EQ(ran.exit_code, 0) << ran.output;
        }
    };
    schedule(1, "2006-01-05");
    schedule(2, "2006-01-05T00:10:00Z");
    fs::rename(workspace_.store / "registry" / "models" / (late_.model + ".rmp"),
               folder_ / "late.rmp");
    const auto due = client().post("/v1/clock", R"({"now":"2006-01-05T00:05:00Z"})").value();
    EXPECT_NE(due.status, 200) << "its model file is gone";
    EXPECT_THAT(deciding(), HasSubstr(first_));
    EXPECT_EQ(proposal(1).at("state"), "scheduled");
    move_clock("2006-01-05T00:15:00Z");
    EXPECT_THAT(deciding(), HasSubstr(good_.model));
    EXPECT_EQ(proposal(1).at("why"), "champion_changed");
}

/// Challengers: certified policies that decide beside the champion.
class Challengers : public Approvals {
  protected:
    Challengers() {
        for (const char* who : {"anna", "bert", "petra"})
            make_token(who, "--scope approve --scope read --scope operate");
    }
    test_support::Ran challenge(const std::string& id, const std::string& policy,
                                double share) const {
        return as("petra", fmt::format("challenger start --id {} --arm {}={} --reason 'a month "
                                       "beside it'",
                                       id, policy, share));
    }
    /// Decides each applicant from `from` on, and returns how many each policy had, by the arms
    /// of this assignment; empty: without arms.
    std::map<std::string, int> decide(int from, int to, const std::string& assignment) const {
        std::map<std::string, int> count;
        auto http = client();
        for (int i = from; i < to; ++i) {
            auto application = stream_.applicants[static_cast<size_t>(i)].application;
            application.event_time = base::parse_iso8601("2006-01-01").value();
            const auto answer = http.post("/v1/decisions", wire::to_json(application)).value();
            EXPECT_EQ(answer.status, 200) << answer.body;
            const auto decision = json::parse(answer.body).as_object();
            ++count[std::string(decision.at("policy_id").as_string())];
            const auto* arm = decision.if_contains("arm");
            EXPECT_EQ(arm != nullptr, !assignment.empty()) << answer.body;
            if (arm != nullptr) {
                EXPECT_EQ(std::string(arm->at("assignment").as_string()), assignment);
            }
        }
        return count;
    }
    test_support::Ran at_rest(const std::string& command) const {
        return test_support::run_program(
            fmt::format("{} {} --store {}", kProgram, command, workspace_.store.string()));
    }
};

TEST_F(Challengers, IsApprovedByTwoDecidesBesideTheChampionAndEnds) {
    auto process = start();
    EXPECT_EQ(decide(0, 5, "").size(), 1u);
    EXPECT_THAT(challenge("spring", std::string(64, '0'), 0.5).output,
                HasSubstr("is not registered"));
    const auto proposed = challenge("spring", good_.model, 0.5);
    ASSERT_EQ(proposed.exit_code, 0) << proposed.output;
    EXPECT_THAT(proposed.output, HasSubstr("proposal 1: waiting, needs 2"));
    EXPECT_THAT(as("anna", "proposal show 1").output,
                HasSubstr("of a share of 0.5 of people, in assignment spring"));
    const auto digest = digest_of(1);
    EXPECT_THAT(approve("petra", 1, digest).output, HasSubstr("was proposed by petra"));
    EXPECT_EQ(approve("anna", 1, digest).exit_code, 0);
    EXPECT_EQ(decide(5, 10, "").size(), 1u) << "the first alone starts nothing";
    const auto started = approve("bert", 1, digest);
    ASSERT_EQ(started.exit_code, 0) << started.output;
    const auto beside = decide(10, 30, "spring");
    EXPECT_GT(beside.at(first_), 2);
    EXPECT_GT(beside.at(good_.model), 2);
    EXPECT_THAT(deciding(), HasSubstr(first_)) << "the champion stays";
    process.kill();
    process = start();
    EXPECT_EQ(decide(30, 40, "spring").size(), 2u) << "also after a restart";
    EXPECT_THAT(as("petra", "challenger list").output, HasSubstr("IN FORCE  spring"));
    EXPECT_THAT(at_rest("registry at 2099-01-01").output, HasSubstr(good_.model));
    EXPECT_THAT(as("petra", "challenger end summer --reason over").output,
                HasSubstr("no assignment 'summer' is in force"));
    const auto ended = as("petra", "challenger end spring --reason over");
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_EQ(decide(40, 50, "").size(), 1u);
    EXPECT_THAT(challenge("spring", good_.model, 0.5).output,
                HasSubstr("another one needs another id"));
    const auto audit = at_rest("audit list --object spring");
    for (const char* part :
         {"start_assignment", "end_assignment", "bert", "petra", "propose_challenger"})
        EXPECT_THAT(audit.output, HasSubstr(part));
    const auto line = audit.output.rfind('\n', audit.output.find("propose_challenger")) + 1;
    EXPECT_THAT(at_rest(fmt::format("audit show {}", std::stoi(audit.output.substr(line)))).output,
                HasSubstr("reason: a month beside it"));
    ASSERT_TRUE(process.stop());
    const auto replayed = test_support::run_program(
        fmt::format("{} replay --config {} --json", kProgram, workspace_.config.string()));
    EXPECT_EQ(replayed.exit_code, 0) << replayed.output;
    EXPECT_THAT(replayed.output, HasSubstr(R"("replayed":50)"));
}

/// Else it would be on record, or approved, and the champion would decide alone.
TEST_F(Challengers, ThatCouldNotDecideHereIsRefusedBeforeAnythingIsOnRecord) {
    Certified by_group;
    {
        const auto node = Node::open(load_settings(workspace_.config).value()).value();
        const auto loaded = node->registry().load_model(domain::PolicyId(first_)).value();
        auto link = support::scored_link(70);
        link.ramp = {0.3, 0.5, {0.0, 0.0}, {1.0, 1.0}};
        auto links = loaded.policy.links();
        links.emplace_back(link);
        const auto& schema = loaded.policy.schema();
        model::PolicyState state;
        state.reasons = {model::ReasonMethod::kShapley, std::vector<float>(schema.size())};
        by_group = certify(
            *node, model::Policy::create(schema, links, {"a", "b"}, {}, std::move(state)).value(),
            "by_group");
    }
    const auto process = start();
    const auto refused = challenge("spring", by_group.model, 0.5);
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.output, HasSubstr("reads the applicant's group"));
    EXPECT_THAT(client().get("/v1/proposals")->body, Not(HasSubstr("spring")));
    EXPECT_THAT(at_rest("audit list --object spring").output, Not(HasSubstr("petra")));
}

TEST_F(Challengers, EndsWithEveryChangeOfTheChampion) {
    auto process = start();
    ASSERT_EQ(challenge("spring", good_.model, 0.5).exit_code, 0);
    for (const char* who : {"anna", "bert"}) ASSERT_EQ(approve(who, 1, digest_of(1)).exit_code, 0);
    EXPECT_EQ(decide(0, 20, "spring").size(), 2u);
    ASSERT_TRUE(process.stop());
    ASSERT_EQ(promote(late_, "late").exit_code, 0);
    process = start();
    EXPECT_EQ(decide(20, 30, "spring").size(), 2u) << "what waits ends nothing";
    for (const char* who : {"anna", "bert"}) ASSERT_EQ(approve(who, 2, digest_of(2)).exit_code, 0);
    EXPECT_EQ(decide(30, 40, ""), (std::map<std::string, int>{{late_.model, 10}}));
    EXPECT_THAT(client().get("/v1/assignments")->body, HasSubstr(R"("in_force":null)"));
    EXPECT_THAT(challenge("summer", good_.model, 0.5).output,
                HasSubstr("has no certificate here that compares it with the champion"))
        << "its certificate compares with the champion before";
    process.kill();
    process = start();
    EXPECT_EQ(decide(40, 50, ""), (std::map<std::string, int>{{late_.model, 10}}));
}

}  // namespace
}  // namespace rampart::rampartd
