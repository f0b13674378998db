// The records of a store as a log: `rampart gate` on it comes to the certificate that the service
// gave, bit for bit; and what was exported of the vault is never tested on again.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <set>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/vault_export.hpp"
#include "support/places.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using test_support::run_program;

/// The store of a demo, and the certificate of its first run that was charged.
class ExportLog : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("export_log_test");
        if (HasFatalFailure()) return;
        const auto registry = open_registry();
        const auto names = registry::CertificateNames::read(*registry).value();
        bytes_ = registry->certificate_file(names.find("e1r1").value()).value();
        certificate_ = read_certificate(bytes_, key_file());
    }
    static void TearDownTestSuite() { remove(); }

    static std::unique_ptr<registry::ModelRegistry> open_registry() {
        return registry::ModelRegistry::open(out() / "a" / "store" / "registry",
                                             registry::ModelRegistry::Mode::kReadOnly)
            .value();
    }
    static certification::Certificate read_certificate(const std::string& bytes,
                                                       const fs::path& key) {
        return certification::read_certificate(bytes,
                                               base::VerifyingKey::from_pem(read(key)).value())
            .value();
    }
    /// The export of the first run's log, in the folder's log.csv.
    static Ran export_vault(const std::string& config, const std::string& out = "log.csv") {
        const auto& identity = certificate_.plan.identity;
        return rampart(fmt::format(
            "export-log --config a/{} --side vault --candidate {} --reference {} --at {} "
            "--reason study --actor anna --out {}",
            config, identity.candidate_id, identity.reference_id,
            base::to_iso8601(certificate_.ledger->registration.at), out));
    }
    /// The [gate] of the store's configuration above the settings that came with the log.
    static void write_settings() {
        const auto all = read(out() / "a" / "rampartd.toml");
        const auto from = all.find("[gate]"), to = all.find("\n[", from);
        ASSERT_TRUE(base::write_file_atomically(
            out() / "gate.toml",
            fmt::format("{}\n\n{}", all.substr(from, to - from), read(out() / "log.toml"))));
    }

    static std::string bytes_;  // the certificate's file
    static certification::Certificate certificate_;
};
std::string ExportLog::bytes_;
certification::Certificate ExportLog::certificate_;

/// Collects the paths of members that differ.
void compare(const json::value& a, const json::value& b, const std::string& path,
             std::set<std::string>& differ) {
    if (a.is_object() && b.is_object()) {
        std::set<std::string> names;
        for (const auto* side : {&a, &b})
            for (const auto& member : side->as_object()) names.emplace(member.key());
        for (const auto& name : names) {
            const auto *x = a.as_object().if_contains(name), *y = b.as_object().if_contains(name);
            const json::value none;
            compare(x ? *x : none, y ? *y : none, fmt::format("{}.{}", path, name), differ);
        }
    } else if (a.is_array() && b.is_array() && a.as_array().size() == b.as_array().size()) {
        for (size_t i = 0; i < a.as_array().size(); ++i) compare(a.at(i), b.at(i), path, differ);
    } else if (a != b) {
        differ.insert(path);
    }
}

json::value payload_of(const std::string& certificate) {
    const auto text = json::parse(certificate).at("payload").as_string();
    return json::parse(base::from_base64(text).value());
}

/// What a run of the store and one on its log do not share, and why.
const std::set<std::string> kDiffer{
    // it is tested later
    ".issued_at", ".vault_read_at", ".ledger.epoch.at", ".ledger.registration.at", ".valid_until",
    // a demo has no wall clock
    ".issued_wall_clock", ".ledger.registration.wall_clock",
    // in a ledger of its own, with another signing key and no key of draws and sides
    ".ledger.epoch.keys.draw", ".ledger.epoch.keys.evidence", ".ledger.epoch.keys.signing",
    ".ledger.epoch.keys.split", ".ledger.previous", ".ledger.entry",
    // a log has no schema, no rule of maturity, and no model that says how it was trained
    ".plan.identity.feature_schema", ".plan.identity.metric", ".plan.identity.vault_rule",
    ".plan.identity.missed_in_training", ".plan.identity.training_recipe",
    ".ledger.registration.vault_rule",
    // nor the vault's decisions that are no records, nor who proposed the candidate
    ".plan.identity.decisions", ".plan.identity.left_out", ".plan.identity.proposed_by",
    ".assumptions.text",
    // nor a log of decisions whose ends the charge could have
    ".ledger.registration.log",
    // digests with the above in them
    ".ledger.registration.plan", ".ledger.registration.frozen"};

/// Compares figures to the last bit, which JSON's reader might round.
void expect_same_figures(const certification::Certificate& a, const certification::Certificate& b) {
    EXPECT_EQ(a.plan.delta, b.plan.delta);
    EXPECT_EQ(a.plan.calibration_log_wealth, b.plan.calibration_log_wealth);
    EXPECT_EQ(a.plan.vault_digest, b.plan.vault_digest);
    EXPECT_EQ(a.plan.selection_digest, b.plan.selection_digest);
    EXPECT_EQ(a.evidence_root, b.evidence_root);
    ASSERT_EQ(a.results.size(), b.results.size());
    for (size_t g = 0; g < a.results.size(); ++g) {
        const auto &p = a.plan.groups[g], &q = b.plan.groups[g];
        EXPECT_EQ(std::tuple(p.lo, p.hi, p.q_approve, p.q_decline, p.plan_variance),
                  std::tuple(q.lo, q.hi, q.q_approve, q.q_decline, q.plan_variance));
        const auto &x = a.results[g].bound, &y = b.results[g].bound;
        EXPECT_EQ(std::tuple(x.mean_gain, x.log_wealth, x.lower_betting, x.lower_t),
                  std::tuple(y.mean_gain, y.log_wealth, y.lower_betting, y.lower_t));
    }
}

/// Commands about a store on the guide's page.
std::vector<std::string> commands_of_the_guide() {
    std::vector<std::string> out;
    std::istringstream page(
        DemoStore::read(test_support::source_dir() + "/ops/guide/gate_on_a_log/README.md"));
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("rampart export-log")) continue;
        for (std::string rest; line.ends_with('\\') && std::getline(page, rest);)
            line.replace(line.size() - 1, 1, rest);
        out.push_back(line);
    }
    return out;
}

TEST_F(ExportLog, TheVaultNeedsAnAuditAndAReason) {
    const auto refused = export_vault("rampartd.toml");
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.output.find("audit.enabled"), std::string::npos);
    EXPECT_EQ(rampart("export-log --config a/audit.toml --side vault --out log.csv").exit_code, 2);
    EXPECT_EQ(rampart("export-log --config a/audit.toml --side both --out log.csv").exit_code, 2);
    EXPECT_EQ(rampart("export-log --config a/audit.toml --side development --candidate x "
                      "--out log.csv")
                  .exit_code,
              2);
    const auto later = rampart(
        "export-log --config a/rampartd.toml --side development --at 2199-01-01 --out log.csv");
    EXPECT_NE(later.output.find("are known up to"), std::string::npos) << later.output;
    EXPECT_FALSE(fs::exists(out() / "log.csv"));
    EXPECT_FALSE(registry::vault_exported_as_known_at(*open_registry()).value());
}

TEST_F(ExportLog, TheDevelopmentSideHasFeaturesAndWeightsAndNoRecordOfTheVault) {
    const auto ran = rampart(
        "export-log --config a/rampartd.toml --side development --out development.csv --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto log = read(out() / "development.csv");
    const auto head = log.substr(0, log.find('\n'));
    for (const char* column : {"p_approve", "label", "impact", "weight", "x."})
        EXPECT_NE(head.find(column), std::string::npos) << column;
    EXPECT_EQ(log.find(",vault,"), std::string::npos);
    EXPECT_GT(std::count(log.begin(), log.end(), '\n'), 1000);
    EXPECT_FALSE(registry::vault_exported_as_known_at(*open_registry()).value());
}

TEST_F(ExportLog, TheGateOnTheLogComesToTheStoresCertificateAndTheStoreTestsOnNoneOfItAgain) {
    ASSERT_FALSE(certificate_.results.empty());
    const auto at = certificate_.ledger->registration.at;
    EXPECT_NE(export_vault("audit.toml", "no_folder/log.csv").exit_code, 0);
    EXPECT_EQ(registry::vault_exported_as_known_at(*open_registry()).value(), at)
        << "it is recorded before a byte is written";
    const auto exported = export_vault("audit.toml");
    ASSERT_EQ(exported.exit_code, 0) << exported.output;
    EXPECT_EQ(open_registry()->audit_entries()->back().actor, "anna");
    write_settings();
    const auto& identity = certificate_.plan.identity;
    const auto tested = rampart(fmt::format(
        "gate --log log.csv --config gate.toml --ledger ledger --candidate {} --reference {} "
        "--evidence-key a/store/keys/evidence --out on_log.cert",
        identity.candidate_id, identity.reference_id));
    EXPECT_EQ(tested.exit_code, certificate_.verdict == certification::Verdict::kCertified ? 0 : 1)
        << tested.output;
    const auto on_log = read(out() / "on_log.cert");
    std::set<std::string> differ;
    compare(payload_of(bytes_), payload_of(on_log), "", differ);
    EXPECT_EQ(differ, kDiffer);
    expect_same_figures(certificate_, read_certificate(on_log, out() / "gate.pub.pem"));
    const auto commands = commands_of_the_guide();
    EXPECT_EQ(commands.size(), 2u);
    for (const auto& command : commands) {
        const auto ran = run_program(
            fmt::format("cd '{}' && export PATH={}:$PATH CANDIDATE={} REFERENCE={} AT={} && {}",
                        (out() / "a").string(), test_support::bin_dir(), identity.candidate_id,
                        identity.reference_id, base::to_iso8601(at), command));
        EXPECT_EQ(ran.exit_code, 0) << command << ran.output;
    }
    EXPECT_EQ(read(out() / "a" / "log.csv"), read(out() / "log.csv")) << "the same again";
    // any later run is tested on records that the export does not have
    const auto now =
        rampart("export-log --config a/audit.toml --side vault --reason all --out all.csv");
    ASSERT_EQ(now.exit_code, 0) << now.output;
    const auto run =
        rampart(fmt::format("certify --config a/rampartd.toml --model {}", identity.candidate_id));
    EXPECT_EQ(run.exit_code, 1) << run.output;
    EXPECT_NE(run.output.find("REFUSED: group race=white: 0 persons in the vault"),
              std::string::npos)
        << run.output;
}

}  // namespace
}  // namespace rampart
