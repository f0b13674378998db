// gate: the gate on a log of randomised decisions in a CSV file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "gate/elf_answer.hpp"
#include "gate/validation_tables.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/gate_log/run_log.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "services/rampartd/software.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path log, config, ledger, out, key, split_key, evidence_key;
    std::string candidate = "candidate", reference = "reference", proposed_by, new_epoch,
                method = "rampart", bound;
    bool look = false;
};

/// Reads the signing key; makes one where the file is not there yet. Without a file it is of this
/// command alone.
Result<base::SigningKey> signing_key(const fs::path& file) {
    if (file.empty()) return base::SigningKey::generate();
    const auto pem = base::read_file(file, 1 << 16);
    if (pem) return base::SigningKey::from_pem(*pem);
    if (pem.error().code != base::ErrorCode::kNotFound) return pem.error();
    auto key = base::SigningKey::generate();
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(file, key.to_pem(), 0600));
    return key;
}

fs::path key_file(const Options& options) {
    if (!options.key.empty()) return options.key;
    const fs::path& beside = options.ledger.empty() ? options.out : options.ledger;
    return beside.empty() ? fs::path() : beside.parent_path() / "gate.key.pem";
}

base::Status write_certificate(const fs::path& out, const certification::SealedCertificate& files,
                               const base::VerifyingKey& key) {
    if (out.empty()) return base::ok();
    auto evidence = out, pem = out.parent_path() / "gate.pub.pem";
    evidence.replace_extension(".evidence.jsonl");
    if (!files.evidence.empty())
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(evidence, files.evidence, 0600));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(pem, key.to_pem()));
    return base::write_file_atomically(out, files.certificate, 0600);
}

json::value number(double x) { return std::isfinite(x) ? json::value(x) : json::value(nullptr); }

/// Lower bound of the configured kind.
double lower_bound(stats::BoundMethod method, const ope::ValueBound& bound) {
    switch (method) {
        case stats::BoundMethod::kBetting:
            return bound.lower_betting;
        case stats::BoundMethod::kStudentT:
            return bound.lower_t;
        case stats::BoundMethod::kHoeffding:
            return bound.lower_hoeffding;
        case stats::BoundMethod::kMaurerPontil:
            return bound.lower_maurer_pontil;
    }
    return -INFINITY;
}

/// Returns the verdict alone: figures of the vault would let the next candidate be fitted to it,
/// and the ledger's budget would not hold.
Answer verdict_of(const certification::Certificate& c, const gate::Answer& answer) {
    const auto verdict = certification::to_string(c.verdict);
    return {.exit_code =
                c.verdict == certification::Verdict::kCertified ? ExitCode::kDone : ExitCode::kNo,
            .text = fmt::format("{}{}\n", verdict,
                                answer.result.message.empty() ? "" : ": " + answer.result.message),
            .json = json::serialize(json::object{{"verdict", verdict},
                                                 {"reason", answer.result.reason},
                                                 {"message", answer.result.message},
                                                 {"name", answer.name}}),
            .notes = {"figures of a ledger's runs are for those who make no further candidate: "
                      "`rampart verify` shows those of a certificate"}};
}

Answer answer_of(const certification::Certificate& c, const gate::Answer& answer,
                 const Options& options) {
    const auto verdict = certification::to_string(c.verdict);
    std::string text = fmt::format("{}\n{}\n", verdict, c.claim.empty() ? c.message : c.claim);
    json::array groups, constraints;
    if (!c.results.empty()) {
        text += fmt::format("\n{:<32}{:>8}{:>14}{:>14}{:>8}\n", "group", "people", "estimate",
                            "lower bound", "passed");
    }
    for (size_t g = 0; g < c.results.size(); ++g) {
        const auto& result = c.results[g];
        const double lower = lower_bound(c.plan.config.bound, result.bound);
        text +=
            fmt::format("{:<32}{:>8}{:>14}{:>14}{:>8}\n", result.name, c.plan.groups[g].units,
                        signed_number(result.bound.mean_gain),
                        signed_number(lower, base::Toward::kDown), result.passed ? "yes" : "no");
        groups.push_back({{"name", result.name},
                          {"people", c.plan.groups[g].units},
                          {"estimate", number(result.bound.mean_gain)},
                          {"lower_bound", number(lower)},
                          {"passed", result.passed}});
    }
    for (const auto& constraint : c.constraint_results) {
        text += fmt::format("{:<32}{:>44}\n", constraint.name, constraint.passed ? "yes" : "no");
        constraints.push_back({{"name", constraint.name}, {"passed", constraint.passed}});
    }
    if (!options.out.empty()) text += fmt::format("\ncertificate: {}\n", options.out.string());
    json::object document{{"verdict", verdict},
                          {"reason", answer.result.reason},
                          {"message", answer.result.message},
                          {"claim", c.claim},
                          {"name", answer.name},
                          {"delta", c.plan.delta},
                          {"groups", groups},
                          {"constraints", constraints}};
    if (!options.out.empty()) document["certificate"] = options.out.string();
    return {.exit_code =
                c.verdict == certification::Verdict::kCertified ? ExitCode::kDone : ExitCode::kNo,
            .text = text,
            .json = json::serialize(document),
            .notes = {}};
}

base::Status check_usage(const Options& options) {
    const bool elf = options.method == "elf";
    const bool about_a_ledger = options.look || !options.new_epoch.empty();
    if (about_a_ledger && options.ledger.empty()) {
        return base::make_error(Reason::kMisuse,
                                "--look and --new-epoch are about a ledger: name it with --ledger");
    }
    if (options.look && !options.new_epoch.empty()) {
        return base::make_error(Reason::kMisuse,
                                "--look continues a run of this epoch: give it or --new-epoch");
    }
    if (elf && (options.bound.empty() || !options.ledger.empty() || !options.out.empty())) {
        return base::make_error(Reason::kMisuse,
                                "--method elf needs --bound, and has no ledger or certificate");
    }
    if (!elf && !options.bound.empty())
        return base::make_error(Reason::kMisuse, "--bound is for --method elf; see gate.bound");
    return base::ok();
}

/// Tests the log, and writes certificate and charge.
Result<Answer> certify_log(const Options& options, const gate_log::LogSettings& settings,
                           const std::optional<std::string>& split_key) {
    RAMPART_TRY(const auto constraints,
                certification::ConstraintSet::compile(settings.gate.config));
    RAMPART_TRY(const auto store, gate_log::FileStore::open(options.ledger));
    const runtime::SystemClock clock;
    gate_log::LogRun run{.candidate = options.candidate,
                         .reference = options.reference,
                         .at = clock.now(),
                         .look = options.look,
                         .new_epoch = options.new_epoch,
                         .wall_clock = &clock,
                         .software = rampartd::software(),
                         .proposed_by = options.proposed_by};
    if (!options.evidence_key.empty()) {
        RAMPART_TRY(run.evidence_key, runtime::load_secret(options.evidence_key));
    }
    RAMPART_TRY(const auto read_until, gate_log::read_until(*store, run));
    RAMPART_TRY(const auto log, gate_log::read_decisions(options.log, settings, constraints,
                                                         split_key, read_until));
    if (options.method == "elf") return elf_answer(log, settings.gate.config, options.bound);
    RAMPART_TRY(const auto key, signing_key(key_file(options)));
    RAMPART_TRY(const auto answer, gate_log::run_log(log, settings, run, *store, key));
    const auto& files = store->last();
    if (files.certificate.empty()) {  // the vault's outcomes ended the run; the ledger says why
        const auto verdict = certification::to_string(answer.result.verdict);
        return Answer{
            .exit_code = ExitCode::kNo,
            .text = fmt::format("{}\n", verdict),
            .json = json::serialize(json::object{{"verdict", verdict}, {"name", answer.name}}),
            .notes = {"the run was charged and could not be finished; the last line of "
                      "the ledger says why"}};
    }
    RAMPART_TRY(const auto certificate,
                certification::read_certificate(files.certificate, key.public_key()));
    RAMPART_RETURN_IF_ERROR(write_certificate(options.out, files, key.public_key()));
    return options.ledger.empty() ? answer_of(certificate, answer, options)
                                  : verdict_of(certificate, answer);
}

Result<Answer> run_gate(const Options& options) {
    RAMPART_RETURN_IF_ERROR(check_usage(options));
    RAMPART_TRY(const auto root, config::parse_file(options.config));
    RAMPART_TRY(auto settings, gate_log::read_settings(root));
    if (options.ledger.empty()) settings.gate.config.runs_per_epoch = 1;
    std::optional<std::string> split_key;
    if (!options.split_key.empty()) {
        RAMPART_TRY(split_key, base::read_file(options.split_key, 1 << 16));
    }
    return certify_log(options, settings, split_key);
}

}  // namespace

void add_gate_log(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "gate",
         .summary = "Test a candidate on a log of randomised decisions, and certify it",
         .example = "rampart gate --log decisions.csv --config gate.toml --out gate.cert",
         .detail =
             "The log is a CSV file with a line for each decision: record, person, time, side "
             "(development or vault), logger, p_approve, action (approve, decline or refer), "
             "candidate, reference (their P(approve)), impact (empty: not known), and a column for "
             "each protected attribute; with referrals also p_refer, candidate_refer, "
             "reference_refer, and answer; overridden (yes or no), if people reversed draws; for "
             "constraints label. gate.toml has [gate] as in rampartd.toml, [impact] minimum, "
             "maximum, units, declined, [groups] columns and names, and [erased]. Without --ledger "
             "the error budget is for this one test; with it the ledger is charged, and refuses "
             "when it is spent, and the answer is the verdict without figures. Exit code 0: "
             "certified, or with --method elf passed; 1: not.",
         .reads_no_store = true},
        [options](const Context&) { return run_gate(*options); });
    command.add_option("--log", options->log, "CSV file of decisions")->required();
    command.add_option("--config", options->config, "gate.toml")->required();
    command.add_option("--ledger", options->ledger,
                       "ledger of the error budget; made if it is not there");
    command.add_flag("--look", options->look,
                     "look again at a run of the ledger, on a log that has grown");
    command.add_option("--new-epoch", options->new_epoch,
                       "open a new epoch of the ledger with this run, if it is charged, on records "
                       "that no run has read; the text is the reason");
    command.add_option("--out", options->out,
                       "certificate to write; evidence and public key are put beside it");
    command.add_option("--key", options->key,
                       "signing key (PEM); default: gate.key.pem beside ledger or certificate, "
                       "made if it is not there");
    command
        .add_option(
            "--method", options->method,
            "rampart; elf: the ELF paper's safety test, for comparison, without certificate")
        ->check(CLI::IsMember({"rampart", "elf"}))
        ->capture_default_str();
    command.add_option("--bound", options->bound, "of --method elf: t or hoeffding")
        ->check(CLI::IsMember({"t", "hoeffding"}));
    command.add_option("--evidence-key", options->evidence_key,
                       "file with the secret behind the evidence's pseudonyms; with that of a "
                       "store, keys/evidence, its records come in its order and its figures bit "
                       "for bit; default: made from the signing key");
    command.add_option("--split-key", options->split_key,
                       "file with the secret that divides persons into development and vault, for "
                       "a log without the column 'side'");
    command.add_option("--candidate", options->candidate, "candidate's name in the certificate");
    command.add_option("--reference", options->reference, "reference's name in the certificate");
    command.add_option("--by", options->proposed_by, "who proposes, for the certificate");
}

}  // namespace rampart::cli
