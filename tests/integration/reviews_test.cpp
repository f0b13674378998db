// Reviews of a node: by HTTP and by the command line, over kill -9, and what letters and replays
// make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <numeric>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/replay.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using domain::Action;
using testing::HasSubstr;
using testing::Not;

const fs::path kLetters = fs::path(test_support::source_dir()) / "ops/config/letters";
const std::string kProgram = test_support::bin_dir() + "/rampart";

class Reviewed : public testing::Test {
  protected:
    void SetUp() override {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 60}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        text += "\n" + base::read_file(kLetters / "notices.toml", 1 << 20).value();
        text += "\n[reviews]\nmost_open = 2\nlongest_days = 3\n";
        fs::copy_file(kLetters / "simulated/reasons.toml", folder_ / "reasons.toml");
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
        start_ = stream_.applicants.front().application.event_time;
    }
    void TearDown() override {
        close();
        fs::remove_all(folder_);
    }
    void open() {
        auto opened = Node::open(load_settings(workspace_.config).value());
        ASSERT_TRUE(opened) << opened.error().message;
        node_ = std::move(*opened);
        router_.emplace(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(*router_);
        ASSERT_TRUE(node_->advance(start_));
    }
    void close() {
        router_.reset();
        node_.reset();
    }
    domain::Application application(size_t n) const {
        auto one = stream_.applicants.at(n).application;
        one.event_time = start_;
        return one;
    }
    domain::Decision decide(size_t n) {
        const auto one = application(n);
        return node_->decisions().decide({&one, 1}).value().front();
    }
    /// Returns the n-th decision with that action.
    domain::Decision drawn(Action action, size_t n = 0) {
        for (size_t i = 0; i < stream_.applicants.size(); ++i) {
            const auto decision = decide(i);
            if (decision.action == action && n-- == 0) return decision;
        }
        ADD_FAILURE() << "no such decision";
        return {};
    }
    /// Decides about all, so that there is whom to compare with, and returns the n-th decline of
    /// whom the score has lowered.
    domain::Decision with_a_letter(size_t n) {
        std::vector<domain::Decision> all;
        double highest = 0;
        for (size_t i = 0; i < stream_.applicants.size(); ++i) {
            all.push_back(decide(i));
            highest = std::max(highest, all.back().p_approve);
        }
        for (const auto& one : all)
            if (one.action == Action::kDecline && one.p_approve < highest && n-- == 0) return one;
        ADD_FAILURE() << "no such decline";
        return {};
    }
    http::Response ask(const char* method, const std::string& target, std::string body = "") {
        http::Request request;
        request.method = method;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = std::move(body);
        EXPECT_TRUE(http::parse_target(target, request));
        return router_->handle(std::move(request));
    }
    http::Response review(const domain::DecisionId& id, const std::string& reason = "contested") {
        return ask("POST", fmt::format("/v1/decisions/{}/review", id),
                   fmt::format(R"({{"actor":"branch-7","reason":"{}"}})", reason));
    }
    http::Response answer(const domain::DecisionId& id, const char* action,
                          const std::string& reason = "income_not_proven") {
        return ask(
            "POST", fmt::format("/v1/decisions/{}/review/answer", id),
            fmt::format(R"({{"action_taken":"{}","actor":"desk","reason":"{}"}})", action, reason));
    }
    static std::string override_json(const domain::DecisionId& id, const char* action,
                                     const std::string& revision = "") {
        return fmt::format(R"({{"decision_id":"{}","action_taken":"{}","actor":"desk",{}"reason":)"
                           R"("income_not_proven","at":"2005-01-01"}})",
                           id, action,
                           revision.empty() ? "" : fmt::format(R"("revision":{},)", revision));
    }
    http::Response report(const domain::DecisionId& id, const char* action,
                          const std::string& revision = "") {
        return ask("POST", "/v1/overrides", override_json(id, action, revision));
    }
    http::Response notice(const domain::DecisionId& id) {
        return ask("GET", fmt::format("/v1/decisions/{}/notice", id));
    }
    size_t taken_of(const domain::DecisionId& id) {
        return node_->joined_of(id).value().value_or(joiner::JoinState()).taken.size();
    }
    json::value list(const std::string& query = "") {
        const auto listed = ask("GET", "/v1/reviews" + query);
        EXPECT_EQ(listed.status, 200) << listed.body;
        return json::parse(listed.body);
    }
    std::vector<std::string> open_ids() {
        std::vector<std::string> ids;
        const auto listed = list();
        for (const auto& one : listed.at("reviews").as_array())
            ids.push_back(json::value_to<std::string>(one.at("decision_id")));
        return ids;
    }
    static void expect_refused(const http::Response& answer, int status,
                               const std::string& reason) {
        EXPECT_EQ(answer.status, status) << answer.body;
        EXPECT_EQ(answer.reason, reason) << answer.body;
    }
    using Ids = std::vector<std::string>;

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("reviews.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    base::TimePoint start_;
    std::unique_ptr<Node> node_;
    std::optional<http::Router> router_;
};

TEST_F(Reviewed, ADecisionIsHeldOpenUntilPeopleAnswerAndTheAnswerIsAnOverride) {
    open();
    const auto declined = drawn(Action::kDecline);
    expect_refused(answer(declined.id, "approve"), 409, "review_not_open");
    const auto opened = review(declined.id);
    ASSERT_EQ(opened.status, 200) << opened.body;
    EXPECT_THAT(opened.body, HasSubstr(R"("actor":"anna:branch-7","reason":"contested")"));
    EXPECT_EQ(open_ids(), Ids{declined.id.value()});
    expect_refused(review(declined.id, "again"), 409, "review_open");
    expect_refused(answer(declined.id, "refer"), 400, "bad_usage");
    const auto taken = answer(declined.id, "approve", "proven");
    ASSERT_EQ(taken.status, 200) << taken.body;
    EXPECT_THAT(taken.body, HasSubstr(R"("action_taken":"approve","actor":"anna:desk",)"
                                      R"("reason":"proven","revision":1)"));
    EXPECT_EQ(open_ids(), Ids{});
    const auto state = node_->joined_of(declined.id).value();
    ASSERT_EQ(state->taken.size(), 2u);
    EXPECT_EQ(joiner::last_answer(*state)->action, Action::kApprove);
    std::vector<std::string> actions;
    const auto entries = node_->registry().audit_entries().value();
    for (const auto& entry : entries)
        if (entry.details.contains("decision")) actions.push_back(entry.action + entry.actor);
    EXPECT_EQ(actions, (Ids{"reviewanna:branch-7", "overrideanna:desk"}));
    EXPECT_EQ(review(declined.id).status, 200) << "another one may be opened";
}

TEST_F(Reviewed, WhatIsNoReviewIsRefusedByName) {
    open();
    const auto id = drawn(Action::kDecline).id;
    expect_refused(review(domain::DecisionId("none")), 404, "unknown_decision");
    expect_refused(review(id, "no code"), 400, "bad_id");
    expect_refused(review(id, std::string(200, 'a')), 422, "bad_id");
    expect_refused(review(id, ""), 400, "bad_id");
    expect_refused(ask("POST", fmt::format("/v1/decisions/{}/review", id), "{}"), 400,
                   "missing_field");
    for (const char* query : {"?limit=", "?cursor=", "?state="})
        expect_refused(ask("GET", std::string("/v1/reviews") + query), 400, "missing_field");
    expect_refused(ask("GET", "/v1/reviews?state=answered"), 400, "bad_usage");
    expect_refused(ask("GET", "/v1/reviews?limit=0"), 400, "bad_number");
    expect_refused(ask("GET", "/v1/reviews?limit=1001"), 400, "bad_number");
    expect_refused(ask("GET", "/v1/reviews?cursor=5"), 400, "bad_usage");
    expect_refused(ask("GET", "/v1/reviews?who=anna"), 400, "unknown_field");
    expect_refused(ask("POST", "/v1/overrides",
                       fmt::format(R"({{"decision_id":"{}","action_taken":"refer","actor":"a",)"
                                   R"("reason":"r","at":"2005-01-01"}})",
                                   id)),
                   400, "override_refers");
    EXPECT_EQ(open_ids(), Ids{});
}

TEST_F(Reviewed, TheNextRevisionIsGivenBehindThoseOfOthers) {
    open();
    const auto declined = drawn(Action::kDecline);
    const domain::Override taken{declined.id, 41, Action::kDecline, "desk", "r", start_};
    ASSERT_TRUE(node_->decisions().submit_overrides({&taken, 1}));  // not joined yet
    ASSERT_EQ(review(declined.id).status, 200);
    EXPECT_EQ(node_->joined_of(declined.id).value()->taken.back().revision, 42u);
    const domain::Override last{
        declined.id, std::numeric_limits<uint32_t>::max(), Action::kApprove, "desk", "r", start_};
    ASSERT_TRUE(node_->decisions().submit_overrides({&last, 1}));
    expect_refused(review(declined.id), 422, "too_many_reports");
}

TEST_F(Reviewed, AnOverrideThatAReviewLeavesNoPlaceForIsNotAcknowledged) {
    open();
    const auto id = drawn(Action::kDecline).id, other = drawn(Action::kDecline, 1).id;
    ASSERT_EQ(review(id).status, 200);
    for (const char* revision : {"", "0"}) {
        const auto refused = report(id, "approve", revision);
        expect_refused(refused, 409, "conflicting_override");
        EXPECT_THAT(refused.body, HasSubstr("last override has revision 0"));
    }
    const auto batch =
        ask("POST", "/v1/overrides",
            fmt::format(R"({{"overrides":[{},{},{}]}})", override_json(other, "approve"),
                        override_json(id, "approve", "1"), override_json(id, "decline", "1")));
    expect_refused(batch, 409, "conflicting_override");
    EXPECT_THAT(batch.body, HasSubstr("overrides[2]"));
    EXPECT_EQ(taken_of(id), 1u);
    EXPECT_EQ(taken_of(other), 0u) << "all or none";
    ASSERT_EQ(report(id, "approve", "1").status, 200);
    EXPECT_EQ(report(id, "approve", "1").status, 200) << "the same again";
    EXPECT_EQ(open_ids(), Ids{}) << "it answers the review";
    ASSERT_EQ(review(id).status, 200);
    ASSERT_EQ(answer(id, "decline").status, 200);
    const auto closed = answer(id, "decline");
    expect_refused(closed, 409, "review_not_open");
    EXPECT_THAT(closed.body, HasSubstr("its last override has revision 3"));
    expect_refused(report(id, "approve", "3"), 409, "conflicting_override");
    EXPECT_EQ(taken_of(id), 4u);
    EXPECT_EQ(report(other, "approve").status, 200) << "without a review it is as before";
    // one that another node opened, and that is not joined here yet
    const auto third = drawn(Action::kDecline, 2).id;
    const domain::Override opened{third, 0, Action::kRefer, "branch-7", "contested", start_};
    ASSERT_TRUE(node_->decisions().submit_overrides({&opened, 1}));
    expect_refused(report(third, "approve"), 409, "conflicting_override");
    EXPECT_EQ(node_->joiner().counts().conflicting_outcomes, 0u);
}

TEST_F(Reviewed, NoneIsOpenedThatHasNoPlaceForItsAnswer) {
    open();
    constexpr auto kLast = std::numeric_limits<uint32_t>::max();
    const auto with = [&](size_t n, std::vector<uint32_t> revisions) {
        const auto id = drawn(Action::kDecline, n).id;
        std::vector<domain::Override> taken;
        for (const uint32_t one : revisions)
            taken.push_back({id, one, Action::kDecline, "desk", "r", start_});
        EXPECT_TRUE(node_->decisions().submit_overrides(taken));
        return id;
    };
    expect_refused(review(with(0, {kLast - 1})), 422, "too_many_reports");
    const auto fits = with(1, {kLast - 2});
    ASSERT_EQ(review(fits).status, 200);
    EXPECT_EQ(answer(fits, "decline").status, 200);
    std::vector<uint32_t> all(joiner::kMaxReports - 1);
    std::iota(all.begin(), all.end(), 0);
    expect_refused(review(with(2, all)), 422, "too_many_reports");
    all.pop_back();
    const auto most = with(3, all);
    ASSERT_EQ(review(most).status, 200);
    EXPECT_EQ(answer(most, "decline").status, 200);
}

TEST_F(Reviewed, PagesHaveEachOnceWithItsAge) {
    open();
    Ids ids;
    for (size_t n = 0; n < 5; ++n) {
        const auto id = decide(n).id;
        ASSERT_EQ(review(id).status, 200);
        ids.push_back(id.value());
        ASSERT_TRUE(node_->advance(start_ + base::Duration::seconds(60 * (n + 1))));
    }
    Ids paged;
    std::string cursor;
    do {
        const auto page = list("?state=open&limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
        EXPECT_EQ(page.at("open"), 5);
        EXPECT_EQ(page.at("oldest_age_seconds"), 300);
        for (const auto& one : page.at("reviews").as_array())
            paged.push_back(json::value_to<std::string>(one.at("decision_id")));
        const auto& next = page.at("next_cursor");
        cursor = next.is_null() ? "" : json::value_to<std::string>(next);
    } while (!cursor.empty());
    EXPECT_EQ(paged, ids);
    EXPECT_EQ(list().at("reviews").at(4).at("age_seconds"), 60);
    EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("rampart_reviews_open 0\n"))
        << "no probe reads the queue";
    node_->reviews().refresh_queue();
    const auto metrics = ask("GET", "/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("rampart_reviews_open 5\n"));
    EXPECT_THAT(metrics, HasSubstr("rampart_review_oldest_seconds 300\n"));
}

TEST_F(Reviewed, TooManyAndTooOldOnesAreADegradedNode) {
    open();
    const auto is_late = [&] {
        node_->reviews().refresh_queue();
        const auto checks = json::parse(ask("GET", "/readyz").body).at("checks").as_array();
        for (const auto& check : checks)
            if (check.at("name") == "reviews") return !check.at("ok").as_bool();
        ADD_FAILURE() << "no check";
        return false;
    };
    Ids ids;
    for (size_t n = 0; n < 3; ++n) {
        EXPECT_FALSE(is_late()) << n;
        ids.push_back(decide(n).id.value());
        ASSERT_EQ(review(domain::DecisionId(ids.back())).status, 200);
    }
    EXPECT_TRUE(is_late()) << "most_open = 2";
    ASSERT_EQ(answer(domain::DecisionId(ids[0]), "decline").status, 200);
    EXPECT_FALSE(is_late());
    ASSERT_TRUE(node_->advance(start_ + base::Duration::days(3)));
    EXPECT_FALSE(is_late());
    ASSERT_TRUE(node_->advance(start_ + base::Duration::days(3) + base::Duration::seconds(1)));
    EXPECT_TRUE(is_late()) << "longest_days = 3";
}

TEST_F(Reviewed, ALetterSaysThatTheDeclineIsOrWasUnderReview) {
    open();
    const auto declined = with_a_letter(0);
    const auto notice = [&] { return this->notice(declined.id); };
    ASSERT_EQ(notice().status, 200) << notice().body;
    EXPECT_THAT(notice().body, HasSubstr(R"("review":null)"));
    ASSERT_EQ(review(declined.id).status, 200);
    EXPECT_THAT(notice().body, HasSubstr(R"("review":{"state":"open")"));
    EXPECT_THAT(notice().body, HasSubstr("This decision is under review by our staff"));
    EXPECT_THAT(notice().body, HasSubstr(R"("kind":"rule")")) << "it is the policy's until then";
    ASSERT_EQ(answer(declined.id, "decline").status, 200);
    EXPECT_THAT(notice().body, HasSubstr(R"("review":{"state":"answered")"));
    ASSERT_EQ(review(declined.id).status, 200);
    ASSERT_EQ(answer(declined.id, "approve").status, 200);
    expect_refused(notice(), 409, "no_adverse_action");
    close();
    const auto other = [&] {
        open();
        const auto found = with_a_letter(1);
        EXPECT_EQ(review(found.id).status, 200);
        close();
        return found;
    }();
    const auto command = fmt::format("{} letter --config {} --decision {} --template ", kProgram,
                                     workspace_.config.string(), other.id);
    const auto written =
        test_support::run_program(command + (kLetters / "letter.en.html").string());
    EXPECT_EQ(written.exit_code, 0) << written.output;
    EXPECT_THAT(written.output, HasSubstr("under review by our staff"));
    auto text = base::read_file(kLetters / "letter.en.html", 1 << 20).value();
    const auto at = text.find("{{#review}}"), end = text.find("{{/review}}");
    text.erase(at, end + 11 - at);
    ASSERT_TRUE(base::write_file_atomically(folder_ / "old.html", text));
    const auto quiet = test_support::run_program(command + (folder_ / "old.html").string());
    EXPECT_NE(quiet.exit_code, 0) << "a letter that keeps quiet about it";
    EXPECT_THAT(quiet.output, HasSubstr("review.text"));
}

TEST_F(Reviewed, ALetterSaysThatADeclineStandsOnlyWhereOneWasReviewedAndStands) {
    open();
    const auto none = HasSubstr(R"("review":null)");
    const auto answered = HasSubstr(R"("review":{"state":"answered")");
    const auto declined = with_a_letter(0).id, corrected = with_a_letter(1).id;
    const auto approved = drawn(Action::kApprove).id, twice = drawn(Action::kApprove, 1).id;
    // approved, and declined by the review
    ASSERT_EQ(review(approved).status, 200);
    ASSERT_EQ(answer(approved, "decline").status, 200);
    EXPECT_THAT(notice(approved).body, none);
    // approved, declined by people, and that was reviewed
    ASSERT_EQ(report(twice, "decline").status, 200);
    ASSERT_EQ(review(twice).status, 200);
    ASSERT_EQ(answer(twice, "decline").status, 200);
    EXPECT_THAT(notice(twice).body, answered);
    // declined, approved by the review, and declined by people later
    ASSERT_EQ(review(declined).status, 200);
    ASSERT_EQ(answer(declined, "approve").status, 200);
    ASSERT_EQ(report(declined, "decline", "2").status, 200);
    EXPECT_THAT(notice(declined).body, none);
    // declined and reviewed; a correction of the answer has another day
    ASSERT_EQ(review(corrected).status, 200);
    ASSERT_EQ(answer(corrected, "decline").status, 200);
    ASSERT_EQ(report(corrected, "decline", "2").status, 200);
    EXPECT_THAT(notice(corrected).body,
                HasSubstr(R"("review":{"state":"answered","at":")" + base::to_iso8601(start_)));
    // what stood was taken back since
    ASSERT_EQ(report(corrected, "approve", "3").status, 200);
    ASSERT_EQ(report(corrected, "decline", "4").status, 200);
    EXPECT_THAT(notice(corrected).body, none);
}

TEST_F(Reviewed, AllAreReferredByTheStopReplayAndWaitInTheQueueUntilTheyAreAnswered) {
    open();
    const auto before = decide(0);
    ASSERT_EQ(ask("POST", "/v1/stops/refer-all", R"({"reason":"harm"})").status, 200);
    Ids waiting;
    for (size_t n = 1; n < 4; ++n) {
        const auto decision = decide(n);
        EXPECT_EQ(decision.action, Action::kRefer);
        EXPECT_EQ(decision.p_refer, 1);
        EXPECT_EQ(decision.policy, before.policy);
        waiting.push_back(decision.id.value());
    }
    ASSERT_TRUE(node_->advance(start_ + base::Duration::seconds(60)));
    EXPECT_EQ(list().at("open"), 3);
    EXPECT_EQ(list().at("reviews").at(0).at("referred"), true);
    EXPECT_EQ(list().at("reviews").at(0).at("age_seconds"), 60);
    const auto replayed = replay_decisions(*node_, {}).value();
    EXPECT_EQ(replayed.replayed, 4u);
    EXPECT_EQ(replayed.different, 0u) << testing::PrintToString(replayed.differences);
    const domain::DecisionId first(waiting[0]);
    expect_refused(review(first), 409, "review_open");
    expect_refused(notice(first), 409, "decision_pending");
    expect_refused(ask("GET", fmt::format("/v1/decisions/{}/explanation", first)), 409,
                   "referred_to_people");
    ASSERT_EQ(answer(first, "decline").status, 200);
    EXPECT_EQ(list().at("open"), 2);
    expect_refused(report(first, "approve"), 409, "conflicting_override");
    EXPECT_EQ(notice(first).status, 200) << notice(first).body;
    EXPECT_THAT(notice(first).body, HasSubstr(R"("kind":"referral")"));
    ASSERT_EQ(ask("DELETE", "/v1/stops/refer-all?reason=mended").status, 200);
    EXPECT_NE(decide(5).action, Action::kRefer);
    EXPECT_EQ(list().at("open"), 2) << "people still have to answer";
}

TEST_F(Reviewed, AReferralOfAllThatNoStopOnRecordHoldsIsADifferenceOfTheReplay) {
    open();
    decide(0);
    ASSERT_TRUE(node_->decisions().set_stops({.refer = true}));
    EXPECT_EQ(decide(1).p_refer, 1);
    const auto replayed = replay_decisions(*node_, {}).value();
    EXPECT_EQ(replayed.replayed, 2u);
    ASSERT_EQ(replayed.different, 1u);
    EXPECT_THAT(replayed.differences.at(0), HasSubstr("no stop refer-all on record"));
}

TEST_F(Reviewed, AreThereAfterKillNineAndGoneFromNoRebuiltState) {
    auto process = demo::ServiceProcess::start(kProgram, workspace_.config,
                                               workspace_.endpoint_file, workspace_.log);
    ASSERT_TRUE(process) << process.error().message;
    const auto client = [&] {
        auto endpoint = base::read_file(workspace_.endpoint_file, 256).value();
        endpoint.pop_back();
        return http::Client::create(endpoint, {.token = workspace_.token}).value();
    };
    const auto rampart = [&](const std::string& arguments) {
        return test_support::run_program(
            fmt::format("{} {} --config {}", kProgram, arguments, workspace_.config.string()));
    };
    const auto decided = client().post("/v1/decisions", wire::to_json(application(0))).value();
    ASSERT_EQ(decided.status, 200) << decided.body;
    const auto id = json::value_to<std::string>(json::parse(decided.body).at("decision_id"));
    const auto opened =
        rampart(fmt::format("review open --decision {} --actor branch-7 --reason contested", id));
    ASSERT_EQ(opened.exit_code, 0) << opened.output;
    process->kill();
    size_t removed = 0;
    for (const auto& partition : fs::directory_iterator(workspace_.store / "partitions"))
        removed += fs::remove_all(partition.path() / "joins");
    EXPECT_GT(removed, 0u) << "the joined state is made anew from the log";
    process = demo::ServiceProcess::start(kProgram, workspace_.config, workspace_.endpoint_file,
                                          workspace_.log);
    ASSERT_TRUE(process) << process.error().message;
    // it reads what there is before it answers
    const auto listed = rampart("review list");
    EXPECT_EQ(listed.exit_code, 0) << listed.output;
    EXPECT_THAT(listed.output, HasSubstr(id));
    EXPECT_THAT(listed.output, HasSubstr("contested"));
    const auto again =
        rampart(fmt::format("review open --decision {} --actor branch-7 --reason again", id));
    EXPECT_NE(again.exit_code, 0);
    EXPECT_THAT(again.output, HasSubstr("branch-7 asked"));
    const auto answered = rampart(fmt::format(
        "review answer --decision {} --action approve --actor desk --reason proven", id));
    ASSERT_EQ(answered.exit_code, 0) << answered.output;
    process->kill();
    process = demo::ServiceProcess::start(kProgram, workspace_.config, workspace_.endpoint_file,
                                          workspace_.log);
    ASSERT_TRUE(process) << process.error().message;
    EXPECT_THAT(rampart("review list").output, HasSubstr("no review is open"));
    EXPECT_TRUE(process->stop());
}

}  // namespace
}  // namespace rampart::rampartd
