#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "gate/certificate_page.hpp"
#include "gate/proof_files.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct Options {
    fs::path certificate, evidence, key, model, reference, html;
};

/// Id of a model file, or nothing when no path is given.
base::Result<std::string> id_of(const fs::path& path) {
    if (path.empty()) return std::string();
    RAMPART_TRY(const auto bytes, base::read_file(path, base::limits::kMaxModelFileBytes));
    return model::policy_id_of(bytes).value();
}

Answer verified(const certification::Certificate& certificate, const base::VerifyingKey& key,
                bool key_named) {
    json::array groups;
    std::string text =
        fmt::format("{}\n{}\n", certification::to_string(certificate.verdict),
                    certificate.claim.empty() ? certificate.message : certificate.claim);
    if (!certificate.results.empty()) {
        text += fmt::format("\n{:<32}{:>8}{:>14}{:>14}{:>8}\n", "group", "people", "estimate",
                            "lower bound", "passed");
    }
    for (size_t g = 0; g < certificate.results.size(); ++g) {
        const auto& result = certificate.results[g];
        text += fmt::format("{:<32}{:>8}{:>+14.4f}{:>+14.4f}{:>8}\n", result.name,
                            certificate.plan.groups[g].units, result.bound.mean_gain,
                            result.bound.lower_betting, result.passed ? "yes" : "no");
        groups.push_back({{"name", result.name},
                          {"people", certificate.plan.groups[g].units},
                          {"estimate", result.bound.mean_gain},
                          {"lower_bound", result.bound.lower_betting},
                          {"passed", result.passed}});
    }
    text += fmt::format("\nSignature (key {}), evidence and every figure are right.\n", key.id());
    std::vector<std::string> notes;
    if (!key_named)
        notes.push_back(
            "the key was found beside the certificate or in its store: compare its id with the "
            "gate's, or give --key");
    return {.exit_code = ExitCode::kDone,
            .text = text,
            .json = json::serialize(
                json::object{{"valid", true},
                             {"verdict", certification::to_string(certificate.verdict)},
                             {"claim", certificate.claim},
                             {"candidate", certificate.plan.identity.candidate_id},
                             {"reference", certificate.plan.identity.reference_id},
                             {"key", key.id()},
                             {"groups", groups}}),
            .notes = std::move(notes)};
}

Answer refused(const base::Error& error) {
    return {.exit_code = ExitCode::kNo,
            .text = fmt::format("NOT VALID: {}\n", error.message),
            .json = json::serialize(json::object{
                {"valid", false}, {"reason", error.reason}, {"message", error.message}}),
            .notes = {}};
}

base::Result<base::VerifyingKey> read_key(const fs::path& file) {
    const auto pem = base::read_file(file, 1 << 16);
    if (pem) return base::VerifyingKey::from_pem(*pem);
    if (pem.error().code != base::ErrorCode::kNotFound) return pem.error();
    return base::not_found("no_key",
                           "key not found: there is no '{}'; name the gate's public key, "
                           "gate.pub.pem of its store, with --key",
                           file.string());
}

base::Result<Answer> verify(const Options& options) {
    const bool evidence_named = !options.evidence.empty(), key_named = !options.key.empty();
    RAMPART_TRY(const auto certificate,
                base::read_file(options.certificate, base::limits::kMaxCertificateBytes));
    RAMPART_TRY(auto files, find_proof_files(options.certificate, certificate));
    if (evidence_named) files.evidence = options.evidence;
    if (key_named) files.key = options.key;
    RAMPART_TRY(const auto key, read_key(files.key));
    certification::Expected expected;
    RAMPART_TRY(expected.candidate_id, id_of(options.model));
    RAMPART_TRY(expected.reference_id, id_of(options.reference));
    const auto read = certification::read_certificate(certificate, key, expected);
    if (!read) return refused(read.error());
    auto evidence = read_evidence(files.evidence);
    if (!evidence) {
        const bool none = read->evidence_records == 0 && !evidence_named;  // a refusal
        if (!none || evidence.error().code != base::ErrorCode::kNotFound) return evidence.error();
        evidence = std::string();
    }
    const auto result = certification::verify(certificate, *evidence, key, expected);
    if (!result) return refused(result.error());
    if (!options.html.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(options.html, certificate_page(*result, key.id())));
    }
    return verified(*result, key, key_named);
}

}  // namespace

void add_verify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "verify",
         .summary = "Verify a certificate: signature, evidence, and every figure computed again",
         .example = "rampart verify demo-out/certificates/3f….cert",
         .detail =
             "Exit code 1: not valid. Evidence and key are looked for beside the certificate, or "
             "in the store, if the certificate is in its registry/certificates."},
        [options](const Context&) { return verify(*options); });
    command.add_option("CERT", options->certificate, "certificate file")->required();
    command.add_option("--evidence", options->evidence,
                       "evidence file; default: CERT with .evidence.jsonl, or the store's");
    command.add_option(
        "--key", options->key,
        "the gate's public key (PEM); default: gate.pub.pem beside CERT, or the store's");
    command.add_option("--html", options->html, "HTML page to write, if the certificate is valid");
    command.add_option("--model", options->model,
                       "require that the certificate is about this model file");
    command.add_option("--reference", options->reference,
                       "require that it compares with this model file");
}

}  // namespace rampart::cli
