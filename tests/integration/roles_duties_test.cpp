// What nodes that divide the work of a group owe who asks them: explanations and letters, stops,
// erasures, a move of a partition, a change of roles.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <chrono>

#include "rampart/domain/ids.hpp"
#include "rampart/wire/override_json.hpp"
#include "roles_fixture.hpp"
#include "services/rampartd/replay.hpp"
#include "support/generous_champion.hpp"
#include "support/program.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using domain::Action;
using domain::StopKind;
using testing::HasSubstr;
using testing::Not;

class DutiesByRole : public RolesOnABroker {
  protected:
    /// Decides applicants [from, to) where they belong, and returns the declines.
    static std::vector<domain::Decision> declines_of(std::span<const Application> applications,
                                                     const std::vector<Node*>& nodes) {
        std::vector<domain::Decision> declined;
        for (const auto& one : applications) {
            for (Node* node : nodes) {
                const auto made = decide(*node, one);
                if (!made && made.error().reason == "not_owner") continue;
                EXPECT_TRUE(made) << made.error().message;
                if (made && made->action == Action::kDecline) declined.push_back(*made);
            }
        }
        return declined;
    }
    /// Adds to a configuration what letters take.
    Settings with_letters(const std::string& name, const std::string& roles) {
        const auto config = folder_ / name / "rampartd.toml";
        const auto letters = fs::path(test_support::source_dir()) / "ops/config/letters";
        const auto text = base::read_file(config, 1 << 20).value() + "\n" +
                          base::read_file(letters / "notices.toml", 1 << 20).value();
        EXPECT_TRUE(base::write_file_atomically(config, text));
        fs::copy_file(letters / "simulated/reasons.toml", folder_ / name / "reasons.toml");
        auto loaded = load_settings(config, roles);
        EXPECT_TRUE(loaded) << loaded.error().message;
        return *std::move(loaded);
    }
    static std::string path_of(const domain::Decision& decision, const std::string& what) {
        return fmt::format("/v1/decisions/{}/{}", decision.id, what);
    }
    static bool has_job(Node& node, const std::string& name) {
        return ask(node, "GET", "/v1/status").body.find("\"name\":\"" + name + "\"") !=
               std::string::npos;
    }
};

TEST_F(DutiesByRole, ADeclineIsExplainedAndReplayedWhereItIsDecidedByAFollowedChampion) {
    const auto learner = open(learning());
    auto of_a = decider("a", "[0, 1, 2, 3]");
    of_a.log.advertise = "http://a.example:8080";
    const auto a = open(of_a);
    for (Node* node : {learner.get(), a.get()}) ASSERT_TRUE(node->keep_leases());
    const auto all = applications();
    const std::span stream(all);
    const auto before = declines_of(stream.first(100), {a.get()});
    ASSERT_FALSE(before.empty());
    const auto now = all[100].event_time;
    ASSERT_TRUE(learner->advance(now));
    const auto id = support::promote_a_generous_one(*learner);
    for (Node* node : {learner.get(), a.get()}) ASSERT_TRUE(node->advance(now));
    ASSERT_EQ(a->decisions().policy()->id(), id);
    const auto after = declines_of(stream.subspan(100), {a.get()});
    ASSERT_FALSE(after.empty()) << "too generous";
    ASSERT_EQ(after[0].policy, id);
    EXPECT_EQ(a->registry().load_model(id).error().reason, "unknown_model")
        << "a node that follows keeps no model";
    for (const auto& one : {before[0], after[0]}) {
        const auto answer = ask(*a, "GET", path_of(one, "explanation"));
        ASSERT_EQ(answer.status, 200) << answer.body;
        const auto elsewhere = ask(*learner, "GET", path_of(one, "explanation"));
        EXPECT_EQ(elsewhere.status, 421) << elsewhere.body;
        EXPECT_EQ(elsewhere.header("X-Rampart-Owner"), "http://a.example:8080");
    }
    const ReplayRequest request{};
    const auto report = replay_decisions(*a, request);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->replayed, all.size());
    EXPECT_TRUE(report->failed.empty()) << report->first_failure;
    const auto nothing = replay_decisions(*learner, request);
    ASSERT_FALSE(nothing) << "a replay of nothing is no proof";
    EXPECT_EQ(nothing.error().reason, "role_not_here");
    const domain::PolicyId unknown(std::string(64, 'a'));
    EXPECT_EQ(a->load_model(unknown).error().reason, "unknown_model");
}

TEST_F(DutiesByRole, ALetterComesFromTheNodeThatDecidesAndJoins) {
    const auto learner = open(learning());
    static_cast<void>(decider("a", "[0, 1]"));
    const auto a = open(with_letters("a", "decide"));
    static_cast<void>(with_roles("b", "decide,join", "own = [2, 3]", kFollows));
    const auto b = open(with_letters("b", "decide,join"));
    for (Node* node : {learner.get(), a.get(), b.get()}) ASSERT_TRUE(node->keep_leases());
    const auto all = applications();
    const auto declined = declines_of(std::span(all).first(200), {a.get(), b.get()});
    double highest = 0;
    for (const auto& one : declined) highest = std::max(highest, one.p_approve);
    bool by_a = false, by_b = false;
    for (const auto& one : declined) {
        if (one.p_approve == highest) continue;  // no score has lowered it
        const bool of_a = a->decisions().partition_of(one.application.id).value() < 2;
        const auto answer = ask(of_a ? *a : *b, "GET", path_of(one, "notice"));
        if (of_a) {
            by_a = true;
            EXPECT_EQ(answer.status, 409);
            EXPECT_THAT(answer.body, HasSubstr("\"reason\":\"notice_needs_join\""));
            EXPECT_EQ(ask(*b, "GET", path_of(one, "notice")).status, 421);
        } else if (!std::exchange(by_b, true)) {
            EXPECT_EQ(answer.status, 200) << answer.body;
            const domain::Override taken{one.id, 1,      Action::kApprove,
                                         "anna", "paid", one.decided_at};
            ASSERT_TRUE(b->decisions().submit_overrides({&taken, 1}));
            EXPECT_THAT(ask(*b, "GET", path_of(one, "notice")).body,
                        HasSubstr("no_adverse_action"));
        }
        if (by_a && by_b) break;
    }
    EXPECT_TRUE(by_a && by_b);
}

TEST_F(DutiesByRole, AStopPressedAtTheLearnerIsFollowedByWhoDecidesAndTheOtherWayRound) {
    const WorkingNode learner(open(learning())), a(open(decider("a", "[0, 1, 2, 3]"))),
        joiner(open(with_roles("joiner", "join", "", kFollows)));
    int next = 0;
    auto one = applications().front();
    const auto spent = [&] {
        one.id = domain::ApplicationId(fmt::format("new-{}", next++));
        one.person = domain::PersonId(one.id.value());
        const auto made = decide(*a, one);
        EXPECT_TRUE(made) << made.error().message;
        return made && made->exploration_spent;
    };
    using Clock = std::chrono::steady_clock;
    const auto soon = [](const auto& holds) {
        const auto end = Clock::now() + std::chrono::seconds(60);
        while (!holds() && Clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return holds();
    };
    EXPECT_FALSE(spent());
    const auto pressed = ask(*learner, "POST", "/v1/stops/exploration", R"({"reason":"noise"})");
    ASSERT_EQ(pressed.status, 200) << pressed.body;
    EXPECT_TRUE(soon(spent)) << "the node that decides does not follow";
    EXPECT_TRUE(soon([&] { return joiner->registry().stops().size() == 1; }));
    const auto ended = a->stops().release(StopKind::kExplorationOff, "bert", "mended");
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_FALSE(spent());
    const auto ends = [](const WorkingNode& node) {
        return [&node] { return node->registry().stopped_periods().at(0).to.has_value(); };
    };
    EXPECT_TRUE(soon(ends(learner))) << "who trains leaves the period out";
    EXPECT_TRUE(soon(ends(joiner)));
    EXPECT_EQ(ask(*joiner, "GET", "/readyz").status, 200);
}

TEST_F(DutiesByRole, EachRoleHasItsJobsAndNoOther) {
    const auto jobs = [&](Settings settings) {
        settings.event_clock = false;
        const WorkingNode node(open(settings));
        std::set<std::string> found;
        for (const char* name : {"stops", "follow", "read", "join", "explain", "learn", "trainer"})
            if (has_job(*node, name)) found.insert(name);
        return found;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(jobs(learning()), (Names{"stops", "follow", "join", "learn", "trainer"}));
    EXPECT_EQ(jobs(decider("a", "[0]")), (Names{"stops", "follow", "read", "explain"}));
    EXPECT_EQ(jobs(with_roles("b", "join", "", kFollows)), (Names{"stops", "follow", "join"}));
    EXPECT_EQ(jobs(with_roles("c", "decide,join", "own = [1]", kFollows)),
              (Names{"stops", "follow", "join", "explain"}));
    EXPECT_EQ(jobs(with_roles("d", "join,train", "", "")),
              (Names{"stops", "follow", "join", "learn", "trainer"}));
}

TEST_F(DutiesByRole, WhoIsErasedUnderSealedRecordsIsGoneAtTheNodeThatDecides) {
    auto of_learner = learning(), of_a = decider("a", "[0, 1, 2, 3]");
    of_learner.privacy.encrypt_log = of_a.privacy.encrypt_log = true;
    const auto learner = open(of_learner);
    auto a = open(of_a);
    const auto all = applications();
    const auto declined = declines_of(std::span(all).first(60), {a.get()});
    ASSERT_FALSE(declined.empty());
    const auto& gone = declined[0];
    ASSERT_EQ(ask(*a, "GET", path_of(gone, "explanation")).status, 200);
    ASSERT_TRUE(learner->advance(all[60].event_time));
    EXPECT_EQ(learner->joiner().counts().decisions, 60u) << "by keys that another node made";
    const auto erased = learner->erase(gone.application.person, "privacy-office", "why", false);
    ASSERT_TRUE(erased) << erased.error().message;
    ASSERT_TRUE(a->advance(all[60].event_time));
    const auto expect_gone = [&] {
        const auto found = a->decisions().find(gone.id);
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().reason, "erased");
        EXPECT_THAT(ask(*a, "GET", path_of(gone, "explanation")).body, HasSubstr("erased"));
    };
    expect_gone();
    // what is made anew from the log has nothing of the person either
    ASSERT_TRUE(a->release());
    a.reset();
    fs::remove_all(of_a.store / "partitions");
    a = open(of_a);
    expect_gone();
    EXPECT_TRUE(decide(*a, all[61]));
    EXPECT_EQ(ask(*a, "GET", "/readyz").status, 200);
}

TEST_F(DutiesByRole, WhoIsErasedIsGoneAtANodeThatHasLostAnotherPartition) {
    const auto learner = open(learning());
    const auto a = open(decider("a", "[0, 1, 2, 3]"));
    const auto all = applications();
    std::vector<domain::Decision> decided;
    for (const auto& one : std::span(all).first(60)) decided.push_back(*decide(*a, one));
    ASSERT_TRUE(learner->advance(all[60].event_time));
    const auto b = open(decider("b", "[1]"));  // a gives no sign of life meanwhile
    ASSERT_TRUE(a->keep_leases());
    const auto views = a->decisions().partitions();
    for (const auto& view : views)
        ASSERT_EQ(view.status.has_value(), view.partition != PartitionId(1));
    EXPECT_THAT(ask(*a, "GET", "/metrics").body,
                testing::AllOf(HasSubstr("\nrampart_partitions_owned 3\n"),
                               HasSubstr("\nrampart_partitions_configured 4\n")));
    const auto gone = std::find_if(decided.begin(), decided.end(), [&](const auto& one) {
        return a->decisions().partition_of(one.application.id) != PartitionId(1);
    });
    ASSERT_NE(gone, decided.end());
    const auto erased = learner->erase(gone->application.person, "privacy-office", "why", false);
    ASSERT_TRUE(erased) << erased.error().message;
    ASSERT_TRUE(a->advance(all[60].event_time));
    const auto found = a->decisions().find(gone->id);
    ASSERT_FALSE(found) << "it stays for ever";
    EXPECT_EQ(found.error().reason, "erased");
}

TEST_F(DutiesByRole, ARoleIsTakenAwayAndGivenBackOnAStore) {
    const auto learner = open(learning());
    const auto all = applications();
    const auto whole = with_roles("a", "decide,join", "own = [0, 1, 2, 3]", kFollows);
    const auto as = [&](const std::string& roles) {
        auto changed = with_roles("other", roles, "own = [0, 1, 2, 3]", kFollows);
        changed.store = whole.store;
        changed.log.node = "a";
        return changed;
    };
    std::vector<domain::Decision> decided;
    base::Digest hash;
    const auto now = all[50].event_time;
    {
        const auto a = open(whole);
        for (const auto& one : std::span(all).first(50)) decided.push_back(*decide(*a, one));
        ASSERT_TRUE(a->advance(now));
        hash = a->state_hash().value();
        ASSERT_TRUE(a->release());
    }
    const auto left = [&](const std::string& roles) {
        const auto refused = Node::open(as(roles));
        EXPECT_FALSE(refused) << roles;
        return refused ? "" : refused.error().reason + refused.error().message;
    };
    EXPECT_THAT(left("decide"), HasSubstr("state_left"));
    for (int p = 0; p < 4; ++p)
        fs::remove_all(whole.store / "partitions" / std::to_string(p) / "joins");
    const auto aside = whole.store / "partitions" / "2" / "joins.damaged-1";
    fs::create_directories(aside);
    EXPECT_TRUE(base::write_file_atomically(aside / "000009.sst", "a person"));
    EXPECT_THAT(left("decide"), HasSubstr("2/joins.damaged-1"));
    fs::remove_all(aside);
    {
        const auto a = open(as("decide"));
        for (const auto& one : decided) EXPECT_EQ(*decide(*a, one.application), one);
        EXPECT_EQ(a->joiner().counts(), joiner::Counts());
        ASSERT_TRUE(a->release());
    }
    const auto a = open(as("decide,join"));
    ASSERT_TRUE(a->advance(now));
    EXPECT_EQ(a->state_hash().value(), hash) << "made anew from the log";
}

TEST_F(DutiesByRole, APartitionMovesWithWhatTheOtherNodeKeeps) {
    const auto learner = open(learning());
    const auto all = applications();
    const auto config = [&](const std::string& name) { return folder_ / name / "rampartd.toml"; };
    const auto name_roles = [&](const std::string& name, const std::string& roles) {
        const auto text = base::read_file(config(name), 1 << 20).value();
        EXPECT_TRUE(base::write_file_atomically(config(name), "roles = " + roles + "\n" + text));
        return load_settings(config(name)).value();
    };
    static_cast<void>(decider("a", "[0, 1, 2, 3]"));
    const auto of_a = name_roles("a", R"(["decide", "join"])");
    std::vector<domain::Decision> decided;
    {
        const auto a = open(of_a);
        for (const auto& one : std::span(all).first(60)) decided.push_back(*decide(*a, one));
        ASSERT_TRUE(a->advance(all[60].event_time));
        ASSERT_TRUE(a->release());
    }
    static_cast<void>(decider("b", "[1]"));
    const auto of_b = name_roles("b", R"(["decide"])");
    const auto move = [&](const std::string& from, const std::string& to) {
        return test_support::run_program(
            fmt::format("{}/rampart partition move 1 --config {} --to {}", test_support::bin_dir(),
                        config(from).string(), config(to).string()));
    };
    const auto moved = move("a", "b");
    ASSERT_EQ(moved.exit_code, 0) << moved.output;
    EXPECT_EQ(databases("b"), (std::set<std::string>{"1/decisions"}));
    EXPECT_TRUE(databases("a").contains("1/joins")) << "b joins nothing";
    EXPECT_FALSE(databases("a").contains("1/decisions"));
    const auto b = open(of_b);
    for (const auto& one : decided) {
        if (b->decisions().partition_of(one.application.id).value() != 1) continue;
        EXPECT_EQ(*decide(*b, one.application), one);
    }
    static_cast<void>(with_roles("c", "join", "", kFollows));
    static_cast<void>(name_roles("c", R"(["decide"])"));
    const auto useless = move("a", "c");
    EXPECT_NE(useless.exit_code, 0);
    EXPECT_THAT(useless.output, HasSubstr("its roles are decide"));
    EXPECT_TRUE(databases("a").contains("1/joins"));
}

}  // namespace
}  // namespace rampart::rampartd
