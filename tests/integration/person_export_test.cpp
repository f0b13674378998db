// Exports a person's record from a store with several persons: all of the one, nothing of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include "erasure_fixture.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/override_json.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// Texts that occur nowhere else, and where the document has to have them.
struct Marker {
    std::string text, bytes;  // as people read it, as it lies in files
};

/// A person with a value of its own in every kind of record.
struct Applicant {
    std::string letters;  // 20 random ones, the end of each marker
    double income;

    std::string name(std::string_view what) const {
        return base::sha256(letters + std::string(what)).hex().substr(0, 24);
    }
    domain::PersonId person() const { return domain::PersonId(name("person")); }
    domain::ApplicationId application() const { return domain::ApplicationId(name("application")); }
    domain::ApplicationId waiting() const { return domain::ApplicationId(name("waiting")); }
    domain::DecisionId decision() const { return domain::decision_id_of(application()); }
    std::string income_bytes() const {
        const auto bits = std::bit_cast<uint64_t>(income);
        std::string bytes;
        for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i));
        return bytes;
    }
    std::vector<Marker> markers() const {
        std::vector<Marker> all{{fmt::format("{}", income), income_bytes()}};
        for (const char* what : {"person", "application", "request", "waiting", "underwriter",
                                 "code", "branch", "contested", "explained", "rejected", "matter",
                                 "claim", "office", "asks", "later", "unmatched"})
            all.push_back({name(what), name(what)});
        all.push_back({decision().value(), decision().value()});
        return all;
    }
};
const Applicant kOne{"dHw72kQxPz", 987'654.321'098}, kTwo{"Lm4TvB9rYc", 123'987.654'321},
    kThree{"Zq8NsJ3fWg", 555'111.222'777};

class PersonExport : public Erasure {
  protected:
    Application application_of(const Applicant& one, const domain::ApplicationId& id) const {
        auto mine = application(0);
        mine.id = id;
        mine.person = one.person();
        for (auto& feature : mine.features)
            if (std::holds_alternative<double>(feature.value)) feature.value = one.income;
        return mine;
    }
    /// What a node takes in: a decision, its outcome, an override, an explanation.
    void decide_for(Node& node, const Applicant& one) const {
        const auto mine = application_of(one, one.application());
        const auto decided = node.decisions().decide({&mine, 1}, one.name("request"));
        ASSERT_TRUE(decided) << decided.error().message;
        const auto id = decided->front().id;
        const domain::Outcome outcome{id, "repaid", 0, 1, application(0).event_time};
        ASSERT_TRUE(node.decisions().submit_outcomes({&outcome, 1}));
        const domain::Override taken{id,
                                     0,
                                     domain::Action::kApprove,
                                     one.name("underwriter"),
                                     one.name("code"),
                                     application(0).event_time};
        ASSERT_TRUE(node.decisions().submit_overrides({&taken, 1}));
        const auto review = node.reviews().open(id, one.name("branch"), one.name("contested"));
        ASSERT_TRUE(review) << review.error().message;
        auto* index = node.decisions().index_of(streaming::partition_of(id.value(), 4));
        const decision_log::DecisionIndex::Explanation explained{
            id, fmt::format(R"({{"text":"{}"}})", one.name("explained"))};
        ASSERT_TRUE(index->keep_explanations({&explained, 1}));
    }
    /// What lies in the log before a node reads it.
    void append_for(streaming_local::LocalLog& log, const Applicant& one) const {
        auto rejected = wire::to_record(application_of(one, domain::ApplicationId("any")));
        rejected.key = one.name("rejected");
        rejected.headers = {{"schema", "rampart.v9.Application/1"}};
        ASSERT_TRUE(log.append("applications", {&rejected, 1}));
        ASSERT_TRUE(log.append("decisions", {&rejected, 1}));
        // an application that cannot be decided, with outcomes of a decision that never arrives
        auto waiting = application_of(one, one.waiting());
        waiting.features.resize(1);
        const auto record = wire::to_record(waiting);
        ASSERT_TRUE(log.append("applications", {&record, 1}));
        const domain::Override unmatched{domain::decision_id_of(one.waiting()),
                                         7,
                                         domain::Action::kDecline,
                                         one.name("unmatched"),
                                         "r",
                                         application(0).event_time};
        const auto early = wire::to_record(unmatched);
        ASSERT_TRUE(log.append("outcomes", {&early, 1}));
        // one that says otherwise than the first
        const auto otherwise = wire::to_record(
            domain::Outcome{one.decision(), "repaid", 0, 0, application(0).event_time});
        ASSERT_TRUE(log.append("outcomes", {&otherwise, 1}));
    }
    std::string tag_of(const domain::PersonId& person) const {
        const auto secret = runtime::load_secret(workspace_.store / "keys" / "person").value();
        return privacy::PersonKeys::open(workspace_.store / "privacy/keys", secret)
            .value()
            ->tag_of(person)
            .value();
    }
    /// What lies beside the log: attributes, a hold, an erasure under way, a request for one.
    void put_beside(const Applicant& one, uint64_t serial) const {
        const auto settings = load_settings(workspace_.config).value();
        const auto time = application(0).event_time;
        {
            const auto attributes = protected_attributes::ProtectedStore::open(
                                        settings.store / "protected", settings.catalog)
                                        .value();
            protected_attributes::ProtectedAttributes known{
                one.person(), time, stream_.applicants[0].protected_attributes};
            ASSERT_TRUE(attributes->put({&known, 1}, time));
            known.event_time = time + base::Duration::days(1);
            ASSERT_TRUE(attributes->put({&known, 1}, known.event_time));
        }
        const privacy::PersonTag tag(tag_of(one.person()));
        const auto list = privacy::Register::open(settings.store / "privacy/register").value();
        ASSERT_TRUE(
            list->add({tag, one.name("matter"), one.name("claim"), one.name("office"), time, {}}));
        const privacy::PendingDecision decision{one.decision().value(),
                                                {{one.application().value(), time, time}}};
        ASSERT_TRUE(list->begin({tag, time, {decision}, {}}));
        runtime::JobRecord job;
        job.id = one.name("job") + "00000000";
        job.kind = "erasure";
        job.serial = serial;
        job.total = 3;
        job.asked_at = time;
        job.request =
            fmt::format(R"({{"person_id":"{}","actor":"o","reason":"{}","dry_run":false}})",
                        one.person(), one.name("asks"));
        write_job(job);
    }
    /// A request to override decisions of several persons.
    void put_overrides(const std::vector<Applicant>& persons, uint64_t serial) const {
        std::vector<domain::Override> overrides;
        for (const auto& one : persons)
            overrides.push_back({one.decision(), 1, domain::Action::kDecline, one.name("later"),
                                 "r", application(0).event_time});
        runtime::JobRecord job;
        job.id = std::string(32, 'a');
        job.kind = "override";
        job.serial = serial;
        job.asked_at = application(0).event_time;
        job.request = wire::to_json(overrides);
        write_job(job);
    }
    void write_job(const runtime::JobRecord& job) const {
        fs::create_directories(workspace_.store / "jobs");
        ASSERT_TRUE(base::write_file_atomically(
            workspace_.store / "jobs" / runtime::job_file(job.id), runtime::encode_job(job), 0600));
    }
    /// A store with three persons, and records under ids of the first that name the second.
    void make_store(bool encrypt, const std::string& more = "") {
        workspace_ = prepare(encrypt, 0);
        if (!more.empty()) {
            auto text = base::read_file(workspace_.config, 1 << 20).value();
            ASSERT_TRUE(base::write_file_atomically(workspace_.config, text + more));
        }
        const std::vector persons{kOne, kTwo, kThree};
        {
            const auto node = open(workspace_);
            for (const auto& one : persons) decide_for(*node, one);
            ASSERT_TRUE(node->advance(base::add_months(application(0).event_time, 60)));
        }
        {
            const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
            for (const auto& one : persons) append_for(*log, one);
            const auto foreign = wire::to_record(application_of(kTwo, kOne.application()));
            ASSERT_TRUE(log->append("applications", {&foreign, 1}));
        }
        {
            const auto node = open(workspace_);
            ASSERT_TRUE(node->advance(base::add_months(application(0).event_time, 61)));
            const auto rejected = [&] {
                size_t found = 0;
                for (int32_t p = 0; p < 4; ++p)
                    found += node->decisions()
                                 .index_of(streaming::PartitionId(p))
                                 ->quarantined(99)
                                 ->size();
                return found;
            };
            for (int i = 0; i < 500 && rejected() < 7; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ASSERT_EQ(rejected(), 7u);
        }
        for (uint64_t i = 0; i < persons.size(); ++i) put_beside(persons[i], i + 1);
        put_overrides(persons, 9);
    }
    /// Runs the command of an auditor, with a reason: any of the persons may be in the vault.
    test_support::Ran run(const std::string& options, const std::string& tail = "") const {
        const bool reason = options.find("--reason") != std::string::npos;
        return run_with(audit_config(), options + (reason ? "" : " --reason asked"), tail);
    }
    static test_support::Ran run_with(const fs::path& config, const std::string& options,
                                      const std::string& tail = "") {
        return test_support::run_program(fmt::format("({}/rampart person export --config {} {}{})",
                                                     test_support::bin_dir(), config.string(),
                                                     options, tail));
    }
    fs::path audit_config() const {
        const auto file = workspace_.config.parent_path() / "audit.toml";
        const auto text = base::read_file(workspace_.config, 1 << 20).value();
        EXPECT_TRUE(base::write_file_atomically(file, text + "\n[audit]\nenabled = true\n"));
        return file;
    }
    /// Returns the first of many applicants on one side of the store's split.
    Applicant applicant_in(bool vault) const {
        const auto split = runtime::load_secret(workspace_.store / "keys" / "split").value();
        for (int i = 0;; ++i) {
            const Applicant one{fmt::format("applicant {}", i), 1000.0 + i};
            if (training_set::in_vault(split, one.person()) == vault) return one;
        }
    }
    /// Returns the document; messages go to standard error.
    json::object document_of(const std::string& options) const {
        const auto ran = run("--json " + options, " 2>/dev/null");
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output).as_object();
    }
    std::vector<registry::AuditEntry> audit() const {
        return registry::ModelRegistry::open(workspace_.store / "registry")
            .value()
            ->audit_entries()
            .value();
    }

    demo::Workspace workspace_;
};

/// Returns a text with numbers as they are written in this test.
std::string text_of(const json::value& value) {
    if (value.is_double()) return fmt::format("{}", value.get_double());
    std::string text;
    if (const auto* object = value.if_object()) {
        for (const auto& [name, member] : *object)
            text += std::string(name) + ' ' + text_of(member) + '\n';
    } else if (const auto* array = value.if_array()) {
        for (const auto& one : *array) text += text_of(one) + '\n';
    } else if (value.is_string()) {
        text = std::string(value.get_string());
    } else {
        text = json::serialize(value);
    }
    return text;
}

/// Returns the member of the document that shows what lies in a file of the store.
std::vector<std::string> members_for(const std::string& file) {
    const auto begins = [&](std::string_view with) { return file.starts_with(with); };
    if (begins("partitions/")) return {"decisions", "quarantine"};
    if (begins("log/")) return {"log"};
    if (begins("protected/")) return {"protected_attributes"};
    if (begins("privacy/register/")) return {"legal_holds", "erasure_under_way"};
    if (begins("registry/")) return {"audit"};
    if (begins("jobs/")) return {"jobs"};
    return {};
}

TEST_F(PersonExport, HasEveryByteOfThePersonAndNothingOfOthers) {
    make_store(false);
    const auto files = [&](const Marker& marker) {
        return test_support::files_with(workspace_.store, marker.bytes);
    };
    const auto document = document_of("--person " + kOne.person().value());
    const auto all = text_of(document);
    size_t scanned = 0;
    for (const auto& marker : kOne.markers()) {
        EXPECT_THAT(all, HasSubstr(marker.text));
        for (const auto& file : files(marker)) {
            ++scanned;
            bool shown = false;
            for (const auto& member : members_for(file))
                shown |= text_of(document.at(member)).find(marker.text) != std::string::npos;
            EXPECT_TRUE(shown) << marker.text << " lies in " << file;
        }
    }
    EXPECT_GT(scanned, 30u);
    for (const auto& other : {kTwo, kThree})
        for (const auto& marker : other.markers())
            EXPECT_FALSE(test_support::has_trace(all, marker.text)) << marker.text;
    EXPECT_EQ(document.at("records_that_name_others"), 3)
        << "in two topics of the log and in quarantine";
    for (const char* member :
         {"decisions", "log", "quarantine", "legal_holds", "jobs", "audit", "policies"})
        EXPECT_FALSE(document.at(member).as_array().empty()) << member;
    EXPECT_EQ(document.at("protected_attributes").at("versions").as_array().size(), 2u);
    EXPECT_EQ(document.at("jobs").as_array().size(), 2u);
    EXPECT_EQ(document.at("decisions").as_array().size(), 2u) << "one has not arrived";
    const auto secret = base::read_file(workspace_.store / "keys" / "person", 4096).value();
    EXPECT_FALSE(test_support::has_trace(all, secret));
}

TEST_F(PersonExport, ThePageHasTheSameAndIsForItsOwnerOnly) {
    make_store(true);
    const auto page = folder_ / "record.html";
    const auto ran = run("--application " + kOne.waiting().value() +
                         " --actor anna --reason 'request 9' --out " + page.string());
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("wrote "));
    struct stat about {};
    ASSERT_EQ(::stat(page.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    const auto text = base::read_file(page, 1 << 24).value();
    for (const auto& marker : kOne.markers()) EXPECT_THAT(text, HasSubstr(marker.text));
    for (const auto& marker : kTwo.markers())
        EXPECT_FALSE(test_support::has_trace(text, marker.text)) << marker.text;

    const auto last = audit().back();
    EXPECT_EQ(last.action, "person_export");
    EXPECT_EQ(last.actor, "anna");
    EXPECT_EQ(last.details.at("person"), base::to_hex(tag_of(kOne.person())));
    EXPECT_EQ(last.details.at("reason"), "request 9");
    EXPECT_TRUE(last.details.contains("vault"));
    for (const auto& [name, value] : last.details)
        EXPECT_FALSE(test_support::has_trace(value, kOne.person().value())) << name;

    const auto again = run("--person " + kTwo.person().value() + " --out " + page.string());
    EXPECT_EQ(again.exit_code, 2) << again.output;
    EXPECT_THAT(again.output, HasSubstr("there is such a file already"));
    EXPECT_EQ(base::read_file(page, 1 << 24).value(), text);
    const auto data = folder_ / "record.json";
    ASSERT_EQ(run("--person " + kTwo.person().value() + " --out " + data.string()).exit_code, 0);
    const auto document = json::parse(base::read_file(data, 1 << 24).value()).as_object();
    EXPECT_EQ(json::value_to<std::string>(document.at("person_id")), kTwo.person().value());
}

TEST_F(PersonExport, ReadsAnEncryptedStore) {
    make_store(true, "encrypt_databases = true\n");
    for (const auto& marker : kOne.markers())
        EXPECT_THAT(test_support::files_with(workspace_.store / "partitions", marker.bytes),
                    testing::IsEmpty());
    const auto document = document_of("--person " + kOne.person().value());
    const auto all = text_of(document);
    for (const auto& marker : kOne.markers()) EXPECT_THAT(all, HasSubstr(marker.text));
    for (const auto& marker : kThree.markers())
        EXPECT_FALSE(test_support::has_trace(all, marker.text)) << marker.text;
    EXPECT_EQ(document.at("person_keys"), 1);
    bool sealed = false;
    for (const auto& one : document.at("log").as_array()) sealed |= one.at("sealed").as_bool();
    EXPECT_TRUE(sealed);
}

TEST_F(PersonExport, OfAnErasedPersonThereIsTheErasureAlone) {
    workspace_ = prepare(true, 0);
    {
        const auto node = open(workspace_);
        decide_for(*node, kOne);
        decide_for(*node, kTwo);
        ASSERT_TRUE(node->advance(base::add_months(application(0).event_time, 60)));
        ASSERT_TRUE(node->erase(kOne.person(), "privacy-office", "request 7", false));
    }
    const auto document = document_of("--person " + kOne.person().value());
    EXPECT_TRUE(document.at("nothing_held").as_bool());
    EXPECT_FALSE(document.at("erased_at").is_null());
    for (const char* member : {"decisions", "log", "quarantine", "legal_holds", "jobs"})
        EXPECT_TRUE(document.at(member).as_array().empty()) << member;
    std::vector<std::string> actions;
    for (const auto& entry : document.at("audit").as_array())
        actions.push_back(json::value_to<std::string>(entry.at("action")));
    EXPECT_THAT(actions, testing::ElementsAre("erase", "erased", "person_export"));
    EXPECT_THAT(run("--person " + kOne.person().value()).output,
                HasSubstr("the person was erased on"));
    const auto gone = run("--application " + kOne.application().value());
    EXPECT_EQ(gone.exit_code, 2) << gone.output;
    EXPECT_THAT(gone.output, HasSubstr("nothing is known here of this application"));
}

TEST_F(PersonExport, WhatLiesUnderAnErasedDecisionIsNotShown) {
    workspace_ = prepare(true, 0);
    { const auto node = open(workspace_); }
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        const auto record = wire::to_record(application_of(kOne, kOne.application()));
        ASSERT_TRUE(log->append("applications", {&record, 1}));
    }
    {
        const auto node = open(workspace_);
        decide_for(*node, kOne);
        ASSERT_TRUE(node->erase(kOne.person(), "privacy-office", "request 7", false));
    }
    // the producer's own record of the application lies in the topic for 30 days
    const auto document = document_of("--person " + kOne.person().value());
    ASSERT_EQ(document.at("log").as_array().size(), 1u);
    EXPECT_EQ(document.at("log").at(0).at("topic"), "applications");
    EXPECT_TRUE(document.at("decisions").as_array().empty());
    EXPECT_FALSE(test_support::has_trace(text_of(document), kOne.name("underwriter")));
}

TEST_F(PersonExport, OutcomesOfTheVaultAreForAuditorsWhoSayWhy) {
    workspace_ = prepare(true, 0);
    { const auto node = open(workspace_); }
    const auto vault = applicant_in(true), other = applicant_in(false);
    {
        const auto node = open(workspace_);
        for (const auto& one : {vault, other}) decide_for(*node, one);
        ASSERT_TRUE(node->advance(base::add_months(application(0).event_time, 60)));
    }
    const auto plain = [&](const Applicant& one) {
        return run_with(workspace_.config,
                        "--person " + one.person().value() + " --json --reason asked");
    };
    EXPECT_EQ(plain(other).exit_code, 0) << plain(other).output;
    const auto refused = plain(vault);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("audit.enabled"));
    EXPECT_THAT(refused.output, testing::Not(HasSubstr(vault.name("underwriter"))));
    const auto who = "--person " + vault.person().value();
    const auto silent = run_with(audit_config(), who);
    EXPECT_EQ(silent.exit_code, 2) << silent.output;
    EXPECT_THAT(silent.output, HasSubstr("--reason"));
    EXPECT_NE(audit().back().details.at("person"), base::to_hex(tag_of(vault.person())))
        << "nothing was given";
    const auto given = run(who);
    EXPECT_EQ(given.exit_code, 0) << given.output;
    EXPECT_THAT(given.output, HasSubstr(vault.name("underwriter")));
    EXPECT_THAT(given.output, HasSubstr("are among those that the gate tests with"));
    EXPECT_EQ(audit().back().details.at("vault"), "yes");
    const auto listed = test_support::run_program(
        fmt::format("{}/rampart audit list --store {} --action person_export",
                    test_support::bin_dir(), workspace_.store.string()));
    EXPECT_THAT(listed.output, HasSubstr("person_export  " + audit().back().details.at("person")));
}

TEST_F(PersonExport, AnUnknownPersonARunningNodeAndDamageAreSaid) {
    make_store(true);
    const auto out = folder_ / "out.html";
    const auto unknown = run("--person stranger --out " + out.string());
    EXPECT_EQ(unknown.exit_code, 2) << unknown.output;
    EXPECT_THAT(unknown.output, HasSubstr("nothing is held here of this person"));
    EXPECT_NE(audit().back().action, "person_export");
    EXPECT_EQ(run("").exit_code, 2);
    EXPECT_EQ(run("--person a --application b").exit_code, 2);
    EXPECT_EQ(run("--person 'a b'").exit_code, 2);
    const auto who = "--person " + kOne.person().value() + " --out " + out.string();
    {
        auto process =
            demo::ServiceProcess::start(test_support::bin_dir() + "/rampart", workspace_.config,
                                        workspace_.endpoint_file, workspace_.log)
                .value();
        const auto served = run(who);
        EXPECT_EQ(served.exit_code, 2) << served.output;
        EXPECT_THAT(served.output, HasSubstr("stop the process that has it open"));
        ASSERT_TRUE(process.stop());
    }
    const auto job = workspace_.store / "jobs" / runtime::job_file(std::string(32, 'a'));
    const auto whole = base::read_file(job, 1 << 20).value();
    ASSERT_TRUE(base::write_file_atomically(job, whole.substr(0, 40), 0600));
    auto damaged = run(who);
    EXPECT_EQ(damaged.exit_code, 4) << damaged.output;
    EXPECT_THAT(damaged.output, HasSubstr("jobs"));
    ASSERT_TRUE(base::write_file_atomically(job, whole, 0600));
    {
        const auto db =
            storage::Database::open(workspace_.store / "protected", {"people", "history"}, {})
                .value();
        storage::WriteBatch batch;
        batch.put(storage::ColumnFamily{0}, kOne.person().value(), "\xff\xff");
        ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
    }
    damaged = run(who);
    EXPECT_EQ(damaged.exit_code, 4) << damaged.output;
    EXPECT_THAT(damaged.output, HasSubstr("protected attributes: "));
    EXPECT_FALSE(fs::exists(out));
    EXPECT_NE(audit().back().action, "person_export") << "nothing was given";
}

}  // namespace
}  // namespace rampart::rampartd
