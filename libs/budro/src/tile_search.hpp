#pragma once

#include <memory>

#include "distance_table.hpp"
#include "search.hpp"

namespace rampart::budro {

/// A search that finds the same without looking at most pairs.
///
///  1. Support points are put into tiles of sixteen; a DistanceTable bounds distances to them from
///  below.
///  2. Each round, the greatest loss of each tile (by class) is noted. At a price η, a tile comes
///     into question for a source only if  greatest loss - η · least distance >= what is known to
///     be had already, which begins with the source's last target. In whole numbers of 16 bits, all
///     roundings against the source.
///  3. From round to round the search remembers the best value seen in a searched tile
///     (ValueTable): most are not looked at again.
///  4. Of the tiles left, points whose value in single precision, errors added, reaches what is
///     known are compared in double precision.
///
/// At a price of 0 every source takes the greatest loss, and the nearest of equal ones: the same
/// search with losses 0 for the greatest, far below for others, and a price of 1.
///
/// tiles_in_group: see DistanceTable.
std::unique_ptr<Search> make_tile_search(const SupportPoints& points, int classes,
                                         model::InstructionSet instructions, size_t tiles_in_group,
                                         size_t bytes_to_remember, base::ThreadPool* pool);

/// Bytes of such a search, about.
size_t bytes_of_tile_search(const SupportPoints& points, int classes, size_t tiles_in_group);

}  // namespace rampart::budro
