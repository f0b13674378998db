// Outcomes of decisions as clients report them: overrides by people, corrections, loans that ended
// without a value.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using domain::Action;

class Outcomes : public testing::Test {
  protected:
    Outcomes() {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 40}).value();
        const auto workspace =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        node_ = Node::open(load_settings(workspace.config).value()).value();
        node_->add_routes(router_);
        start_ = stream_.applicants.front().application.event_time;
        EXPECT_TRUE(node_->advance(start_));
    }
    ~Outcomes() override {
        node_.reset();
        fs::remove_all(folder_);
    }
    int post(const std::string& path, const std::string& body, const std::string& token = "t") {
        http::Request request;
        request.method = "POST";
        request.path = path;
        request.headers = {{"Authorization", "Bearer " + token}};
        request.body = body;
        return router_.handle(std::move(request)).status;
    }
    /// The application of the n-th applicant, at the start.
    domain::Decision decide(size_t n) {
        auto one = stream_.applicants.at(n).application;
        one.event_time = start_;
        return node_->decisions().decide(std::span(&one, 1)).value().front();
    }
    /// Returns the first decision with that action from the n-th applicant on.
    domain::Decision drawn(Action action, size_t n = 0) {
        while (true) {
            const auto decision = decide(n++);
            if (decision.action == action) return decision;
        }
    }
    static Action other(Action action) {
        return action == Action::kApprove ? Action::kDecline : Action::kApprove;
    }
    void advance(int days) { ASSERT_TRUE(node_->advance(start_ + Duration::days(days))); }
    /// Returns what is known `days` after the start.
    domain::LabeledExample example(const domain::DecisionId& id, int days) {
        std::vector<domain::LabeledExample> found;
        EXPECT_TRUE(
            node_->joiner().examples("repaid", start_ + Duration::days(days), [&](const auto& one) {
                if (one.decision.id == id) found.push_back(one);
                return base::ok();
            }));
        EXPECT_EQ(found.size(), 1u);
        return found.at(0);
    }
    size_t audited(std::string_view action) {
        const auto entries = node_->registry().audit_entries().value();
        return static_cast<size_t>(
            std::count_if(entries.begin(), entries.end(),
                          [&](const auto& entry) { return entry.action == action; }));
    }

    fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("outcomes.{}", ::getpid());
    loan_stream::Stream stream_;
    std::unique_ptr<Node> node_;
    http::Router router_{access::one_token("t")};
    TimePoint start_;
};

// Six months and 30 days of grace: all decisions have matured after a year.
constexpr int kMatured = 365, kLater = 500;

TEST_F(Outcomes, AnOverrideNeedsTheTokenIsAuditedAndCountsOnceForTheActionThatWasDrawn) {
    const auto declined = drawn(Action::kDecline);
    const domain::Override taken{declined.id,      0,          Action::kApprove,
                                 "underwriter-17", "verified", start_};
    const auto body = wire::to_json(taken);
    EXPECT_EQ(post("/v1/overrides", body, "guess"), 401);
    EXPECT_EQ(audited("override"), 0u);
    EXPECT_EQ(post("/v1/overrides", body), 200);
    EXPECT_EQ(post("/v1/overrides", body), 200) << "the same again";
    EXPECT_EQ(audited("override"), 2u) << "who sent it again is on record too";
    const auto entry = node_->registry().audit_entries()->back();
    EXPECT_EQ(entry.actor, "caller:underwriter-17") << "who calls, and whom it names";
    EXPECT_EQ(entry.details.at("decision"), declined.id.value());
    EXPECT_EQ(entry.details.at("action_taken"), "approve");
    const domain::Outcome repaid{declined.id, "repaid", 0, 1, start_ + Duration::days(100)};
    EXPECT_EQ(post("/v1/outcomes", wire::to_json(repaid)), 200);
    advance(kMatured);
    const auto counts = node_->joiner().counts();
    EXPECT_EQ(counts.overrides, 1u);
    EXPECT_EQ(counts.duplicate_outcomes, 1u);
    const auto one = example(declined.id, kMatured);
    EXPECT_EQ(one.decision.action, Action::kDecline) << "intention to treat";
    EXPECT_EQ(one.decision.propensity, declined.propensity);
    EXPECT_EQ(one.action_taken(), Action::kApprove);
    EXPECT_EQ(one.value, 1);
}

TEST_F(Outcomes, AnInvalidOverrideIsRefusedAndNotAudited) {
    const auto decision = decide(0);
    const auto json = [&](const domain::DecisionId& id, const char* actor) {
        return wire::to_json(domain::Override{id, 0, other(decision.action), actor, "r", start_});
    };
    EXPECT_EQ(post("/v1/overrides", json(domain::DecisionId("d0"), "a")), 404);
    EXPECT_EQ(post("/v1/overrides", json(decision.id, "")), 400);
    EXPECT_EQ(post("/v1/overrides", "{"), 400);
    EXPECT_EQ(audited("override"), 0u);
    advance(1);
    EXPECT_EQ(node_->joiner().counts().overrides, 0u);
}

TEST_F(Outcomes, AHigherRevisionWithdrawsAnOverrideAndAnotherContentOfARevisionIsPutAside) {
    const auto decision = decide(0);
    const auto take = [&](uint32_t revision, Action action, const char* reason) {
        return post("/v1/overrides", wire::to_json(domain::Override{decision.id, revision, action,
                                                                    "a", reason, start_}));
    };
    EXPECT_EQ(take(1, decision.action, "withdrawn"), 200);
    EXPECT_EQ(take(0, other(decision.action), "first"), 200);
    EXPECT_EQ(take(0, other(decision.action), "something-else"), 200);
    advance(kMatured);
    EXPECT_EQ(example(decision.id, kMatured).action_taken(), decision.action);
    EXPECT_EQ(node_->joiner().counts().conflicting_outcomes, 1u);
    const auto quarantined = node_->joiner().list_quarantined(9).value();
    ASSERT_EQ(quarantined.size(), 1u);
    EXPECT_EQ(quarantined.front().reason, "conflicting_override");
}

TEST_F(Outcomes, AContradictionOfWhatWasJoinedBeforeARestartIsCountedAndNotTold) {
    const auto in_vault = [&](const domain::Decision& decision) {
        return training_set::in_vault(node_->keys().split, decision.application.person);
    };
    const auto first = [&](bool vault) {
        size_t n = 0;
        while (in_vault(decide(n)) != vault) ++n;
        return domain::Outcome{decide(n).id, "repaid", 0, 1, start_ + Duration::days(90)};
    };
    std::vector<domain::Outcome> reports{first(false), first(true)};
    for (const auto& report : reports) EXPECT_EQ(post("/v1/outcomes", wire::to_json(report)), 200);
    advance(100);
    const auto settings = node_->settings();
    node_.reset();
    node_ = Node::open(settings).value();
    http::Router router(access::one_token("t"));
    node_->add_routes(router);
    for (auto& report : reports) {
        report.value = 0;
        http::Request request;
        request.method = "POST";
        request.path = "/v1/outcomes";
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = wire::to_json(report);
        const auto answer = router.handle(request);
        EXPECT_EQ(answer.body, R"({"accepted":1})") << "a guess must not be answered";
    }
    advance(101);
    http::Request metrics;
    metrics.method = "GET";
    metrics.path = "/metrics";
    EXPECT_NE(router.handle(metrics).body.find("rampart_conflicting_outcomes_total 1\n"),
              std::string::npos)
        << "that of the vault is not counted";
}

TEST_F(Outcomes, CorrectionsChangeWhatIsKnownLaterAndCensoredLoansHaveNoValueAndAreNotOwed) {
    const auto corrected = drawn(Action::kApprove), censored = drawn(Action::kApprove, 20),
               silent = drawn(Action::kApprove, 10);
    ASSERT_NE(corrected.id, silent.id);
    ASSERT_NE(silent.id, censored.id);
    const auto report = [&](const domain::Outcome& outcome) {
        return post("/v1/outcomes", wire::to_json(outcome));
    };
    EXPECT_EQ(report({corrected.id, "repaid", 0, 1, start_ + Duration::days(90)}), 200);
    EXPECT_EQ(report({censored.id, "repaid", 0, 0, start_ + Duration::days(60), true}), 200);
    advance(kMatured);
    EXPECT_EQ(example(corrected.id, kMatured).value, 1);
    EXPECT_EQ(report({corrected.id, "repaid", 1, 0, start_ + Duration::days(400)}), 200);
    advance(kLater);
    EXPECT_EQ(example(corrected.id, kMatured).value, 1) << "what was known then stays";
    const auto later = example(corrected.id, kLater);
    EXPECT_EQ(later.value, 0);
    EXPECT_EQ(later.revision, 1u);
    const auto paid_off = example(censored.id, kMatured);
    EXPECT_TRUE(paid_off.censored);
    EXPECT_EQ(paid_off.value, std::nullopt);
    const auto overdue = node_->joiner().list_overdue(1000).value();
    std::vector<domain::DecisionId> owed;
    for (const auto& one : overdue) owed.push_back(one.decision);
    EXPECT_EQ(std::count(owed.begin(), owed.end(), silent.id), 1);
    EXPECT_EQ(std::count(owed.begin(), owed.end(), censored.id), 0);
    EXPECT_EQ(std::count(owed.begin(), owed.end(), corrected.id), 0);
}

}  // namespace
}  // namespace rampart::rampartd
