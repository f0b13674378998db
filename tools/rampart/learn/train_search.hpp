#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "learn/table_parts.hpp"
#include "learn/train_options.hpp"
#include "rampart/fair_regression/loss.hpp"

/// The [search] of a recipe that `rampart train` trains by.
namespace rampart::cli {

/// What is searched on.
struct SearchRows {
    const TableParts& parts;  // the training rows; the share of the validation rows is held out
    const std::vector<std::string>& attributes;
    fair_regression::LabelRange range;
    bool terminal = false;  // shows progress
};

/// The table of a search.
struct SearchTable {
    std::string text;
    boost::json::object json;
};

/// Searches the recipe's options out of fold on the training rows, by the column of --split-by,
/// else with each row as a person, and puts what was found into plan.recipe. Trials are kept in
/// --search-state as they are done. Errors: those of tuning::search(); "other_search" names the
/// file; "interrupted".
base::Result<SearchTable> search_options(const TrainOptions& options, const SearchRows& rows,
                                         TrainPlan& plan);

/// Removes the trials that stand beside the model, now that there is one.
void end_search(const TrainOptions& options);

}  // namespace rampart::cli
