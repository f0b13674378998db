// Nodes that divide the work of a group on one broker: some decide, one joins, trains and watches.
#include <gmock/gmock.h>

#include <array>
#include <set>

#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "roles_fixture.hpp"
#include "support/alerts.hpp"
#include "support/generous_champion.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::rampartd {
namespace {

using testing::HasSubstr;
using testing::Not;

class DividedWork : public RolesOnABroker {
  protected:
    /// What the nodes learner, a and b keep, and what they have read.
    void expect_kept_and_read(Node& learner, const std::vector<Node*>& deciders) {
        EXPECT_EQ(databases("a"), (std::set<std::string>{"0/decisions", "1/decisions"}));
        EXPECT_EQ(databases("b"), (std::set<std::string>{"2/decisions", "3/decisions"}));
        EXPECT_EQ(databases("learner"),
                  (std::set<std::string>{"0/joins", "1/joins", "2/joins", "3/joins"}));
        for (Node* node : deciders) {
            const auto metrics = ask(*node, "GET", "/metrics").body;
            EXPECT_THAT(metrics, HasSubstr(read_records("decisions")));
            EXPECT_THAT(metrics, testing::AnyOf(Not(HasSubstr(read_records("outcomes"))),
                                                HasSubstr(read_records("outcomes") + " 0\n")));
            EXPECT_THAT(metrics, HasSubstr("\nrampart_node_role{role=\"decide\"} 1\n"));
            EXPECT_THAT(metrics, Not(HasSubstr("{role=\"join\"}")));
            EXPECT_THAT(metrics, Not(HasSubstr("\nrampart_join")));
        }
        const auto metrics = ask(learner, "GET", "/metrics").body;
        // all have one draw key, as the runbook has it
        EXPECT_THAT(metrics, HasSubstr("\nrampart_join_unchecked_draws_total 0\n"));
        EXPECT_THAT(metrics, HasSubstr(read_records("outcomes")));
        EXPECT_THAT(metrics, Not(HasSubstr(read_records("applications"))));
        EXPECT_THAT(metrics, Not(HasSubstr("{role=\"decide\"}")));
        EXPECT_THAT(metrics, HasSubstr("\nrampart_node_role{role=\"monitor\"} 1\n"));
    }
    /// Has each decided where it belongs, after the learner has said where. Some loans are not
    /// repaid.
    void decide_at_owners(std::span<const Application> applications, Node& learner, Node& a,
                          Node& b) {
        for (const auto& one : applications) {
            const auto elsewhere = decide(learner, one);
            ASSERT_FALSE(elsewhere);
            EXPECT_EQ(elsewhere.error().reason, "not_owner");
            Node& owner = a.decisions().partition_of(one.id).value() < 2 ? a : b;
            EXPECT_THAT(elsewhere.error().message, HasSubstr(owner.settings().log.node));
            const auto decision = decide(owner, one);
            ASSERT_TRUE(decision) << decision.error().message;
            decided_[decision->id] = *decision;
            if (decision->action != domain::Action::kApprove) continue;
            const domain::Outcome outcome{decision->id, "repaid", 0,
                                          decided_.size() % 3 == 0 ? 0.0 : 1.0,
                                          one.event_time + base::Duration::days(30)};
            ASSERT_TRUE(owner.decisions().submit_outcomes(std::span(&outcome, 1)));
            ++outcomes_;
        }
    }
    using Route = std::tuple<std::string, std::string, http::Access>;
    static std::set<Route> routes(Node& node) {
        http::Router router;
        node.add_routes(router);
        std::set<Route> found;
        const auto added = router.routes();
        for (const auto& one : added) found.emplace(one.method, one.pattern, one.access);
        return found;
    }

    std::map<domain::DecisionId, domain::Decision> decided_;
    size_t outcomes_ = 0;
};

TEST_F(DividedWork, TwoThatDecideAndOneThatLearns) {
    auto of_learner = learning();
    auto learner = open(of_learner);
    const auto of_a = decider("a", "[0, 1]"), of_b = decider("b", "[2, 3]");
    auto a = open(of_a), b = open(of_b);
    std::optional<Tending> tending_l(std::in_place, *learner), tending_a(std::in_place, *a),
        tending_b(std::in_place, *b);
    for (Node* node : {learner.get(), a.get(), b.get()}) ASSERT_TRUE(node->keep_leases());
    const auto all = applications();
    const auto advance = [&](base::TimePoint now) {
        for (Node* node : {learner.get(), a.get(), b.get()}) {
            const auto status = node->advance(now);
            ASSERT_TRUE(status) << status.error().message;
        }
    };
    decide_at_owners(std::span(all).first(all.size() / 2), *learner, *a, *b);
    advance(all[all.size() / 2].event_time);
    const auto id = support::promote_a_generous_one(*learner);
    advance(all[all.size() / 2].event_time);
    for (Node* node : {a.get(), b.get()}) {
        EXPECT_EQ(node->decisions().policy()->id(), id) << "the promoted policy is there";
        EXPECT_TRUE(node->decisions().policy()->certified());
    }
    decide_at_owners(std::span(all).subspan(all.size() / 2), *learner, *a, *b);
    advance(base::add_months(all.back().event_time, 36));
    EXPECT_EQ(learner->joiner().counts().decisions, decided_.size());
    EXPECT_EQ(learner->joiner().counts().outcomes, outcomes_);
    EXPECT_TRUE(learner->joiner().check()->empty());
    EXPECT_TRUE(learner->trainer().runs()->empty());
    for (Node* node : {a.get(), b.get()}) EXPECT_EQ(node->joiner().counts(), joiner::Counts());

    expect_kept_and_read(*learner, {a.get(), b.get()});

    // each is a process of its own, that may end as a crash ends it
    const auto hash = learner->state_hash().value();
    tending_a.reset();
    tending_l.reset();
    a.reset();
    learner.reset();
    of_learner.training.schedule = {1, 0, 20};
    learner = open(of_learner);
    a = open(of_a);
    tending_l.emplace(*learner);
    tending_a.emplace(*a);
    EXPECT_EQ(learner->state_hash().value(), hash);
    EXPECT_EQ(a->decisions().policy()->id(), learner->registry().champion()->policy);
    for (const auto& application : all) {
        Node& owner = a->decisions().partition_of(application.id).value() < 2 ? *a : *b;
        const auto again = decide(owner, application);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, decided_.at(again->id));
    }
    // a person is erased where decisions are joined, and forgotten where they are decided
    const auto erased = learner->erase(all[0].person, "privacy-office", "request 7", false);
    ASSERT_TRUE(erased) << erased.error().message;
    EXPECT_THAT(erased->remains.back(), HasSubstr("quarantines of applications"));
    advance(base::add_months(all.back().event_time, 38));
    EXPECT_FALSE(learner->trainer().runs()->empty()) << "it trains with what others decided";
    Node& owner = a->decisions().partition_of(all[0].id).value() < 2 ? *a : *b;
    const auto gone = owner.decisions().find(domain::decision_id_of(all[0].id));
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().reason, "erased");
}

/// Expects that no check of a node fails but the one of a cluster that is for development.
void expect_fails_topics_only(const std::string& readyz) {
    const auto fails = readyz.find("\"ok\":false");
    ASSERT_NE(fails, std::string::npos) << readyz;
    EXPECT_THAT(readyz.substr(readyz.rfind('{', fails)),
                testing::StartsWith("{\"name\":\"topics\""));
    EXPECT_EQ(readyz.find("\"ok\":false", fails + 1), std::string::npos)
        << "what is elsewhere is no fault: " << readyz;
}

TEST_F(DividedWork, RoutesOfARoleThatIsElsewhereSaySo) {
    const auto learner = open(learning());
    auto of_a = decider("a", "[0, 1, 2, 3]");
    of_a.log.advertise = "http://a.example:8080";
    const auto a = open(of_a);
    for (Node* node : {learner.get(), a.get()}) ASSERT_TRUE(node->keep_leases());
    const auto all = applications();
    const auto decision = decide(*a, all[0]);
    ASSERT_TRUE(decision) << decision.error().message;
    const auto id = decision->id.value();
    for (const auto& [method, path] :
         std::vector<std::pair<std::string, std::string>>{{"POST", "/v1/erasures"},
                                                          {"GET", "/v1/holds"},
                                                          {"POST", "/v1/holds"},
                                                          {"POST", "/v1/holds/remove"},
                                                          {"GET", "/v1/unmatched"},
                                                          {"GET", "/v1/decisions"},
                                                          {"POST", "/v1/candidates"},
                                                          {"GET", "/v1/runs"},
                                                          {"GET", "/v1/monitor"}}) {
        const auto answer = ask(*a, method, path);
        EXPECT_EQ(answer.status, 409) << path;
        EXPECT_THAT(answer.body, HasSubstr("\"reason\":\"role_not_here\"")) << path;
        EXPECT_THAT(answer.body, HasSubstr("its roles are decide")) << path;
        EXPECT_THAT(ask(*learner, method, path).body, Not(HasSubstr("role_not_here"))) << path;
    }
    const auto rollback = ask(*a, "POST", "/v1/rollback", R"({"reason":"why"})");
    EXPECT_THAT(rollback.body, HasSubstr("role_not_here"));
    const auto erased = a->erase(all[0].person, "anna", "why", false);
    ASSERT_FALSE(erased) << "a job that was left here by another role";
    EXPECT_EQ(erased.error().reason, "role_not_here");
    for (const auto& [method, path, body] :
         std::vector<std::array<std::string, 3>>{{"POST", "/v1/decisions", wire::to_json(all[0])},
                                                 {"GET", "/v1/decisions/" + id, ""}}) {
        EXPECT_EQ(ask(*a, method, path, body).status, 200) << path;
        const auto answer = ask(*learner, method, path, body);
        EXPECT_EQ(answer.status, 421) << path << answer.body;
        EXPECT_EQ(answer.header("X-Rampart-Owner"), "http://a.example:8080") << path;
    }
    EXPECT_EQ(routes(*a), routes(*learner)) << "the same contract at every node";
    EXPECT_THAT(ask(*a, "GET", "/v1/status").body,
                testing::AllOf(HasSubstr("{\"roles\":[\"decide\"],\"ready\":true"),
                               HasSubstr("\"joined\":null"), HasSubstr("\"deciding\":4")));
    EXPECT_THAT(
        ask(*learner, "GET", "/v1/status").body,
        testing::AllOf(HasSubstr("{\"roles\":[\"join\",\"train\",\"monitor\"],\"ready\":true"),
                       HasSubstr("\"deciding\":0"), Not(HasSubstr("\"joined\":null"))));
    EXPECT_THAT(ask(*a, "GET", "/v1/partitions").body,
                testing::AllOf(HasSubstr("\"partition\":3"), HasSubstr("\"role\":\"decides\"")));
    for (Node* node : {learner.get(), a.get()}) {
        ASSERT_TRUE(node->keep_leases()) << "they are of the time when the test began";
        ASSERT_TRUE(node->keep_trainer());
        const auto ready = ask(*node, "GET", "/readyz");
        EXPECT_EQ(ready.status, 200) << ready.body;
        expect_fails_topics_only(ready.body);
        if (!support::Alerts::can_run()) continue;
        const support::Scrape scrape(ask(*node, "GET", "/metrics").body,
                                     runtime::SystemClock().now());
        for (const char* alert :
             {"RampartCannotDecide", "RampartPartitionsStopped", "RampartJoinBehind",
              "RampartSourceStopped", "RampartLogLag", "RampartNoTrainer", "RampartLeaseNotRenewed",
              "RampartOutcomesOverdue", "RampartOutcomesUnmatched"})
            EXPECT_FALSE(support::Alerts(folder_).fires(alert, scrape, scrape))
                << alert << " at " << node->settings().log.node;
        // the learner alone, as if no node that decides answered
        EXPECT_EQ(support::Alerts(folder_).fires("RampartPartitionWithoutOwner", scrape, scrape),
                  node == learner.get());
    }
}

TEST_F(DividedWork, OnlyTheNodeThatTrainsErasesAndHasHolds) {
    const auto learner = open(learning());
    const auto joiner = open(with_roles("joiner", "join", "", kFollows));
    for (const auto& [method, path] :
         std::vector<std::pair<std::string, std::string>>{{"POST", "/v1/erasures"},
                                                          {"GET", "/v1/holds"},
                                                          {"POST", "/v1/holds"},
                                                          {"POST", "/v1/holds/remove"}}) {
        const auto answer = ask(*joiner, method, path);
        EXPECT_EQ(answer.status, 409) << path << ": the holds are the learner's";
        EXPECT_THAT(answer.body, HasSubstr("this node does not train")) << path;
        EXPECT_THAT(ask(*learner, method, path).body, Not(HasSubstr("role_not_here"))) << path;
    }
    for (const bool dry_run : {false, true}) {
        const auto refused = joiner->erase(applications()[0].person, "anna", "why", dry_run);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "role_not_here");
    }
}

TEST_F(DividedWork, DrawsOfANodeThatWasGivenTheDrawKeyAreChecked) {
    const auto learner = open(learning());
    const auto all = applications();
    for (const bool given : {true, false}) {
        const auto config = decider(given ? "a" : "b", given ? "[0, 1]" : "[2, 3]");
        // what the node makes by itself at its first start
        for (const char* key : {"draw", "arm", "split", "evidence", "signing"})
            if (!given || std::string_view(key) != "draw") fs::remove(config.store / "keys" / key);
        const auto node = open(config);
        ASSERT_TRUE(node->keep_leases());
        size_t decided = 0;
        for (const auto& one : std::span(all).first(60))
            if ((node->decisions().partition_of(one.id).value() < 2) == given)
                decided += decide(*node, one).has_value();
        ASSERT_GT(decided, 0u);
        ASSERT_TRUE(learner->advance(all[60].event_time));
        const std::string none = "\nrampart_join_unchecked_draws_total 0\n";
        EXPECT_EQ(ask(*learner, "GET", "/metrics").body.find(none) != std::string::npos, given);
        ASSERT_TRUE(node->release());
    }
}

TEST_F(DividedWork, AnOwnerWithTheAddressOfTheNodeThatIsAskedIsNoAddressToGoTo) {
    const auto learner = open(learning());
    auto of_a = decider("a", "[0, 1]"), of_b = decider("b", "[2, 3]");
    of_a.log.advertise = of_b.log.advertise = "http://copied.example:8080";
    const auto a = open(of_a), b = open(of_b);
    for (Node* node : {a.get(), b.get()}) ASSERT_TRUE(node->keep_leases());
    for (const auto& one : applications()) {
        if (a->decisions().partition_of(one.id).value() > 1) continue;
        const auto answer = ask(*b, "POST", "/v1/decisions", wire::to_json(one));
        EXPECT_EQ(answer.status, 421) << answer.body;
        EXPECT_THAT(answer.body, HasSubstr("the node 'a'"));
        EXPECT_EQ(answer.header("X-Rampart-Owner"), "") << "the client would come back for ever";
        break;
    }
}

TEST_F(DividedWork, ANodeThatDoesNotKnowTheKeyOfTheTrainerDecidesNothingAndSaysWhy) {
    const auto learner = open(learning());
    auto of_a = decider("a", "[0, 1, 2, 3]");
    const auto right = of_a.gate_key;
    of_a.gate_key = folder_ / "old.pem";
    const auto old = base::SigningKey::from_raw(std::string(32, 'o')).value();
    ASSERT_TRUE(base::write_file_atomically(of_a.gate_key, old.public_key().to_pem()));
    {
        const auto a = open(of_a);
        ASSERT_TRUE(a->keep_leases());
        const auto refused = decide(*a, applications()[0]);
        ASSERT_FALSE(refused) << "by a policy that the group does not decide by";
        EXPECT_EQ(refused.error().reason, "no_policy");
        const auto ready = ask(*a, "GET", "/readyz");
        EXPECT_EQ(ready.status, 503);
        EXPECT_THAT(ready.body, HasSubstr("not signed by key"));
        if (support::Alerts::can_run()) {
            const support::Scrape scrape(ask(*a, "GET", "/metrics").body,
                                         runtime::SystemClock().now());
            for (const char* alert : {"RampartCannotDecide", "RampartCheckFails"})
                EXPECT_TRUE(support::Alerts(folder_).fires(alert, scrape, scrape)) << alert;
        }
        ASSERT_TRUE(a->release());
    }
    of_a.gate_key = right;
    const auto a = open(of_a);
    ASSERT_TRUE(decide(*a, applications()[0]));
    EXPECT_THAT(ask(*a, "GET", "/metrics").body,
                testing::AllOf(HasSubstr("\nrampart_followed_champion_sequence 1\n"),
                               Not(HasSubstr("\nrampart_champion_certificate_end"))));
}

TEST_F(DividedWork, ANodeDoesNotGiveUpARoleWithPersonsInItsStore) {
    { const auto learner = open(learning()); }
    const auto whole = with_roles("a", "decide,join", "own = [0, 1]", kFollows);
    {
        const auto a = open(whole);
        ASSERT_TRUE(a->release());
    }
    for (const auto& [roles, partitions, left] :
         std::vector<std::array<std::string, 3>>{{"decide", "own = [0, 1]", "partitions/0/joins"},
                                                 {"join", "", "partitions/0/decisions"}}) {
        auto changed = with_roles("other", roles, partitions, kFollows);
        changed.store = whole.store;
        changed.log.node = "a";
        const auto refused = Node::open(changed);
        ASSERT_FALSE(refused) << roles;
        EXPECT_EQ(refused.error().reason, "state_left");
        EXPECT_THAT(refused.error().message, HasSubstr(left));
    }
}

/// A program that runs a node of its own.
class Running {
  public:
    Running(const Settings& settings, const std::string& program, const std::string& roles)
        : settings_(settings), program_(program) {
        if (roles.empty()) return;  // the program's
        const auto text = base::read_file(config(), 1 << 20).value();
        EXPECT_TRUE(base::write_file_atomically(config(), "roles = " + roles + "\n" + text));
    }
    void start() {
        auto process = demo::ServiceProcess::start(fs::path(test_support::bin_dir()) / program_,
                                                   config(), settings_.store / "endpoint",
                                                   settings_.store.parent_path() / "service.log");
        ASSERT_TRUE(process) << process.error().message;
        process_.emplace(std::move(*process));
        token_ = base::read_file(settings_.store / "keys" / "token", 256).value();
        token_.pop_back();  // its newline
        session_.emplace(settings_.store / "endpoint", token_, base::Duration::seconds(60));
    }
    void kill_and_start() {
        process_->kill();
        start();
    }
    base::Result<std::string> post(const std::string& path, const std::string& body) {
        return session_->post(path, body);
    }
    std::string get(const std::string& path) const {
        auto endpoint = base::read_file(settings_.store / "endpoint", 256).value();
        endpoint.pop_back();
        http::ClientOptions options;
        options.token = token_;
        return http::Client::create(endpoint, options)->get(path)->body;
    }
    base::Status stop() { return process_->stop(); }

  private:
    fs::path config() const { return settings_.store.parent_path() / "rampartd.toml"; }

    const Settings settings_;
    const std::string program_;
    std::string token_;
    std::optional<demo::ServiceProcess> process_;
    std::optional<demo::Session> session_;
};

TEST_F(DividedWork, AProcessOfEachIsKilledAndNothingIsLost) {
    Running trainer(learning(), "trainer", "");
    Running a(decider("a", "[0, 1]"), "rampartd", R"(["decide"])");
    Running b(decider("b", "[2, 3]"), "rampartd", R"(["decide"])");
    Running joiner(with_roles("joiner", "join", "", kFollows), "outcome_joiner", "");
    const std::vector<Running*> all{&trainer, &a, &b, &joiner};
    for (Running* one : all) one->start();
    if (HasFatalFailure()) return;
    const auto stream = applications();
    std::vector<std::string> answers;
    const auto decide_at_owner = [&](const Application& application) {
        const auto body = wire::to_json(application);
        auto answer = a.post("/v1/decisions", body);
        if (!answer && answer.error().reason == "not_owner") answer = b.post("/v1/decisions", body);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer.value_or("");
    };
    size_t outcomes = 0;
    for (size_t i = 0; i < stream.size(); ++i) {
        // each of them twice, with the others at work
        if (i % 30 == 29 && i < 240) all[i / 30 % all.size()]->kill_and_start();
        answers.push_back(decide_at_owner(stream[i]));
        ASSERT_FALSE(HasFailure()) << i;
        const auto decision = wire::decision_from_json(answers.back()).value();
        if (decision.action != domain::Action::kApprove) continue;
        const auto report = wire::to_json(domain::Outcome{
            decision.id, "repaid", 0, 1, stream[i].event_time + base::Duration::days(30)});
        auto taken = a.post("/v1/outcomes", report);
        if (!taken && taken.error().reason == "not_owner") taken = b.post("/v1/outcomes", report);
        ASSERT_TRUE(taken) << taken.error().message;
        ++outcomes;
    }
    const auto end = fmt::format(R"({{"now":"{}"}})",
                                 base::to_iso8601(base::add_months(stream.back().event_time, 36)));
    const auto joined = fmt::format(R"("decisions":{},"outcomes":{},)", stream.size(), outcomes);
    for (int round = 0; round < 2; ++round) {
        for (Running* one : all) {
            const auto moved = one->post("/v1/clock", end);
            ASSERT_TRUE(moved) << moved.error().message;
        }
        for (Running* one : {&trainer, &joiner})
            EXPECT_THAT(one->get("/v1/status"), HasSubstr(joined)) << round;
        for (Running* one : {&a, &b})
            EXPECT_THAT(one->get("/v1/status"), HasSubstr("\"joined\":null"));
        for (Running* one : all) one->kill_and_start();
        ASSERT_FALSE(HasFailure()) << round;
    }
    for (size_t i = 0; i < stream.size(); ++i) EXPECT_EQ(decide_at_owner(stream[i]), answers[i]);
    for (Running* one : all) {
        const auto stopped = one->stop();
        EXPECT_TRUE(stopped) << stopped.error().message;
    }
    // a command takes the roles of the program that ran, and makes nothing of another role
    const auto config = folder_ / "learner" / "rampartd.toml";
    EXPECT_EQ(to_string(load_settings(config)->log.roles), "join,train,monitor");
    const auto replay = test_support::run_program(
        fmt::format("{}/rampart replay --config {}", test_support::bin_dir(), config.string()));
    EXPECT_NE(replay.exit_code, 0);
    EXPECT_THAT(replay.output, HasSubstr("this node does not decide"));
    EXPECT_FALSE(databases("learner").contains("0/decisions"));
}

}  // namespace
}  // namespace rampart::rampartd
