// The whole loop as a user runs it: the demo program, its report, and what the command line says of
// its store.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <functional>
#include <set>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/server.hpp"
#include "rampart/model/model_file.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::Ran;
using test_support::run_program;

const std::string kRampart = test_support::bin_dir() + "/rampart";

/// With it figures of the vault are shown.
const std::string kAudit = "\n[audit]\nenabled = true\n";

std::string read(const fs::path& path) { return base::read_file(path, size_t{1} << 30).value(); }

Ran run_demo(const fs::path& out, int rows = 6000,
             const std::string& config = test_support::source_dir() + "/ops/config") {
    return run_program(fmt::format(
        "{}-demo --data simulated --rows {} --seed 1 --program {} --config-dir {} --out {}",
        kRampart, rows, kRampart, config, out.string()));
}

/// One run of the demo for all tests of the suite.
class Loop : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        out_ = fs::path(testing::TempDir()) / fmt::format("loop_test.{}", ::getpid());
        const auto ran = run_demo(out_ / "a");
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
        report_ = json::parse(read(out_ / "a" / "report.json"));
        for (const auto& entry : fs::directory_iterator(out_ / "a" / "certificates")) {
            if (entry.path().extension() == ".cert") certificates_.push_back(entry.path());
        }
        std::sort(certificates_.begin(), certificates_.end());
    }
    static void TearDownTestSuite() { fs::remove_all(out_); }

    static std::string verify_command(const fs::path& file) {
        return fmt::format("{} verify {} --key {}", kRampart, file.string(),
                           (out_ / "a" / "certificates" / "gate.pub.pem").string());
    }
    /// A certificate with evidence.
    static fs::path certified() {
        for (const auto& file : certificates_) {
            if (run_program(verify_command(file)).output.starts_with("CERTIFIED")) return file;
        }
        ADD_FAILURE() << "no run was certified";
        return {};
    }
    static fs::path evidence_of(fs::path certificate) {
        return certificate.replace_extension(".evidence.jsonl");
    }

    static fs::path out_;
    static json::value report_;
    static std::vector<fs::path> certificates_;
};
fs::path Loop::out_;
json::value Loop::report_;
std::vector<fs::path> Loop::certificates_;

TEST_F(Loop, CertifiesSomethingNotEverythingAndTheHiddenTruthAgrees) {
    int certified = 0, other = 0;
    for (const auto& run : report_.at("gate_runs").as_array()) {
        (run.at("verdict").as_string() == "CERTIFIED" ? certified : other) += 1;
    }
    EXPECT_GE(certified, 1);
    EXPECT_GE(other, 1);
    EXPECT_EQ(report_.at("certificates").at("issued").as_int64(), certified);
    EXPECT_EQ(report_.at("certificates").at("right").as_int64(), certified);
    EXPECT_TRUE(report_.at("final_not_below_first_in_any_group").as_bool());
}

TEST_F(Loop, CountsEveryApplicantOnce) {
    int64_t applications = 0;
    for (const auto& month : report_.at("months").as_array()) {
        applications += month.at("by_group").at("everybody").at("applications").as_int64();
    }
    EXPECT_EQ(applications, 6000);
    EXPECT_EQ(report_.at("joiner").at("decisions").as_int64(), 6000);
    EXPECT_EQ(report_.at("joiner").at("matured").as_int64(), 6000);
    EXPECT_EQ(report_.at("joiner").at("quarantined").as_int64(), 0);
}

TEST_F(Loop, ThePageStandsOnItsOwn) {
    const auto page = read(out_ / "a" / "report.html");
    EXPECT_NE(page.find("<svg"), std::string::npos);
    for (const char* outside : {"<script", "http:", "https:", "<link", "@import", "url("}) {
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    }
}

/// Returns what the certificates in a folder say, but for their entries in the ledger.
std::multiset<std::string> payloads_in(const fs::path& certificates) {
    std::multiset<std::string> found;
    for (const auto& entry : fs::directory_iterator(certificates)) {
        if (entry.path().extension() != ".cert") continue;
        const auto envelope = json::parse(read(entry.path()));
        const auto payload = base::from_base64(envelope.at("payload").as_string()).value();
        auto members = json::parse(payload).as_object();
        members.erase("ledger");
        found.insert(json::serialize(members));
    }
    return found;
}

TEST_F(Loop, TheSameSeedGivesTheSameReportAndCertificates) {
    const auto ran = run_demo(out_ / "b");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    auto again = json::parse(read(out_ / "b" / "report.json"));
    auto first = report_;
    for (auto* report : {&first, &again}) {
        report->as_object().erase("seconds");
        // a certificate holds digests of the log, whose records are sealed with random keys
        for (auto& run : report->at("gate_runs").as_array()) run.as_object().erase("certificate");
        for (auto& entry : report->at("ledger").at("entries").as_array())
            entry.as_object().erase("hash");
    }
    EXPECT_EQ(first, again);
    const auto certificates = payloads_in(out_ / "a" / "certificates");
    EXPECT_GE(certificates.size(), 3u);
    EXPECT_EQ(certificates, payloads_in(out_ / "b" / "certificates"));
}

TEST_F(Loop, VerifyAcceptsEveryCertificate) {
    ASSERT_FALSE(certificates_.empty());
    for (const auto& file : certificates_) {
        const auto ran = run_program(verify_command(file) + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        EXPECT_TRUE(json::parse(ran.output).at("valid").as_bool());
    }
    const auto unnamed =
        run_program(fmt::format("{} verify {}", kRampart, certificates_.front().string()));
    EXPECT_EQ(unnamed.exit_code, 0);
    EXPECT_NE(unnamed.output.find("the key was found beside the certificate"), std::string::npos)
        << unnamed.output;
    const auto missing = run_program(
        fmt::format("{} verify {} --evidence nowhere", kRampart, certificates_.front().string()));
    EXPECT_EQ(missing.exit_code, 2) << missing.output;
}

TEST_F(Loop, VerifyFindsKeyAndEvidenceOfAStoresOwnCertificatesAndShowsNoFigure) {
    size_t with_evidence = 0;
    for (const auto& file : certificates_) {
        const auto own = out_ / "a" / "store" / "registry" / "certificates" / file.filename();
        const auto ran =
            run_program(fmt::format("({} verify {} --json 2>/dev/null)", kRampart, own.string()));
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        const auto shown = json::parse(ran.output).as_object();
        const auto full = json::parse(run_program(verify_command(file) + " --json").output);
        for (const char* same : {"valid", "verdict", "candidate", "reference", "key"})
            EXPECT_EQ(shown.at(same), full.at(same)) << same;
        EXPECT_EQ(shown.size(), 5u) << ran.output;
        const auto inspected =
            run_program(fmt::format("{} inspect certificate {}", kRampart, own.string()));
        EXPECT_EQ(inspected.exit_code, 2);
        EXPECT_NE(inspected.output.find("rampart figures"), std::string::npos);
        with_evidence += fs::exists(evidence_of(file));
    }
    EXPECT_GE(with_evidence, 1u);
}

TEST_F(Loop, TheEpochInACertificateHoldsTheIdsOfTheStoresKeys) {
    const auto shown =
        run_program(fmt::format("{} inspect certificate {}", kRampart, certified().string()));
    const auto keys = shown.output.find(R"("keys":{"draw":")");
    ASSERT_NE(keys, std::string::npos) << shown.output;
    for (const char* name : {"evidence", "signing", "split"}) {
        EXPECT_NE(shown.output.find(fmt::format(R"("{}":")", name), keys), std::string::npos)
            << name;
    }
}

TEST_F(Loop, PromoteFindsTheEvidenceOfAStoresOwnCertificate) {
    const auto copy = out_ / "promoted";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    const auto own = copy / "store" / "registry" / "certificates" / certified().filename();
    const auto ran = run_program(fmt::format(
        "{} promote --config {} --model {} --certificate {}", kRampart,
        (copy / "rampartd.toml").string(),
        std::string(report_.at("policies").as_array().front().at("id").as_string()), own.string()));
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_NE(ran.output.find("the certificate is for model"), std::string::npos) << ran.output;
}

TEST_F(Loop, VerifyCallsAMissingFileNotFoundAndNeverACertificateNotValid) {
    const auto lone = out_ / "lone";
    fs::create_directories(lone);
    fs::copy_file(certified(), lone / "a.cert");
    const auto command = fmt::format("{} verify {}", kRampart, (lone / "a.cert").string());
    const auto no_key = run_program(command);
    EXPECT_EQ(no_key.exit_code, 2) << no_key.output;
    EXPECT_NE(no_key.output.find("key not found"), std::string::npos) << no_key.output;
    fs::copy_file(out_ / "a" / "certificates" / "gate.pub.pem", lone / "gate.pub.pem");
    for (const char* named : {"", " --evidence nowhere.jsonl"}) {
        const auto ran = run_program(command + named);
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_NE(ran.output.find("evidence not found"), std::string::npos) << ran.output;
        EXPECT_EQ(ran.output.find("NOT VALID"), std::string::npos) << ran.output;
    }
    const auto copy = out_ / "stripped";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    fs::remove_all(copy / "store" / "registry" / "evidence");
    const auto own = copy / "store" / "registry" / "certificates" / certified().filename();
    const auto ran = run_program(fmt::format("{} verify {}", kRampart, own.string()));
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_NE(ran.output.find("evidence not found"), std::string::npos) << ran.output;
}

TEST_F(Loop, VerifyLeavesAPageForPeopleIfTheCertificateIsValid) {
    const fs::path page = out_ / "page.html";
    const auto ran =
        run_program(fmt::format("{} --html {}", verify_command(certified()), page.string()));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const std::string html = read(page);
    for (const char* part :
         {"CERTIFIED", "With confidence 90 % ", "<svg", "Intervals that hold together",
          "Approval rates and adverse impact", "assumed", "Merkle root"}) {
        EXPECT_NE(html.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(html.find("<script"), std::string::npos);
    fs::remove(page);
    const auto forged =
        run_program(fmt::format("{} --evidence {} --html {}", verify_command(certified()),
                                certificates_.front().string(), page.string()));
    EXPECT_EQ(forged.exit_code, 1) << forged.output;
    EXPECT_FALSE(fs::exists(page));
}

/// Changes that a forger could make to certificate and evidence.
struct Forgery {
    const char* name;
    std::function<void(std::string& certificate, std::string& evidence)> apply;
};

std::string with_payload(const std::string& certificate,
                         const std::function<void(std::string&)>& change) {
    auto envelope = json::parse(certificate).as_object();
    auto payload = base::from_base64(std::string(envelope["payload"].as_string())).value();
    change(payload);
    envelope["payload"] = base::to_base64(payload);
    return json::serialize(envelope);
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
}

TEST_F(Loop, VerifyRefusesADozenForgeries) {
    const auto file = certified();
    const std::string other_evidence = [&] {
        for (const auto& other : certificates_) {
            if (other != file && fs::exists(evidence_of(other)) &&
                fs::file_size(evidence_of(other)) > 0)
                return read(evidence_of(other));
        }
        return std::string();
    }();
    ASSERT_FALSE(other_evidence.empty());
    const std::vector<Forgery> forgeries{
        {"truncated certificate", [](auto& c, auto&) { c.resize(c.size() / 2); }},
        {"no content", [](auto& c, auto&) { c.clear(); }},
        {"delta made smaller",
         [](auto& c, auto&) {
             c = with_payload(c,
                              [](auto& p) { replace_first(p, "\"delta\":0.0", "\"delta\":0.00"); });
         }},
        {"claim reworded",
         [](auto& c, auto&) {
             c = with_payload(c, [](auto& p) { replace_first(p, "no lower", "much higher"); });
         }},
        {"another candidate",
         [](auto& c, auto&) {
             c = with_payload(
                 c, [](auto& p) { replace_first(p, "\"candidate\":\"", "\"candidate\":\"0"); });
         }},
        {"signature bent",
         [](auto& c, auto&) {
             const size_t at = c.find("\"sig\":\"") + 10;
             c[at] = c[at] == 'A' ? 'B' : 'A';
         }},
        {"evidence line gone", [](auto&, auto& e) { e.erase(0, e.find('\n') + 1); }},
        {"evidence line twice", [](auto&, auto& e) { e = e.substr(0, e.find('\n') + 1) + e; }},
        {"evidence cut off", [](auto&, auto& e) { e.resize(e.size() - 20); }},
        {"impact in the evidence changed", [](auto&, auto& e) { replace_first(e, "-150", "75"); }},
        {"evidence of another run", [&](auto&, auto& e) { e = other_evidence; }},
        {"no evidence", [](auto&, auto& e) { e.clear(); }},
    };
    for (const auto& forgery : forgeries) {
        auto certificate = read(file), evidence = read(evidence_of(file));
        forgery.apply(certificate, evidence);
        const auto forged = out_ / "forged.cert";
        ASSERT_TRUE(base::write_file_atomically(forged, certificate));
        ASSERT_TRUE(base::write_file_atomically(out_ / "forged.evidence.jsonl", evidence));
        const auto ran = run_program(verify_command(forged));
        EXPECT_EQ(ran.exit_code, 1) << forgery.name << ": " << ran.output;
        EXPECT_TRUE(ran.output.starts_with("NOT VALID")) << forgery.name << ": " << ran.output;
    }
}

TEST_F(Loop, ACertificateLetsNoOtherModelDecide) {
    const auto bootstrap =
        std::string(report_.at("policies").as_array().front().at("id").as_string());
    const auto ran = run_program(fmt::format("{} promote --config {} --model {} --certificate {}",
                                             kRampart, (out_ / "a" / "rampartd.toml").string(),
                                             bootstrap, certified().string()));
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_TRUE(ran.output.starts_with("refused: ")) << ran.output;
}

TEST_F(Loop, RollingBackGoesOneChampionBackAndIsLogged) {
    const auto copy = out_ / "rolled";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    const auto& policies = report_.at("policies").as_array();
    ASSERT_GE(policies.size(), 2u);
    const auto ran = run_program(fmt::format("{} rollback --config {} --reason 'a test' --json",
                                             kRampart, (copy / "rampartd.toml").string()));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_EQ(json::parse(ran.output).at("champion"), policies[policies.size() - 2].at("id"));
    const auto models = run_program(
        fmt::format("{} models --store {} --json", kRampart, (copy / "store").string()));
    const auto history = json::parse(models.output).at("promotions").as_array();
    EXPECT_EQ(history.back().at("reason").as_string(), "a test");
    for (const auto& promotion : history) {
        EXPECT_EQ(promotion.at("valid_until").is_null(), promotion.at("certificate").is_null());
    }

    const auto asked_at = [&](std::string_view time) {
        return run_program(fmt::format("{} models --store {} --at {} --json", kRampart,
                                       (copy / "store").string(), time));
    };
    for (size_t i = 0; i + 1 < history.size(); ++i) {  // later entries may be of the same moment
        if (history[i].at("at") == history[i + 1].at("at")) continue;
        const auto then = asked_at(history[i].at("at").as_string());
        EXPECT_EQ(then.exit_code, 0) << then.output;
        EXPECT_EQ(json::parse(then.output).at("champion"), history[i].at("policy"));
        EXPECT_EQ(json::parse(then.output).at("since"), history[i].at("at"));
    }
    EXPECT_EQ(asked_at("1969-12-31").exit_code, 1) << "before the first champion";
    EXPECT_EQ(asked_at("yesterday").exit_code, 2);
}

TEST_F(Loop, AModelOfAnotherSchemaIsRefusedAndTheStoreServesOn) {
    const auto copy = out_ / "schema";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    const auto schema =
        dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
    ASSERT_TRUE(model::save_model_file(support::explained_policy(schema, {support::scored_link(1)}),
                                       copy / "t.rmp"));
    const auto in = "cd " + copy.string() + " && " + kRampart;
    const auto ran = run_program(in + " certify --config rampartd.toml --model t.rmp");
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_NE(ran.output.find("other features"), std::string::npos) << ran.output;
    ASSERT_TRUE(model::save_model_file(
        model::Policy::create(schema, {support::scored_link(1)}, {}, {}).value(), copy / "n.rmp"));
    const auto bare = run_program(in + " certify --config rampartd.toml --model n.rmp");
    EXPECT_EQ(bare.exit_code, 2) << bare.output;
    EXPECT_NE(bare.output.find("it has no reference row"), std::string::npos) << bare.output;
    EXPECT_EQ(run_program(in + " inspect store --config rampartd.toml").exit_code, 0);
}

TEST_F(Loop, CentresByRegressionAreMadeRegisteredAndProven) {
    const auto copy = out_ / "regression";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    auto config = read(copy / "rampartd.toml");
    replace_first(config, "[gate]\n",
                  "[gate]\ncontrol_variates = \"regression\"\nmin_power = 0.0\n");
    ASSERT_TRUE(base::write_file_atomically(copy / "rampartd.toml", config));
    const auto in = fmt::format("cd {} && {} ", copy.string(), kRampart);
    ASSERT_EQ(run_program(in + "rollback --config rampartd.toml --reason 'a test'").exit_code, 0);
    const auto id = std::string(report_.at("policies").as_array().back().at("id").as_string());
    const auto ran = run_program(
        "(" + in +
        fmt::format("certify --config rampartd.toml --model {} --json 2>/dev/null)", id));
    ASSERT_LE(ran.exit_code, 1) << ran.output;
    const auto run = json::parse(ran.output);
    const std::string verdict(run.at("verdict").as_string()),
        certificate(run.at("certificate").as_string());
    EXPECT_TRUE(verdict == "CERTIFIED" || verdict == "NO_SOLUTION_FOUND") << ran.output;
    ASSERT_TRUE(base::write_file_atomically(copy / "audit.toml", config + kAudit));
    const auto copied = run_program(
        in + fmt::format("figures {} --config audit.toml --out . --reason test", certificate));
    ASSERT_EQ(copied.exit_code, 0) << copied.output;
    for (const auto& file : fs::directory_iterator(copy)) {
        if (!file.path().native().ends_with(".evidence.jsonl")) continue;
        ASSERT_NE(read(file.path()).find("\"q1\":"), std::string::npos);
        const auto verified = run_program(in + fmt::format("verify {}.cert", certificate));
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
        EXPECT_NE(verified.output.find("every figure"), std::string::npos) << verified.output;
        return;
    }
    ADD_FAILURE() << "no evidence with centres of the records' own";
}

/// A tolerance of 0 cannot be reached.
TEST_F(Loop, ACandidateThatMissesItsConstraintsIsTakenToTheGateOnlyWhereThatIsConfiguredAndSaysSo) {
    const auto config = out_ / "config";
    fs::copy(test_support::source_dir() + "/ops/config", config, fs::copy_options::recursive);
    const auto file = config / "demo" / "simulated.toml";
    auto text = read(file);
    replace_first(text, "tolerance = 0.05", "tolerance = 0.0");
    for (const bool allowed : {true, false}) {
        if (!allowed)
            replace_first(text, "allow_infeasible = true",
                          "allow_infeasible = false\ntoward = false");
        ASSERT_TRUE(base::write_file_atomically(file, text));
        const auto out = out_ / (allowed ? "allowed" : "refused");
        const auto ran = run_demo(out, 3000, config.string());
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
        const auto report = json::parse(read(out / "report.json"));
        const auto& runs = report.at("gate_runs").as_array();
        ASSERT_FALSE(runs.empty());
        for (const auto& run : runs) {
            const std::string detail(run.at("detail").as_string()),
                verdict(run.at("verdict").as_string());
            EXPECT_NE(detail.find("fnr differs by 0."), std::string::npos) << detail;
            EXPECT_NE(detail.find(allowed ? "the candidate misses constraints of its training"
                                          : "training.allow_infeasible = true"),
                      std::string::npos)
                << detail;
            EXPECT_TRUE(allowed || verdict == "REFUSED") << verdict;
        }
        size_t certificates = 0;
        for (const auto& entry : fs::directory_iterator(out / "certificates")) {
            if (entry.path().extension() != ".cert") continue;
            ++certificates;
            const auto shown = run_program(
                fmt::format("{} inspect certificate {}", kRampart, entry.path().string()));
            EXPECT_NE(shown.output.find(R"("missed_in_training":"fnr differs by 0.)"),
                      std::string::npos)
                << shown.output;
        }
        EXPECT_EQ(certificates > 0, allowed);
    }
}

TEST_F(Loop, ACandidateCannotBeComparedWithAChampionOfLater) {
    const auto copy = out_ / "before";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    const auto id = std::string(report_.at("policies").as_array().front().at("id").as_string());
    const auto ran = run_program(fmt::format("{} certify --config {} --model {} --at 2022-06-01",
                                             kRampart, (copy / "rampartd.toml").string(), id));
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_NE(ran.output.find("decides since"), std::string::npos) << ran.output;
}

TEST_F(Loop, AMistypedStoreIsNotMadeAnew) {
    const auto copy = out_ / "typo";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    fs::rename(copy / "store", copy / "stoer");
    for (const char* command : {"inspect store", "rollback --reason x"}) {
        const auto ran = run_program(
            fmt::format("{} {} --config {}", kRampart, command, (copy / "rampartd.toml").string()));
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_FALSE(fs::exists(copy / "store"));
    }
}

TEST_F(Loop, EvidenceIsForItsOwnerOnly) {
    for (const auto& file :
         fs::directory_iterator(out_ / "a" / "store" / "registry" / "evidence")) {
        EXPECT_EQ(fs::status(file).permissions() & fs::perms::mask,
                  fs::perms::owner_read | fs::perms::owner_write)
            << file.path();
    }
}

TEST_F(Loop, InspectShowsStoreLogAndModel) {
    const auto audit = out_ / "a" / "audit.toml";
    ASSERT_TRUE(base::write_file_atomically(audit, read(out_ / "a" / "rampartd.toml") + kAudit));
    const auto inspect = [](const fs::path& config) {
        return run_program(
            fmt::format("{} inspect store --config {} --json", kRampart, config.string()));
    };
    EXPECT_TRUE(
        json::parse(inspect(out_ / "a" / "rampartd.toml").output).at("state_hash").is_null());
    const auto store = inspect(audit);
    ASSERT_EQ(store.exit_code, 0) << store.output;
    EXPECT_EQ(json::parse(store.output).at("state_hash"), report_.at("state_hash"));
    const auto log = run_program(fmt::format("{} inspect log --store {} --limit 2 2>/dev/null",
                                             kRampart, (out_ / "a" / "store").string()));
    EXPECT_EQ(log.exit_code, 0) << log.output;
    EXPECT_NE(log.output.find("\"propensity\""), std::string::npos) << log.output;
    const auto id = std::string(report_.at("policies").as_array().back().at("id").as_string());
    const auto model = run_program(
        fmt::format("{} inspect model {}", kRampart,
                    (out_ / "a" / "store" / "registry" / "models" / (id + ".rmp")).string()));
    EXPECT_EQ(model.exit_code, 0) << model.output;
    EXPECT_NE(model.output.find(id), std::string::npos) << model.output;
}

TEST_F(Loop, ServeSaysWhichPortIsTaken) {
    const auto taken =
        http::Server::start({}, [](http::Request) { return http::Response{}; }).value();
    const auto copy = out_ / "port";
    fs::copy(out_ / "a", copy, fs::copy_options::recursive);
    auto config = read(copy / "rampartd.toml");
    replace_first(config, "port = 0", fmt::format("port = {}", taken->port()));
    ASSERT_TRUE(base::write_file_atomically(copy / "rampartd.toml", config));
    const auto ran = run_program(
        fmt::format("{} serve --config {}", kRampart, (copy / "rampartd.toml").string()));
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_NE(ran.output.find(fmt::format("{}", taken->port())), std::string::npos) << ran.output;
}

TEST_F(Loop, AConfigurationMistakeIsNamedWithItsLine) {
    const auto broken = out_ / "a" / "broken.toml";
    auto config = read(out_ / "a" / "rampartd.toml");
    replace_first(config, "kappa = 0.5", "kapa = 0.5");
    ASSERT_TRUE(base::write_file_atomically(broken, config));
    const auto ran = run_program(fmt::format("{} serve --config {}", kRampart, broken.string()));
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.output.find("gate.kapa: is not a known key"), std::string::npos) << ran.output;
}

}  // namespace
}  // namespace rampart
