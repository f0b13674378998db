// Letters of adverse action of a node: over HTTP and by the command line, from what its store has;
// and a decision that is handed to `rampart decide` as the node gives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>

#include "rampart/base/file.hpp"
#include "rampart/counterfactuals/changes.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using domain::Action;
using testing::HasSubstr;

const fs::path kLetters = fs::path(test_support::source_dir()) / "ops/config/letters";

class Letters : public testing::Test {
  protected:
    void SetUp() override {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 60}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        plain_ = base::read_file(workspace_.config, 1 << 20).value();
        const auto section = base::read_file(kLetters / "notices.toml", 1 << 20).value();
        fs::copy_file(kLetters / "simulated/reasons.toml", folder_ / "reasons.toml");
        configure(plain_ + "\n" + section);
        open();
        start_ = stream_.applicants.front().application.event_time;
        ASSERT_TRUE(node_->advance(start_));
        std::vector<domain::Application> all;
        for (const auto& applicant : stream_.applicants) {
            all.push_back(applicant.application);
            all.back().event_time = start_;
        }
        const auto decided = node_->decisions().decide(all).value();
        for (const auto& one : decided) highest_ = std::max(highest_, one.p_approve);
    }
    void TearDown() override {
        close();
        fs::remove_all(folder_);
    }
    void configure(const std::string& text) {
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    void open() {
        auto opened = Node::open(load_settings(workspace_.config).value());
        ASSERT_TRUE(opened) << opened.error().message;
        node_ = std::move(*opened);
        router_.emplace(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(*router_);
    }
    void close() {
        router_.reset();
        node_.reset();
    }
    /// Returns the n-th decision with that action; of a decline, the n-th whose P is not the
    /// highest, so that its score has lowered it.
    domain::Decision drawn(Action action, size_t n = 0) {
        for (const auto& applicant : stream_.applicants) {
            auto one = applicant.application;
            one.event_time = start_;
            const auto decision = node_->decisions().decide(std::span(&one, 1)).value().front();
            const bool fits = action != Action::kDecline || decision.p_approve < highest_;
            if (decision.action == action && fits && n-- == 0) return decision;
        }
        ADD_FAILURE() << "no such decision";
        return {};
    }
    void override_by(const domain::Decision& decision, uint32_t revision, Action action,
                     const std::string& reason = "income_not_proven") {
        const domain::Override taken{decision.id, revision, action,
                                     "anna",      reason,   decision.decided_at};
        ASSERT_TRUE(node_->decisions().submit_overrides({&taken, 1}));
    }
    http::Response get(const std::string& target) {
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router_->handle(std::move(request));
    }
    http::Response notice(const domain::Decision& decision, const std::string& query = "") {
        return get(fmt::format("/v1/decisions/{}/notice{}", decision.id, query));
    }
    void expect_refused(const http::Response& answer, int status, const std::string& reason) {
        EXPECT_EQ(answer.status, status) << answer.body;
        EXPECT_EQ(answer.reason, reason) << answer.body;
    }
    /// Runs a command of `rampart` in the folder.
    test_support::Ran rampart(const std::string& arguments) const {
        return test_support::run_program(fmt::format("cd '{}' && {}/rampart {}", folder_.string(),
                                                     test_support::bin_dir(), arguments));
    }

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("letters.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::string plain_;
    base::TimePoint start_;
    double highest_ = 0;  // P of all applicants
    std::unique_ptr<Node> node_;
    std::optional<http::Router> router_;
};

TEST_F(Letters, ANodeAnswersWithTheReasonsThatItHasStored) {
    const auto declined = drawn(Action::kDecline);
    const auto answer = notice(declined);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto document = json::parse(answer.body).as_object();
    EXPECT_EQ(json::value_to<std::string>(document.at("decision_id")), declined.id.value());
    EXPECT_EQ(document.at("kind"), "rule");
    EXPECT_EQ(document.at("draw"), "part");
    const auto& reasons = document.at("reasons").as_array();
    ASSERT_EQ(reasons.size(), 2u);
    const bool rather_approved = declined.p_exploit >= 0.5;
    EXPECT_EQ(reasons[0].at("code"), rather_approved ? "chance" : "credit_score");
    EXPECT_EQ(reasons[1].at("code"), rather_approved ? "credit_score" : "chance");
    const auto explained = get(fmt::format("/v1/decisions/{}/explanation", declined.id));
    const auto stored = cited_in(explained.body).value();
    ASSERT_EQ(stored.size(), 1u) << explained.body;
    EXPECT_EQ(stored[0].direction, notices::Direction::kLow);
    const auto& features = reasons[rather_approved ? 1 : 0].at("features").as_array();
    ASSERT_EQ(features.size(), 1u);
    EXPECT_EQ(json::value_to<std::string>(features[0]), stored[0].feature);
    EXPECT_THAT(notice(declined, "?language=es").body, HasSubstr("La ley federal"));
    expect_refused(notice(declined, "?language=fr"), 400, "unknown_language");
    expect_refused(notice(declined, "?reason=x"), 400, "unknown_field");
    expect_refused(get("/v1/decisions/none/notice"), 404, "unknown_decision");
    expect_refused(notice(drawn(Action::kApprove)), 409, "no_adverse_action");
}

TEST_F(Letters, WhatPeopleHaveJustDecidedCounts) {
    const auto declined = drawn(Action::kDecline);
    override_by(declined, 1, Action::kApprove);
    // the log has it, and the joined state not yet
    expect_refused(notice(declined), 409, "no_adverse_action");
    override_by(declined, 2, Action::kDecline, "withdrawn");
    EXPECT_EQ(notice(declined).status, 200);
    const auto approved = drawn(Action::kApprove);
    override_by(approved, 1, Action::kDecline);
    const auto answer = notice(approved);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(R"("kind":"override")"));
    EXPECT_THAT(answer.body, HasSubstr("Unable to verify income"));
    const auto other = drawn(Action::kApprove, 1);
    override_by(other, 1, Action::kDecline, "gut_feeling");
    expect_refused(notice(other), 409, "no_words");
}

TEST_F(Letters, TheCommandWritesTheLetterOfAStore) {
    const auto declined = drawn(Action::kDecline), approved = drawn(Action::kApprove);
    const auto served = notice(declined).body;
    close();
    const auto command = [&](const domain::Decision& decision, const std::string& options) {
        return rampart(fmt::format("letter --config {} --decision {} {}",
                                   workspace_.config.string(), decision.id, options));
    };
    const auto data = command(declined, "--json 2>/dev/null");
    ASSERT_EQ(data.exit_code, 0) << data.output;
    EXPECT_EQ(json::parse(data.output), json::parse(served));
    const auto in_spanish = command(
        declined, fmt::format("--template {}/letter.es.html --language es --out letter.html",
                              kLetters.string()));
    ASSERT_EQ(in_spanish.exit_code, 0) << in_spanish.output;
    const auto letter = base::read_file(folder_ / "letter.html", 1 << 20).value();
    EXPECT_THAT(letter, HasSubstr("<li>Puntuación de la agencia de informes crediticios</li>"));
    EXPECT_THAT(letter, HasSubstr("First Example Bank"));
    EXPECT_EQ(fs::status(folder_ / "letter.html").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    const auto none = command(
        approved, fmt::format("--template {}/letter.en.html --out none.html", kLetters.string()));
    EXPECT_NE(none.exit_code, 0);
    EXPECT_THAT(none.output, HasSubstr("was approved"));
    EXPECT_FALSE(fs::exists(folder_ / "none.html"));
    ASSERT_TRUE(base::write_file_atomically(folder_ / "bad.html", "{{applicant}}"));
    EXPECT_THAT(command(declined, "--template bad.html").output, HasSubstr("'applicant'"));
}

TEST_F(Letters, WordsWithAFaultAreFoundBeforeANodeStarts) {
    const auto check = [&] { return rampart("reasons check reasons.toml --schema schema.toml"); };
    const auto good = check();
    EXPECT_EQ(good.exit_code, 0) << good.output;
    auto text = base::read_file(folder_ / "reasons.toml", 1 << 20).value();
    const auto at = text.find("\"loan_amount\"");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 13, "\"loan_amt\"");
    ASSERT_TRUE(base::write_file_atomically(folder_ / "reasons.toml", text));
    const auto bad = check();
    EXPECT_EQ(bad.exit_code, 1) << bad.output;
    EXPECT_THAT(bad.output, HasSubstr("feature 'loan_amount' has no words"));
    EXPECT_THAT(bad.output, HasSubstr("'loan_amt' fits no feature"));
    const auto settings = load_settings(workspace_.config);
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().reason, "bad_words");
    EXPECT_THAT(settings.error().message, HasSubstr("loan_am"));
}

TEST_F(Letters, WithoutTheSectionThereAreNone) {
    const auto declined = drawn(Action::kDecline);
    close();
    configure(plain_);
    open();
    expect_refused(notice(declined), 409, "no_notices");
}

TEST_F(Letters, ADecisionCanBeHandedToDecideAsItIs) {
    const auto declined = drawn(Action::kDecline);
    const auto document = get(fmt::format("/v1/decisions/{}", declined.id)).body;
    ASSERT_TRUE(base::write_file_atomically(folder_ / "d.json", document));
    close();
    const auto command =
        fmt::format("decide d.json --model store/registry/models/{}.rmp", declined.policy);
    const auto again = rampart(command + " --draw-key store/keys/draw --json 2>/dev/null");
    ASSERT_EQ(again.exit_code, 0) << again.output;
    const auto answer = json::parse(again.output).as_object();
    EXPECT_EQ(json::value_to<std::string>(answer.at("decision_id")), declined.id.value());
    EXPECT_EQ(answer.at("draw").to_number<double>(), declined.draw);
    EXPECT_EQ(answer.at("p_approve").to_number<double>(), declined.p_approve);
    EXPECT_EQ(answer.at("action"), "decline");
    EXPECT_THAT(rampart(command + " --draw-key store/keys/draw").output,
                HasSubstr(fmt::format("draw {:.6f}", declined.draw)));
    EXPECT_THAT(rampart(command + " --draw-key store/keys/draw --product other --json").output,
                testing::Not(HasSubstr(fmt::format("{}", declined.draw))))
        << "an option is stronger than the decision";
    ASSERT_TRUE(base::write_file_atomically(folder_ / "d.json", R"({"decision_id":"d-1"})"));
    EXPECT_EQ(rampart(command).exit_code, 2);
}

/// What the demo of a stream has for letters and counterfactuals fits its features.
class LettersOfTheDemo : public testing::TestWithParam<const char*> {};

TEST_P(LettersOfTheDemo, FitTheStream) {
    const char* given = std::getenv("RAMPART_DATA");
    const auto data = given != nullptr ? given : test_support::source_dir() + "/../shared/data";
    const auto stream =
        loan_stream::load({.name = GetParam(), .data_dir = data, .rows = 200, .seed = 1});
    if (!stream && stream.error().reason == "data_file")
        GTEST_SKIP() << stream.error().message << ": set RAMPART_DATA to a folder with it";
    ASSERT_TRUE(stream) << stream.error().message;
    const auto folder =
        fs::path(testing::TempDir()) / fmt::format("letters.{}.{}", ::getpid(), GetParam());
    const auto config_dir = test_support::source_dir() + "/ops/config";
    const auto workspace = demo::prepare_workspace(folder, config_dir, *stream, 1).value();
    const auto added = demo::add_letters(workspace, config_dir, stream->name);
    ASSERT_TRUE(added) << added.error().message;
    const auto settings = load_settings(workspace.config);  // checks words against features
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_TRUE(settings->notices);
    const auto text = base::read_file(folder / "changes.toml", 1 << 20).value();
    const auto changes = counterfactuals::parse_changes(text, "changes.toml");
    ASSERT_TRUE(changes) << changes.error().message;
    std::vector<std::string> attributes;
    for (const auto& one : settings->catalog.attributes()) attributes.push_back(one.name);
    const auto fit = counterfactuals::check_changes(*changes, settings->product.name,
                                                    settings->schema.features(), attributes);
    EXPECT_TRUE(fit) << fit.error().message;
    for (const auto* name : {"letter.en.html", "letter.es.html"})
        EXPECT_TRUE(fs::exists(folder / name)) << name;
    fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Streams, LettersOfTheDemo,
                         testing::Values("simulated", "default-credit-card", "sba", "cards"),
                         [](const auto& of) {
                             std::string name = of.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace rampart::rampartd
