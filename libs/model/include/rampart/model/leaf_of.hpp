#pragma once

#include <cstddef>
#include <span>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// Returns the position in Tree::nodes of the leaf that a row reaches. The tree is valid for rows
/// of this width.
size_t leaf_of(const Tree& tree, std::span<const float> row);

}  // namespace rampart::model
