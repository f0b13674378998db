#pragma once

#include <string>
#include <string_view>

#include "rampart/base/merkle_tree.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"

namespace rampart::certification {

/// The evidence file: one JSON line per vault record, in the vault's order.
struct Evidence {
    std::string bytes;      // each line and a newline
    base::MerkleTree tree;  // its leaves are the lines without newlines
};

/// Parts of the lines that some runs only have.
struct EvidenceForm {
    bool anchored = false;     // probabilities of the anchor
    bool constrained = false;  // labels, and the conditions of constraints that are met
    size_t conditions = 0;
};
EvidenceForm form_of(const RunPlan& plan);

/// Writes the evidence file. Errors: the source's.
base::Result<Evidence> write_evidence(const VaultSource& feedback, const EvidenceForm& form);

/// Reads the records, with impacts. Names come from the certificate; indices beyond them are
/// errors. Errors: data_loss naming the line, or when the last one is cut off; out_of_range beyond
/// limits::kMaxRows lines.
base::Result<std::vector<VaultRecord>> read_evidence(std::string_view bytes,
                                                     const VaultNames& names,
                                                     const EvidenceForm& form);

/// Reads number of lines and Merkle root only. Errors: as above.
base::Result<base::MerkleTree> read_leaves(std::string_view bytes);

}  // namespace rampart::certification
