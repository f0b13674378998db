// Explanations of a node's declines: made after the answer, stored, the same for all readers, and
// gone with their decision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <future>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/node.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using domain::Action;
using testing::HasSubstr;

constexpr size_t kFirst = 1100, kLater = 300;  // more than kFewDecisions in the first month

class ExplanationsTest : public testing::Test {
  protected:
    void SetUp() override {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kFirst + kLater})
                      .value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        start_ = base::parse_iso8601("2026-01-10T00:00:00Z").value();
    }
    void TearDown() override {
        node_.reset();
        fs::remove_all(folder_);
    }
    void replace(const std::string& before, const std::string& after) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const size_t at = text.find(before);
        ASSERT_NE(at, std::string::npos) << before;
        text.replace(at, before.size(), after);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    void open() {
        node_.reset();
        auto settings = load_settings(workspace_.config).value();
        settings.privacy.retention_months = 0;
        auto node = Node::open(std::move(settings));
        ASSERT_TRUE(node) << node.error().message;
        node_ = *std::move(node);
    }
    /// Decides applicants [from, to) as of now, and returns the declines.
    std::vector<domain::Decision> declines_of(size_t from, size_t to) {
        std::vector<domain::Decision> declined;
        for (size_t i = from; i < to; ++i) {
            auto one = stream_.applicants.at(i).application;
            one.event_time = node_->now();
            const auto made = node_->decisions().decide(std::span(&one, 1));
            EXPECT_TRUE(made) << made.error().message;
            if (made && made->front().action == Action::kDecline) declined.push_back(made->front());
        }
        return declined;
    }
    http::Response get(const std::string& target) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }
    http::Response post(const std::string& target, const std::string& body) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(router);
        http::Request request;
        request.method = "POST";
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = body;
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    }
    std::string explained(const domain::DecisionId& id) {
        const auto answer = get(fmt::format("/v1/decisions/{}/explanation", id));
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }
    /// What is stored, without the byte of its form.
    std::optional<std::string> stored(const domain::Decision& of) {
        auto& decisions = node_->decisions();
        const auto bytes = decisions.index_of(decisions.partition_of(of.application.id))
                               ->explanation(of.id)
                               .value();
        return bytes ? std::optional(bytes->substr(1)) : std::nullopt;
    }
    /// Explains it anew, with nothing remembered.
    std::string anew(const domain::Decision& decision) {
        Explainer explainer(node_->explain_deps());
        const auto made = explainer.explain(decision);
        EXPECT_TRUE(made) << made.error().message;
        return made ? to_json(*made) : "";
    }
    /// What explains with policies that a test gives.
    ExplainDeps with_policies(std::function<model::LoadedPolicy(const domain::PolicyId&)> load) {
        auto& node = *node_;
        return {node.decisions(), [load = std::move(load)](const auto& id) { return load(id); },
                node.attributes(), draw_key(), node.explain_deps().served};
    }
    const decision::DrawKey& draw_key() {
        draw_key_ = {node_->keys().ids.draw, node_->keys().draw};
        return draw_key_;
    }
    static size_t pool_of(const std::string& document) {
        return json::parse(document).at("reference").at("pool").to_number<size_t>();
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("explanations.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    base::TimePoint start_;
    std::unique_ptr<Node> node_;
    decision::DrawKey draw_key_;
};

TEST_F(ExplanationsTest, ADeclineIsExplainedSoonAfterItsAnswerAndTheSameEverAfter) {
    replace("mode = \"event\"", "mode = \"system\"\nmax_downtime_hours = 24");
    open();
    const auto declined = declines_of(0, 60);  // before the work: the first has others, too
    ASSERT_GT(declined.size(), 5u);
    node_->begin_work();
    const auto all_stored = [&] {
        return std::all_of(declined.begin(), declined.end(),
                           [&](const auto& one) { return stored(one).has_value(); });
    };
    for (int i = 0; i < 2400 && !all_stored(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(all_stored());
    std::map<domain::DecisionId, std::string> documents;
    for (const auto& one : declined) {
        documents[one.id] = explained(one.id);
        EXPECT_EQ(documents[one.id], stored(one));
        const auto answer = json::parse(get("/v1/decisions/" + one.id.value()).body).as_object();
        EXPECT_EQ(json::value_to<std::string>(answer.at("explanation")),
                  fmt::format("/v1/decisions/{}/explanation", one.id));
        EXPECT_FALSE(decision::names_features(
            json::value_to<std::vector<std::string>>(answer.at("reasons"))));
    }
    const auto metrics = get("/metrics").body;
    EXPECT_THAT(metrics,
                HasSubstr(fmt::format("rampart_explanations_total{{when=\"after_answer\"}} {}\n",
                                      declined.size())));
    EXPECT_THAT(metrics, HasSubstr("rampart_explanations_total{when=\"at_read\"} 0\n"));
    node_->begin_stop();
    EXPECT_TRUE(node_->stop_work(base::Duration::seconds(250)).empty());
    EXPECT_THAT(get("/metrics").body, HasSubstr("rampart_explanations_waiting 0\n"));
    declines_of(60, 120);  // others with whom it would be compared
    open();
    for (const auto& [id, document] : documents) EXPECT_EQ(explained(id), document);
}

TEST_F(ExplanationsTest, OnRequestNoneIsMadeAfterTheAnswer) {
    replace("mode = \"event\"", "mode = \"system\"\nmax_downtime_hours = 24");
    replace("[decision]\n", "[decision]\nexplain = \"on_request\"\n");
    open();
    const auto declined = declines_of(0, 60);
    ASSERT_GT(declined.size(), 5u);
    node_->begin_work();
    const auto jobs = json::parse(get("/v1/status").body).at("jobs").as_array();
    EXPECT_FALSE(jobs.empty());
    for (const auto& job : jobs) EXPECT_NE(job.at("name").as_string(), "explain");
    EXPECT_THAT(get("/metrics").body, HasSubstr("rampart_explanations_waiting 0\n"));
    EXPECT_EQ(stored(declined[0]), std::nullopt);
    const auto document = explained(declined[0].id);
    EXPECT_EQ(stored(declined[0]), document);
    replace("explain = \"on_request\"", "explain = \"soon\"");
    EXPECT_THAT(load_settings(workspace_.config).error().message,
                testing::AllOf(HasSubstr("explain"), HasSubstr("soon"), HasSubstr("on_request")));
}

TEST_F(ExplanationsTest, WhatIsNotThereIsMadeAtTheReadAndIsAFunctionOfTheLog) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    declines_of(0, kFirst);
    ASSERT_TRUE(node_->advance(start_ + base::Duration::days(30)));
    const auto declined = declines_of(kFirst, kFirst + 20);
    ASSERT_GE(declined.size(), 2u);
    const auto& one = declined.front();
    EXPECT_EQ(stored(one), std::nullopt) << "by event time it is made when it is asked for";
    const auto document = explained(one.id);
    EXPECT_EQ(stored(one), document);
    EXPECT_EQ(pool_of(document), kFirst) << "of the months before";
    declines_of(kFirst + 20, kFirst + kLater);
    EXPECT_EQ(anew(one), document) << "later decisions change nothing";
    EXPECT_EQ(explained(declined[1].id), anew(declined[1])) << "a pool that is remembered";
}

TEST_F(ExplanationsTest, ItGoesWithItsDecisionAndItsApplicantIsNoReferenceAnyMore) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    const auto before = declines_of(0, kFirst);
    ASSERT_TRUE(node_->advance(start_ + base::Duration::days(30)));
    const auto declined = declines_of(kFirst, kFirst + 20);
    ASSERT_GE(declined.size(), 2u);
    EXPECT_EQ(pool_of(explained(declined[0].id)), kFirst);
    ASSERT_FALSE(explained(before[0].id).empty());
    ASSERT_TRUE(stored(before[0]));
    const auto erased = node_->erase(before[0].application.person, "officer", "asked", false);
    ASSERT_TRUE(erased) << erased.error().message;
    EXPECT_EQ(stored(before[0]), std::nullopt);
    const auto answer = get(fmt::format("/v1/decisions/{}/explanation", before[0].id));
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.reason, "erased");
    EXPECT_EQ(pool_of(explained(declined[1].id)), kFirst - 1);
    EXPECT_EQ(pool_of(explained(declined[0].id)), kFirst) << "what was said stays said";
}

TEST_F(ExplanationsTest, WhoIsAloneOrUnknownIsAnsweredWithTheReason) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    auto one = stream_.applicants.front().application;
    one.event_time = start_;
    const auto made = node_->decisions().decide(std::span(&one, 1)).value().front();
    const auto alone = get(fmt::format("/v1/decisions/{}/explanation", made.id));
    EXPECT_EQ(alone.status, 409);
    EXPECT_EQ(alone.reason, "no_reference_set");
    EXPECT_EQ(stored(made), std::nullopt);
    EXPECT_EQ(get("/v1/decisions/none/explanation").status, 404);
    declines_of(1, Explainer::kLeastPool);
    auto again = one;  // the same person, and so no other applicant
    again.id = domain::ApplicationId("again");
    ASSERT_TRUE(node_->decisions().decide(std::span(&again, 1)));
    EXPECT_EQ(get(fmt::format("/v1/decisions/{}/explanation", made.id)).reason, "no_reference_set");
    EXPECT_EQ(stored(made), std::nullopt) << "reasons against a few would stay";
    declines_of(Explainer::kLeastPool, Explainer::kLeastPool + 1);
    const auto document = explained(made.id);
    EXPECT_EQ(pool_of(document), Explainer::kLeastPool) << "never with themselves";
    EXPECT_EQ(get(fmt::format("/v1/decisions/{}/explanation?x=1", made.id)).status, 400);
}

TEST_F(ExplanationsTest, ThePoolsOfTheLastPoliciesAreRememberedAndNoMore) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    const auto declined = declines_of(0, 120);
    ASSERT_FALSE(declined.empty());
    const auto champion = node_->load_model(declined.front().policy).value();
    size_t read = 0;
    Explainer explainer(with_policies([&](const domain::PolicyId& id) {
        ++read;
        return model::LoadedPolicy{champion.policy, id};
    }));
    const auto explained_by = [&](size_t n) {
        auto one = declined.front();
        one.policy = domain::PolicyId(fmt::format("policy-{}", n));
        const auto made = explainer.explain(one);
        EXPECT_TRUE(made) << made.error().message;
        return made ? to_json(*made) : "";
    };
    constexpr size_t kPolicies = Explainer::kMostPools + 2;
    std::vector<std::string> documents;
    for (size_t n = 0; n < kPolicies; ++n) documents.push_back(explained_by(n));
    EXPECT_EQ(read, kPolicies);
    for (size_t n = 2; n < kPolicies; ++n) EXPECT_EQ(explained_by(n), documents[n]);
    EXPECT_EQ(read, kPolicies) << "those of the last are remembered";
    EXPECT_EQ(explained_by(0), documents[0])
        << "what is forgotten is the same when it is read anew";
    EXPECT_EQ(read, kPolicies + 1);
    EXPECT_EQ(explained_by(2), documents[2]);
    EXPECT_EQ(read, kPolicies + 2) << "the one that was asked for longest ago had to go";
}

TEST_F(ExplanationsTest, NoMoreThanSomeAreMadeForReadersAtATime) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    const auto declined = declines_of(0, 120);
    constexpr size_t kReaders = Explanations::kAtOnce + 1;
    ASSERT_GE(declined.size(), kReaders);
    std::promise<void> go_on;
    const auto may_go_on = go_on.get_future().share();
    runtime::Metrics metrics;
    Explanations explanations({with_policies([&](const domain::PolicyId& id) {
                                   may_go_on.wait();
                                   return node_->load_model(id).value();
                               }),
                               metrics});
    // none that was let in can end before the policy is read: one of the readers is turned away
    std::promise<std::string> turned_away;
    std::atomic<bool> one_is{false};
    std::vector<std::future<base::Result<std::string>>> readers;
    for (size_t i = 0; i < kReaders; ++i)
        readers.push_back(std::async(std::launch::async, [&, i] {
            auto answer = explanations.of(declined[i].id);
            if (!answer && !one_is.exchange(true)) turned_away.set_value(answer.error().reason);
            return answer;
        }));
    auto away = turned_away.get_future();
    const bool is_one = away.wait_for(std::chrono::minutes(2)) == std::future_status::ready;
    EXPECT_TRUE(is_one) << "all were let in";
    go_on.set_value();
    size_t made = 0;
    if (is_one) {
        EXPECT_EQ(away.get(), "explanations_busy");
    }
    for (size_t i = 0; i < kReaders; ++i) {
        const auto answer = readers[i].get();
        made += answer.has_value();
        EXPECT_EQ(stored(declined[i]), answer ? std::optional(*answer) : std::nullopt);
    }
    EXPECT_EQ(made, static_cast<size_t>(Explanations::kAtOnce));
    for (size_t i = 0; i < kReaders; ++i)
        EXPECT_TRUE(explanations.of(declined[i].id)) << "the next ones have their turn";
}

/// A policy that approves group 1 more readily than group 0.
model::Policy by_group(const dataset::FeatureSchema& schema,
                       const std::vector<std::string>& cells) {
    auto link = support::scored_link(0);
    link.ensemble.trees.front().nodes[2].value = 2;
    link.ramp = {1, 0.5, std::vector<double>(cells.size(), 0.9), {}};
    link.ramp.thresholds.at(1) = 0.1;
    link.ramp.ties.assign(cells.size(), 1.0);
    model::PolicyState state;
    state.reasons = {model::ReasonMethod::kShapley, std::vector<float>(schema.size())};
    return model::Policy::create(schema, {link}, cells, {}, std::move(state)).value();
}

TEST_F(ExplanationsTest, WhatReadsTheGroupIsExplainedForTheGroupOfThen) {
    open();
    ASSERT_TRUE(node_->advance(start_));
    declines_of(0, 120);
    const auto& applicant = stream_.applicants.at(200).application;
    const auto& cells = node_->settings().catalog.cells();
    ASSERT_GE(cells.size(), 2u);
    const auto loaded = std::make_shared<const model::LoadedPolicy>(
        model::LoadedPolicy{by_group(stream_.schema, cells), domain::PolicyId("by-group")});
    const auto in_force = decision::PolicyInForce::create(loaded, true).value();
    Explainer explainer(with_policies([&](const auto&) { return *loaded; }));
    const auto decided_for = [&](size_t group) {
        auto one = applicant;
        one.event_time = node_->now();
        const auto row = decision::encode_row(one, loaded->policy.schema()).value();
        return decision::decide(*in_force, one, row, group, draw_key(), {"simulated"}, true,
                                node_->now())
            .value();
    };
    const auto of_group0 = decided_for(0), of_group1 = decided_for(1);
    ASSERT_LT(of_group0.p_approve, of_group1.p_approve);
    const auto unknown = explainer.explain(of_group0);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().reason, "group_unknown");
    const auto names = cells.at(1).substr(cells.at(1).find('=') + 1);
    const auto stated =
        post("/v1/protected-attributes",
             protected_attributes::to_json({applicant.person, start_, {{"race", names}}}) + "\n");
    ASSERT_EQ(stated.status, 200) << stated.body;
    const auto made = explainer.explain(of_group1);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->group_read);
    EXPECT_EQ(made->steps.back().approve, of_group1.p_approve);
    EXPECT_TRUE(made->steps.back().reads_group);
    EXPECT_EQ(made->values.p, of_group1.p_approve);
    double sum = 0;
    for (const double one : made->values.lowered) sum += one;
    EXPECT_NEAR(sum, made->values.reference - of_group1.p_approve, 1e-9);
    // drawn for a group that was not the applicant's: nothing is said of another P
    const auto other = explainer.explain(of_group0);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().reason, "replay_mismatch");
}

}  // namespace
}  // namespace rampart::rampartd
