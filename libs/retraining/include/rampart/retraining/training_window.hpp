#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// How much of the development side a run reads.
namespace rampart::retraining {

inline constexpr size_t kFewestRows = 1000, kMaxRowsByDefault = 2'000'000;
inline constexpr const char* kRowsRead = "rows_read";  // among a run's figures: describe_rows()

struct TrainingWindow {
    int months = 0;  // applications of so many months before the run; 0: all
    /// Where there are more, a sample of whole persons: the same ones for the same seed and run.
    size_t max_rows = kMaxRowsByDefault;
    uint64_t seed = 1;
};

/// Checks that a decision of the window can mature in it. Errors: invalid_argument
/// "window_too_short".
base::Status validate(const TrainingWindow& window, const domain::Product& product);

/// Returns what a run at `t` reads. Errors: TrainingSetBuilder::development_sample's.
base::Result<training_set::DevelopmentSet> read_window(
    const training_set::TrainingSetBuilder& builder, base::TimePoint t,
    const TrainingWindow& window);

/// Returns how many rows there were and are used, since when, and of a sample its seed, such as
/// "2000000 of 61203377 since 2025-03-01T00:00:00Z, of a sample of persons (seed 1)".
std::string describe_extent(const training_set::Extent& extent);
/// Returns the same of a set, and how many decisions are set aside, with the first of them and why.
std::string describe_rows(const training_set::DevelopmentSet& set);

}  // namespace rampart::retraining
