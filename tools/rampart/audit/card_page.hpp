#pragma once

#include <map>
#include <string>

#include "frame/frame.hpp"
#include "rampart/evaluation/model_card.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::cli {

/// What a card says in words about a model's use. Looked up in the model's provenance.
struct Statement {
    const char* key;
    const char* title;
};
inline constexpr Statement kStatements[] = {
    {"intended_use", "Intended use"}, {"not_intended_for", "Not intended for"},
    {"limits", "Known limits"},       {"owner", "Owner"},
    {"approved_by", "Approved by"},   {"review_by", "To be reviewed by"},
};

/// The card as one page of HTML without scripts or links, well-formed as XML too. `stated`: texts
/// by a statement's key that the user of the command adds; the page says that the model file does
/// not carry them.
std::string card_page(const evaluation::ModelCard& card,
                      const std::map<std::string, std::string>& stated);

/// Observed rate against mean score, a dot with its interval for each bin, and the line on which a
/// calibrated model lies.
std::string calibration_figure(const evaluation::ModelCard& card);

/// A bar for each of the most important features.
std::string importance_figure(const evaluation::ModelCard& card, size_t most);

/// One small plot a feature, all on the same scale of P(favourable).
std::string dependence_figures(const evaluation::ModelCard& card);

/// What it is, how it does by group, each group's distribution of scores, where it comes from.
/// split: empty for the test rows of the table it was trained on, or all rows of another.
base::Result<Answer> write_regression_card(const evaluation::ModelTableNames& names,
                                           const model::LoadedPolicy& loaded,
                                           const fair_regression::RegressionLoss& loss,
                                           const std::string& split, const std::string& out);

}  // namespace rampart::cli
