#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::cli {

/// Where a certificate's evidence and key lie by default: beside it, as CERT with .evidence.jsonl
/// and gate.pub.pem. Of a certificate in the registry of a store: the registry's evidence file and
/// the store's gate.pub.pem, also while a node is at work. The files need not be there.
struct ProofFiles {
    std::filesystem::path evidence;
    std::filesystem::path key;
    bool in_store = false;  // the certificate is one in the registry of a store
};
base::Result<ProofFiles> find_proof_files(const std::filesystem::path& certificate,
                                          std::string_view content);

/// Whether the file lies among the certificates of a store's registry, whose figures are read by
/// `rampart figures` alone.
bool is_in_store(const std::filesystem::path& certificate);

/// permission_denied "audit_required", for a certificate that is_in_store().
base::Error figures_withheld(const std::filesystem::path& certificate);

/// The content of the evidence file; not_found "no_evidence" with the remedy.
base::Result<std::string> read_evidence(const std::filesystem::path& file);

}  // namespace rampart::cli
