#pragma once

#include <string>
#include <vector>

#include "rampart/training/candidate.hpp"

/// The recipe's search on the development set.
namespace rampart::training {

/// Returns the attributes of cells like "sex=F,age=low". A comma within a value is followed by no
/// '=' of its own, so that it makes no attribute.
std::vector<std::string> attributes_in(const std::vector<std::string>& cells);

/// Searches the recipe's options on the training examples of the persons that the recipe does not
/// hold out, and makes a candidate with those that it finds. Requires a recipe with a search.
/// Errors: make_candidate()'s; tuning::search()'s.
base::Result<Candidate> make_by_search(const CandidateInputs& inputs);

}  // namespace rampart::training
