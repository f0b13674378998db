#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/row_keys.hpp"

/// Folds of a table for cross-validation.
namespace rampart::dataset {

/// Rows to learn from and rows to judge by, ascending.
struct Fold {
    std::vector<uint32_t> train, test;
};

inline constexpr size_t kMaxFolds = 100;

/// Deals units (persons) into parts by shares of the rows: the largest units first, of equal ones
/// those with as many labels 1 and of the same group one after the other, in an order by the seed,
/// each to the part that is furthest below its share. Returns [units] the part of each. `unit`:
/// [rows] in 0 … units-1. Shares >= 0, sum 1.
std::vector<uint32_t> deal_units(const Dataset& data, std::span<const uint32_t> unit, size_t units,
                                 std::span<const double> shares, uint64_t seed);

/// Makes 2 … kMaxFolds folds at random, stratified like split_rows(): every row is judged once, by
/// what was learnt from all others. Errors: failed_precondition "no_such_fold": fewer rows.
base::Result<std::vector<Fold>> row_folds(const Dataset& data, size_t folds, uint64_t seed);

/// Makes folds likewise, with all rows of a unit in one. Errors: "no_such_fold": fewer units.
base::Result<std::vector<Fold>> unit_folds(const Dataset& data, std::span<const uint32_t> unit,
                                           size_t units, size_t folds, uint64_t seed);

/// Cuts times into origins + 1 periods of about as many rows, equal times together. Fold k is
/// judged by period k + 1, which begins at its origin, and learns from all rows earlier than the
/// origin less the gap; so the first period is never judged. With units, rows of units that are
/// learnt from are left out of the test. 1 … kMaxFolds origins. Errors: "no_such_fold": too few
/// times, or a side without rows; "bad_split_gap".
base::Result<std::vector<Fold>> rolling_folds(const RowKeys& keys, size_t origins, const Gap& gap);

}  // namespace rampart::dataset
