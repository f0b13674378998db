#include "gate/proof_files.hpp"

#include <algorithm>

#include "frame/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using registry::ModelRegistry;

constexpr size_t kEvidenceLimit = size_t{2} << 30;

fs::path folder_of(const fs::path& certificate) {
    std::error_code ignored;
    const auto file = fs::weakly_canonical(fs::absolute(certificate, ignored), ignored);
    return file.parent_path();
}

}  // namespace

bool is_in_store(const fs::path& certificate) {
    const auto folder = folder_of(certificate);
    return folder.filename() == "certificates" &&
           storage::is_database(folder.parent_path() / "registry");
}

base::Error figures_withheld(const fs::path& certificate) {
    return base::make_error(
        rampartd::Reason::kAuditRequired,
        "'{}' lies in the registry of a store; take a copy of it with `rampart figures`, which "
        "writes an entry into the audit log",
        certificate.string());
}

base::Result<ProofFiles> find_proof_files(const fs::path& certificate, std::string_view content) {
    ProofFiles beside{fs::path(certificate).replace_extension(".evidence.jsonl"),
                      certificate.parent_path() / "gate.pub.pem"};
    if (!is_in_store(certificate)) return beside;
    beside.in_store = true;
    const auto home = folder_of(certificate).parent_path();  // folder of the registry
    RAMPART_TRY(const auto registry, ModelRegistry::open(home, ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto all, registry->certificates());
    const auto id = base::sha256(content);
    const auto info =
        std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.id == id; });
    beside.key = home.parent_path() / "gate.pub.pem";
    if (info != all.end() && info->evidence) {
        beside.evidence = home / "evidence" / (info->evidence->hex() + ".jsonl");
    }
    return beside;
}

base::Result<std::string> read_evidence(const fs::path& file) {
    auto content = base::read_file(file, kEvidenceLimit);
    if (content || content.error().code != base::ErrorCode::kNotFound) return content;
    return base::make_error(Reason::kNoEvidence,
                            "evidence not found: there is no '{}'; name the certificate's evidence "
                            "file with --evidence",
                            file.string());
}

}  // namespace rampart::cli
