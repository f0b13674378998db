#include "gate/proof_files.hpp"

#include <algorithm>

#include "frame/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/storage/folder.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using registry::ModelRegistry;

constexpr size_t kEvidenceLimit = size_t{2} << 30;

}  // namespace

base::Result<ProofFiles> find_proof_files(const fs::path& certificate, std::string_view content) {
    std::error_code ignored;
    const auto folder = fs::absolute(certificate, ignored).lexically_normal().parent_path();
    ProofFiles beside{fs::path(certificate).replace_extension(".evidence.jsonl"),
                      certificate.parent_path() / "gate.pub.pem"};
    const auto home = folder.parent_path();  // folder of the registry, if it is one
    if (folder.filename() != "certificates" || !storage::is_database(home / "registry")) {
        return beside;
    }
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
