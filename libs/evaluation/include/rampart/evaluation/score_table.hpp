#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/table_schema.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::evaluation {

struct ScoreOptions {
    std::vector<std::string> kept{};      // columns of the table that the answer repeats
    std::optional<uint64_t> draw_seed{};  // draws an action for each row
    // What more is said of each row. Reasons are those of a decline, so that they need a draw seed.
    bool leaves = false, contributions = false, reasons = false;
    base::ThreadPool* pool = nullptr;
    /// Called with the number of rows so far; false ends it.
    std::function<bool(uint64_t)> progress = [](uint64_t) { return true; };
};

/// What was scored.
struct ScoredTable {
    uint64_t rows = 0;
    double mean_score = 0, mean_approve = 0;
    std::vector<std::string> unread{};  // columns that neither model nor schema know
    std::vector<std::string> notes{};   // what was pooled, or missing because of a range
};

/// Scores a table of any length in constant memory, and writes a CSV file (`out`, gzip if it ends
/// in .gz) with a line for each row, in the table's order:
///   line: where the row begins in the table; the kept columns; group, if the policy decides by it;
///   score: P(favourable | x) of the last link (for fair regression the mean of the drawn score);
///   p_approve: P(approve | x) of the whole chain, with trust region and exploration;
///   action and propensity, with a draw seed: "approve" if u < p_approve, u of seed and line;
///   leaf_T: number of the node that the row reaches in tree T = 1, 2, … of the last learned link;
///   contribution_base and contribution_FEATURE: exact path-dependent Shapley values (TreeShap);
///   they sum to the raw score of the last learned link's ensemble;
///   reasons: codes of a decline with spaces between (decision::ReasonCodes); else empty.
/// A mixture's leaves and contributions are those of its first ensemble.
/// Numbers are the shortest text that reads back as the same double. The file appears when all is
/// written; after an error there is none.
///
/// nullopt: progress ended it. Errors: those of RowReader and CsvWriter; "no_rows";
/// "duplicate_column" (kept twice, or named as a result is); "no_groups" and "unknown_group" for a
/// policy that decides by group. Of details: "nothing_learned", those of TreeShap::path_dependent
/// and of ReasonCodes::create, "bad_usage" (reasons without a draw seed).
base::Result<std::optional<ScoredTable>> score_table(const model::Policy& policy,
                                                     const dataset::TableSchema& schema,
                                                     const std::filesystem::path& table,
                                                     const std::filesystem::path& out,
                                                     const ScoreOptions& options);

}  // namespace rampart::evaluation
