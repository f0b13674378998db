// Erases a person from state, index, log, quarantine and files; holds and retention forbid it.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "erasure_fixture.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using test_support::run_program;

TEST_F(Erasure, NoFileOfTheStoreHasAByteOfThePersonAndNoReplayBringsItBack) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    const auto id = fill(*node);
    ASSERT_EQ(examples_of_anna(*node), 1u);
    const std::vector<std::string> markers{kAnna.value(), kApplication, income_bytes()};
    for (const auto& marker : markers) {
        EXPECT_TRUE(on_disk(workspace.store / "partitions", marker));
        EXPECT_FALSE(on_disk(workspace.store / "log", marker)) << "the log is sealed";
    }
    const auto review_left = [&] {
        return on_disk(workspace.store / "partitions", kReviewer) ||
               on_disk(workspace.store / "partitions", kContested);
    };
    EXPECT_TRUE(review_left());
    EXPECT_EQ(node->joiner().review_queue()->open, 1u);
    const auto plan = node->erase(kAnna, "privacy-office", "request 7", true);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->decisions.size(), 1u);
    EXPECT_EQ(plan->in_clear, 0u);
    EXPECT_EQ(examples_of_anna(*node), 1u) << "a dry run changes nothing";

    const auto report = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->decisions.size(), 1u);
    EXPECT_EQ(report->decisions.front().decision, id);
    EXPECT_EQ(report->keys, 1u);
    EXPECT_EQ(examples_of_anna(*node), 0u);
    EXPECT_EQ(node->joiner().counts().decisions, 19u);
    for (const auto& marker : markers) {
        EXPECT_EQ(test_support::files_with(workspace.folder, marker), std::vector<std::string>());
    }
    EXPECT_FALSE(review_left()) << "the log has it under her erased decision, and names no one";
    EXPECT_EQ(node->joiner().review_queue()->open, 0u);
    EXPECT_TRUE(on_disk(workspace.store, kBert.value())) << "others stay";
    EXPECT_EQ(node->joiner().check().value(), std::vector<std::string>());

    const auto hash = node->joiner().state_hash();
    const auto end = node->now();
    node.reset();
    const auto backup = back_up(workspace);
    EXPECT_TRUE(on_disk(backup, kBert.value()));
    for (const auto& marker : markers) {
        EXPECT_FALSE(in_opened_log(workspace, marker));
        EXPECT_FALSE(on_disk(backup, marker)) << "in a backup made afterwards";
    }
    fs::remove_all(workspace.store / "partitions");  // made again from the log
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(node->joiner().state_hash(), hash);
    EXPECT_EQ(examples_of_anna(*node), 0u);
    for (const auto& marker : markers) EXPECT_FALSE(on_disk(workspace.store, marker));
    const auto mine = annas(kApplication);
    EXPECT_EQ(node->decisions().decide(std::span(&mine, 1)).error().reason, "erased");
    for (const auto& marker : markers) EXPECT_FALSE(on_disk(workspace.store, marker));
}

TEST_F(Erasure, ATombstoneOnlyVariantFailsTheSameScan) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    const auto id = fill(*node);
    ASSERT_TRUE(node->decisions().erase(std::span(&id, 1), node->now()));
    ASSERT_TRUE(node->advance(node->now()));
    EXPECT_EQ(examples_of_anna(*node), 0u) << "no reader sees her any more";
    const auto marker = kAnna.value();
    // without compaction the files of the joined state still have her data
    EXPECT_TRUE(on_disk(workspace.store / "partitions", marker));
    ASSERT_TRUE(node->joiner().compact_erased(kAnna, std::span(&id, 1)));
    EXPECT_FALSE(on_disk(workspace.store / "partitions", marker));
    // and as long as her key exists, the log has them
    node.reset();
    EXPECT_FALSE(on_disk(workspace.store / "log", marker));
    EXPECT_TRUE(in_opened_log(workspace, marker));
    node = open(workspace);
    ASSERT_TRUE(node->erase(kAnna, "privacy-office", "request 7", false));
    node.reset();
    EXPECT_FALSE(in_opened_log(workspace, marker));
    EXPECT_FALSE(on_disk(workspace.folder, marker));
}

TEST_F(Erasure, APersonMayComeBackAndIsAnotherOneThen) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    fill(*node);
    ASSERT_TRUE(node->erase(kAnna, "privacy-office", "request 7", false));
    const auto again = decide(*node, annas("second-application")).id;
    const auto end = base::add_months(node->now(), 60);
    ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(examples_of_anna(*node), 1u);
    node.reset();
    fs::remove_all(workspace.store / "partitions");
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(examples_of_anna(*node), 1u);
    EXPECT_TRUE(node->decisions().find(again));
}

TEST_F(Erasure, ALogInTheClearIsSaidToKeepItsBytesAndIsIgnored) {
    const auto workspace = prepare(false, 0);
    auto node = open(workspace);
    fill(*node);
    EXPECT_TRUE(on_disk(workspace.store / "log", kAnna.value()));
    const auto report = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->in_clear, 1u);
    EXPECT_EQ(report->keys, 0u);
    EXPECT_NE(fmt::format("{}", fmt::join(report->remains, "\n")).find("in the clear"),
              std::string::npos);
    EXPECT_TRUE(on_disk(workspace.store / "log", kAnna.value()));
    EXPECT_FALSE(on_disk(workspace.store / "partitions", kAnna.value()));
    EXPECT_FALSE(on_disk(workspace.store / "partitions", income_bytes()));
    EXPECT_EQ(examples_of_anna(*node), 0u);
}

TEST_F(Erasure, WhatIsInQuarantineAboutThePersonGoesToo) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    fill(*node);
    const auto end = node->now();
    node.reset();
    {
        const auto log = streaming_local::LocalLog::open(workspace.store / "log").value();
        auto unknown = wire::to_record(annas("other-application"));
        unknown.headers = {{"schema", "rampart.v9.Application/1"}};
        auto decision = wire::to_record(application(1));  // a broken record of another person
        decision.headers = unknown.headers;
        const std::vector records{unknown, decision};
        ASSERT_TRUE(log->append("decisions", records));
    }
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    ASSERT_EQ(node->joiner().list_quarantined(9)->size(), 2u);
    const auto report = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->quarantined, 1u);
    EXPECT_EQ(node->joiner().list_quarantined(9)->size(), 1u);
    EXPECT_FALSE(on_disk(workspace.store / "partitions", kAnna.value()));
}

TEST_F(Erasure, LeavesATallyOfOneRecordAPersonAndNoIdentityInIt) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    fill(*node);
    const auto month = base::month_of(application(0).event_time);
    ASSERT_TRUE(node->erase(kAnna, "privacy-office", "request 7", false));
    node.reset();
    const auto secret = runtime::load_secret(workspace.store / "keys" / "person").value();
    const auto tally = [&] {
        const auto list = privacy::Register::open(workspace.store / "privacy/register").value();
        return list->erased().value();
    };
    const auto one = tally();
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].month, month);
    EXPECT_EQ(one[0].records, 1u);
    EXPECT_EQ(one[0].cell, "") << "she had told no attributes";
    privacy::PersonTag tag;
    {
        auto keys = privacy::PersonKeys::open(workspace.store / "privacy/keys", secret).value();
        tag = keys->tag_of(kAnna);
        auto list = privacy::Register::open(workspace.store / "privacy/register").value();
        // Bert's erasure crashed when his key was gone, and Anna's is asked for again
        ASSERT_TRUE(list->begin({keys->tag_of(kBert),
                                 application(1).event_time,
                                 {{.id = domain::decision_id_of(application(1).id).value()}},
                                 {{{month, one[0].side, "approve", false, "", 1}}}}));
        ASSERT_EQ(keys->destroy(kBert).value(), 1u);
    }
    for (const auto& marker : {kAnna.value(), kApplication, income_bytes(), tag.value()})
        EXPECT_FALSE(on_disk(workspace.store / "privacy" / "register", marker));
    node = open(workspace);
    ASSERT_TRUE(node->erase(kBert, "privacy-office", "request 8", false));
    EXPECT_FALSE(node->erase(kAnna, "privacy-office", "request 7", false));
    node.reset();
    size_t records = 0;
    for (const auto& kind : tally()) records += kind.records;
    EXPECT_EQ(records, 2u);
    EXPECT_FALSE(on_disk(workspace.store, kBert.value()));
}

/// Registers a candidate that approves as many as the trust region around the champion allows.
domain::PolicyId register_candidate(Node& node) {
    const auto champion = node.registry().champion()->policy;
    const auto loaded = node.registry().load_model(champion).value();
    auto links = loaded.policy.links();
    auto link = support::scored_link(50);
    link.ramp = {0.3, 0.5, {0.0}, {1.0}};
    links.emplace_back(link);
    const auto policy = support::explained_policy(loaded.policy.schema(), links);
    return node.registry()
        .register_model(model::encode_model_file(policy), node.now(), "a test")
        .value();
}

TEST_F(Erasure, TheGateOfTheNodeCountsWhoIsErased) {
    loan_stream::StreamOptions options;
    options.name = "simulated";
    options.rows = 500;
    stream_ = loan_stream::load(options).value();
    const auto workspace = prepare(true, 0);
    auto text = base::read_file(workspace.config, 1 << 20).value();
    text.replace(text.find("every_months = 2"), 16, "every_months = 600");
    ASSERT_TRUE(base::write_file_atomically(workspace.config, text));
    auto node = open(workspace);
    std::vector<domain::Outcome> outcomes;
    for (const auto& applicant : stream_.applicants) {
        const auto decision = decide(*node, applicant.application);
        outcomes.push_back({decision.id, "repaid", 0, 1, applicant.application.event_time});
    }
    ASSERT_TRUE(node->decisions().submit_outcomes(outcomes));
    node.reset();
    {
        const auto settings = load_settings(workspace.config).value();
        auto store = protected_attributes::ProtectedStore::open(settings.store / "protected",
                                                                settings.catalog)
                         .value();
        for (const auto& one : stream_.applicants) {
            const protected_attributes::ProtectedAttributes known{
                one.application.person, one.application.event_time, one.protected_attributes};
            ASSERT_TRUE(store->put(std::span(&known, 1), {}));
        }
    }
    node = open(workspace);
    const auto end = base::add_months(stream_.applicants.back().application.event_time, 60);
    ASSERT_TRUE(node->advance(end));
    const auto candidate = register_candidate(*node);
    const auto before = node->certify(candidate, end, "").value();
    EXPECT_NE(before.reason, "too_many_erased") << before.message;
    for (size_t n = 0; n < 25; ++n) {
        const auto& person = stream_.applicants[n].application.person;
        ASSERT_TRUE(node->erase(person, "privacy-office", "requests", false)) << n;
    }
    const auto after = node->certify(candidate, end, "").value();
    EXPECT_EQ(after.reason, "too_many_erased") << before.message << "\n" << after.message;
}

TEST_F(Erasure, RetentionShorterThanHorizonAndGraceIsRefusedWithTheMonthsThatAreEnough) {
    const auto workspace = prepare(true, 25);
    const auto text = base::read_file(workspace.config, 1 << 20).value();
    const auto settings_with = [&](int months) {
        EXPECT_TRUE(base::write_file_atomically(
            workspace.config, fmt::format("{}retention_months = {}\n", text, months)));
        return load_settings(workspace.config);
    };
    // 6 months and 30 days: two months more than the horizon, as February is shorter
    EXPECT_TRUE(settings_with(8));
    const auto shorter = settings_with(7);
    ASSERT_FALSE(shorter);
    EXPECT_EQ(shorter.error().reason, "retention_too_short");
    EXPECT_NE(shorter.error().message.find("'repaid'"), std::string::npos);
    EXPECT_NE(shorter.error().message.find("give 8 or more"), std::string::npos)
        << shorter.error().message;
    EXPECT_FALSE(settings_with(0));
}

TEST_F(Erasure, RetentionAndHoldsForbidItAndNameTheDayAndAnErasureThatWasBegunIsFinished) {
    const auto workspace = prepare(true, 25);
    auto node = open(workspace);
    ASSERT_TRUE(node->advance(application(0).event_time));
    const auto id = decide(*node, annas(kApplication)).id;
    const auto decided = node->now();
    const auto kept_until = base::to_iso8601(base::add_months(decided, 25)).substr(0, 10);
    const auto refused = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "retention");
    EXPECT_NE(refused.error().message.find(kept_until), std::string::npos)
        << refused.error().message;
    EXPECT_EQ(node->erase(kAnna, "privacy-office", "request 7", true).error().reason, "retention");
    EXPECT_TRUE(node->decisions().find(id));
    EXPECT_EQ(node->registry().audit_entries()->back().action, "erase_refused");

    const auto later = base::add_months(decided, 26);
    ASSERT_TRUE(node->advance(later));
    node.reset();
    {
        // as after a crash during it: the key is destroyed, and all else is there
        const auto settings = load_settings(workspace.config).value();
        const auto secret = runtime::load_secret(settings.store / "keys" / "person").value();
        auto keys = privacy::PersonKeys::open(workspace.store / "privacy/keys", secret).value();
        auto list = privacy::Register::open(workspace.store / "privacy/register").value();
        ASSERT_TRUE(list->begin({keys->tag_of(kAnna), later, {{.id = id.value()}}}));
        ASSERT_TRUE(list->add({keys->tag_of(kAnna), "court-12", "claim", "legal", later, {}}));
        ASSERT_EQ(keys->destroy(kAnna).value(), 1u);
    }
    node = open(workspace);
    const auto report = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(node->decisions().find(id).error().reason, "erased");
    EXPECT_FALSE(on_disk(workspace.store, kAnna.value()));
    EXPECT_FALSE(on_disk(workspace.store, income_bytes()));
    // it was finished, so from now on the hold counts
    EXPECT_EQ(node->erase(kAnna, "privacy-office", "again", false).error().reason, "on_hold");
}

TEST_F(Erasure, AnOperatorHoldsErasesAndListsUnmatchedOutcomesByCommandLine) {
    const auto workspace = prepare(true, 0);
    {
        const auto node = open(workspace);
        fill(*node);
        decide(*node, application(30));
    }
    {
        const auto log = streaming_local::LocalLog::open(workspace.store / "log").value();
        const auto ghost = wire::to_record(domain::Outcome{domain::DecisionId("d-ghost"), "repaid",
                                                           0, 1, application(0).event_time});
        ASSERT_TRUE(log->append("outcomes", std::span(&ghost, 1)));
    }
    const fs::path program = test_support::bin_dir() + "/rampart";
    auto process = demo::ServiceProcess::start(program, workspace.config, workspace.endpoint_file,
                                               workspace.log)
                       .value();
    const auto run = [&](const std::string& command) {
        return run_program(
            fmt::format("{} {} --config {}", program.string(), command, workspace.config.string()));
    };
    const auto advance = run_program(fmt::format(
        "curl -s -o /dev/null -w '%{{http_code}}' -H 'Authorization: Bearer {}' -d "
        "'{{\"now\":\"{}\"}}' http://$(cat {})/v1/clock",
        workspace.token, base::to_iso8601(base::add_months(application(0).event_time, 61)),
        workspace.endpoint_file.string()));
    ASSERT_EQ(advance.output, "200");
    // one document on standard output; messages go to standard error
    const auto run_json = [&](const std::string& command) {
        return json::parse(
            run_program(fmt::format("({} {} --json --config {} 2>/dev/null)", program.string(),
                                    command, workspace.config.string()))
                .output);
    };
    const auto unmatched = run_json("inspect unmatched");
    EXPECT_EQ(unmatched.at("unmatched_reports").as_int64(), 1);
    EXPECT_EQ(unmatched.at("unmatched").at(0).at("decision_id").as_string(), "d-ghost");
    EXPECT_GT(unmatched.at("overdue_examples").as_int64(), 0);
    EXPECT_NE(run("inspect unmatched").output.find("d-ghost"), std::string::npos);

    const std::string who = "--person " + kAnna.value() + " --reason 'request 7'";
    ASSERT_EQ(run("hold add --matter court-12 --until 2099-01-01 " + who).exit_code, 0);
    const auto refused = run("erase " + who);
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_NE(refused.output.find("court-12"), std::string::npos) << refused.output;
    EXPECT_NE(refused.output.find("2099-01-01"), std::string::npos) << refused.output;
    EXPECT_EQ(run("hold list").output.find(kAnna.value()), std::string::npos);
    EXPECT_NE(run("hold list").output.find("court-12"), std::string::npos);
    ASSERT_EQ(run("hold remove --matter court-12 " + who).exit_code, 0);
    EXPECT_EQ(run("hold remove --matter court-12 " + who).exit_code, 2);
    EXPECT_EQ(run("erase --reason r").exit_code, 2);
    EXPECT_EQ(run("erase --application nobodys --reason r").exit_code, 2);
    for (const char* dry_run : {"", " --dry-run"}) {
        const auto unknown = run(fmt::format("erase --person nobody --reason r{}", dry_run));
        EXPECT_EQ(unknown.exit_code, 1) << unknown.output;
        EXPECT_NE(unknown.output.find("unknown: nothing is held here of this person"),
                  std::string::npos)
            << unknown.output;
    }
    const auto would =
        run_json("erase --dry-run --application " + kApplication + " --reason 'request 7'");
    EXPECT_FALSE(would.at("erased").as_bool());
    EXPECT_EQ(would.at("decisions").as_array().size(), 1u);
    const auto erased = run("erase " + who);
    EXPECT_EQ(erased.exit_code, 0) << erased.output;
    EXPECT_NE(erased.output.find("stays:"), std::string::npos);
    EXPECT_EQ(run_json("erase --dry-run " + who).at("refused").as_string(), "unknown_person");
    ASSERT_TRUE(process.stop());
    EXPECT_FALSE(on_disk(workspace.store, kAnna.value()));

    const auto registry = registry::ModelRegistry::open(workspace.store / "registry").value();
    std::vector<std::string> actions;
    const auto entries = registry->audit_entries().value();
    for (const auto& entry : entries) {
        actions.push_back(entry.action);
        for (const auto& [name, value] : entry.details) {
            EXPECT_FALSE(test_support::has_trace(value, kAnna.value())) << name;
        }
    }
    for (const char* action : {"hold_add", "erase_refused", "hold_remove", "erase", "erased"}) {
        EXPECT_NE(std::find(actions.begin(), actions.end(), action), actions.end()) << action;
    }
}

}  // namespace
}  // namespace rampart::rampartd
