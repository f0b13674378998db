#include <filesystem>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "certificate_page.hpp"
#include "commands.hpp"
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

constexpr size_t kEvidenceLimit = size_t{2} << 30;

/// Id of a model file, or nothing when no path is given.
base::Result<std::string> id_of(const fs::path& path) {
    if (path.empty()) return std::string();
    RAMPART_TRY(const auto bytes, base::read_file(path, base::limits::kMaxModelFileBytes));
    return model::policy_id_of(bytes).value();
}

Answer verified(const certification::Certificate& certificate, const base::VerifyingKey& key, bool key_named) {
    json::array groups;
    std::string text = fmt::format("{}\n{}\n", certification::to_string(certificate.verdict),
                                   certificate.claim.empty() ? certificate.message : certificate.claim);
    if (!certificate.results.empty()) {
        text += fmt::format("\n{:<32}{:>8}{:>14}{:>14}{:>8}\n", "group", "people", "estimate", "lower bound", "passed");
    }
    for (size_t g = 0; g < certificate.results.size(); ++g) {
        const auto& result = certificate.results[g];
        text += fmt::format("{:<32}{:>8}{:>+14.4f}{:>+14.4f}{:>8}\n", result.name, certificate.plan.groups[g].units,
                            result.bound.mean_gain, result.bound.lower_betting, result.passed ? "yes" : "no");
        groups.push_back({{"name", result.name}, {"people", certificate.plan.groups[g].units},
                          {"estimate", result.bound.mean_gain}, {"lower_bound", result.bound.lower_betting},
                          {"passed", result.passed}});
    }
    text += fmt::format("\nSignature (key {}), evidence and every figure are right.\n", key.id());
    std::vector<std::string> notes;
    if (!key_named) notes.push_back("the key was found beside the certificate: compare its id with the gate's, or give --key");
    return {.exit_code = 0, .text = text,
            .json = json::serialize(json::object{{"valid", true},
                                                 {"verdict", certification::to_string(certificate.verdict)},
                                                 {"claim", certificate.claim},
                                                 {"candidate", certificate.plan.identity.candidate_id},
                                                 {"reference", certificate.plan.identity.reference_id},
                                                 {"key", key.id()},
                                                 {"groups", groups}}),
            .notes = std::move(notes)};
}

Answer refused(const base::Error& error) {
    return {.exit_code = 1, .text = fmt::format("NOT VALID: {}\n", error.message),
            .json = json::serialize(json::object{{"valid", false}, {"reason", error.reason}, {"message", error.message}}),
            .notes = {}};
}

base::Result<Answer> verify(Options options) {
    const bool evidence_named = !options.evidence.empty(), key_named = !options.key.empty();
    if (!evidence_named) options.evidence = fs::path(options.certificate).replace_extension(".evidence.jsonl");
    if (!key_named) options.key = options.certificate.parent_path() / "gate.pub.pem";
    RAMPART_TRY(const auto certificate, base::read_file(options.certificate, base::limits::kMaxCertificateBytes));
    auto evidence = base::read_file(options.evidence, kEvidenceLimit);
    if (!evidence) {  // a refusal has none
        if (evidence_named || evidence.error().code != base::ErrorCode::kNotFound) return evidence.error();
        evidence = std::string();
    }
    RAMPART_TRY(const auto pem, base::read_file(options.key, 1 << 16));
    RAMPART_TRY(const auto key, base::VerifyingKey::from_pem(pem));
    certification::Expected expected;
    RAMPART_TRY(expected.candidate_id, id_of(options.model));
    RAMPART_TRY(expected.reference_id, id_of(options.reference));
    const auto result = certification::verify(certificate, *evidence, key, expected);
    if (!result) return refused(result.error());
    if (!options.html.empty()) {
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.html, certificate_page(*result, key.id())));
    }
    return verified(*result, key, key_named);
}

}  // namespace

void add_verify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "verify",
                               .summary = "Check a certificate: signature, evidence, and every figure computed anew",
                               .example = "rampart verify demo-out/certificates/3f….cert",
                               .detail = "Exit code 0: valid; 1: not valid; 2: a file can't be read. The evidence and the key are "
                                         "looked for beside the certificate."},
                              [options](const Context&) { return verify(*options); });
    command.add_option("CERT", options->certificate, "certificate file")->required();
    command.add_option("--evidence", options->evidence, "evidence file; default: CERT with .evidence.jsonl");
    command.add_option("--key", options->key, "the gate's public key (PEM); default: gate.pub.pem beside CERT");
    command.add_option("--html", options->html, "leave a page for people here, if the certificate is valid");
    command.add_option("--model", options->model, "the certificate must be about this model file");
    command.add_option("--reference", options->reference, "and compare with this one");
}

}  // namespace rampart::cli
