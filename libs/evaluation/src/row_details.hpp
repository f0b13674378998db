#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/dataset/row_reader.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/evaluation/score_table.hpp"
#include "rampart/explain/tree_shap.hpp"

namespace rampart::evaluation {

/// What is said of a row beside its score: leaves, contributions, reasons, as asked for.
class RowDetails {
  public:
    /// Keeps a reference to the policy. Errors: as those of score_table() about details.
    static base::Result<RowDetails> create(const model::Policy& policy,
                                           const ScoreOptions& options);

    /// Returns the names of its columns.
    const std::vector<std::string>& names() const { return names_; }
    bool any() const { return !names_.empty(); }
    /// Takes the rows that add() is called for next.
    void take(const dataset::RowBlock& block, base::ThreadPool* pool);
    /// Appends the cells of the block's row r, each with a comma before it. `action` and `draw` are
    /// used for reasons only.
    void add(std::string& line, size_t r, const model::PolicyOutput& output, domain::Action action,
             double draw) const;

  private:
    RowDetails() = default;
    std::span<const float> row(size_t r) const { return std::span(rows_).subspan(r * d_, d_); }

    size_t d_ = 0;
    std::vector<std::string> names_;
    const model::Ensemble* leaves_ = nullptr;  // nullptr: not asked for, as below
    std::optional<explain::TreeShap> shap_;
    std::optional<decision::ReasonCodes> reasons_;
    std::vector<float> rows_;            // [n][d] of the block
    std::vector<double> contributions_;  // [n][d]
};

}  // namespace rampart::evaluation
