#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/ope/logged_feedback.hpp"

namespace rampart::certification {

/// The evidence file: one JSON line per vault record, in ascending order of pseudonyms.
struct Evidence {
    std::vector<std::string> lines;  // without newlines: the leaves of the Merkle tree
    base::Digest root() const { return base::merkle_root(lines); }
    std::string bytes() const;  // each line and a newline
};

Evidence write_evidence(const ope::LoggedDecisions& vault, std::span<const double> impact);

/// Errors: data_loss naming the line. Logger and group names come from the certificate; indices
/// beyond them are errors.
base::Result<ope::LoggedFeedback> read_evidence(const std::vector<std::string>& lines,
                                                const std::vector<std::string>& logger_ids,
                                                const std::vector<std::string>& group_names);

/// Errors: data_loss when the last line is cut off; out_of_range beyond limits::kMaxRows lines.
base::Result<std::vector<std::string>> split_lines(std::string_view bytes);

}  // namespace rampart::certification
