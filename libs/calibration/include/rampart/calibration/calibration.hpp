#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/calibration.hpp"

/// Calibration: turns scores into the frequency of the favourable outcome.
///
/// A map takes P(favourable) as a model says it to P(favourable) as fresh labelled rows show it;
/// nondecreasing, so that the order of rows is kept (within a group, when there is a map for each).
///  - isotonic: pool adjacent violators, served as a polyline that says on every fitting row what
///    the regression says: a pool of scores is a level piece, gaps between pools are bridged by
///    lines (Zadrozny and Elkan, "Transforming classifier scores", 2002). More points than
///    `max_points`: the pools whose union costs least squared error are united. Makes ties.
///  - Platt: logistic regression on the log odds, slope >= 0 (Platt 1999); a beta map with a = b
///  - beta: log odds = a·ln p - b·ln(1 - p) + c with a, b >= 0 (Kull, Silva Filho, Flach 2017)
/// All have Platt's targets instead of labels, 1 / (n + 2) and 1 - 1 / (n + 2) for a label of n
/// (effective) rows: separable rows get finite parameters, and isotonic never says 0 or 1. Scores
/// of exactly 0 and 1 (nearer than 1e-9) have no log odds: Platt and beta take them as half as far
/// from the end as the nearest other score (votes of k neighbours: 1 / 2k) and are served as a
/// polyline of `max_points` points on the curve, level beyond. Isotonic takes them as they are.
/// Equal scores are one case with their mean label: scores of few values are mapped as others are.
///
/// Rows must not be those that the model learnt from. The report measures the map three
/// times: before, after (the same rows: flatters), out of fold (each row by the other folds' maps).
namespace rampart::calibration {

enum class CalibrationMethod { kIsotonic, kPlatt, kBeta };

/// Parses "isotonic", "platt" or "beta"; invalid_argument "unknown_calibration" names those.
base::Result<CalibrationMethod> parse_calibration(std::string_view text);
std::string_view to_string(CalibrationMethod method);

/// What a group gets that has too few rows for a map of its own.
enum class SmallGroup {
    kPooled,  // the map of all rows
    kRefuse,  // nothing: failed_precondition "small_group"
};

struct CalibrationRows {
    std::span<const double> score;   // [n] P(favourable) in [0, 1]
    std::span<const uint8_t> label;  // [n] 1 favourable, 0 not
    std::span<const int32_t> group;  // [n] in 0 … groups-1; empty when groups = 1
    size_t groups = 1;               // 1 … limits::kMaxGroups; a group may have no rows
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
};

struct CalibrationParams {
    CalibrationMethod method = CalibrationMethod::kIsotonic;
    bool by_group = false;       // a map for each group
    size_t min_rows = 200;       // fewest rows of a group with a map of its own; >= 2
    size_t min_label_rows = 20;  // fewest rows of either label in it; >= 1
    SmallGroup small = SmallGroup::kPooled;
    size_t max_points = 256;  // most points of a polyline; 2 … 10,000
    size_t bins = 15;         // bins of equal weight, for the errors; 1 … 1,000
    size_t folds = 5;         // 2 … 100; 0: nothing is said out of fold
    uint64_t seed = 0;        // seed of the folds
};

/// How far scores are from what happens. Bins have equal weight as far as ties let them: rows with
/// one score are in one bin.
struct CalibrationError {
    double brier = 0;     // weighted mean of (p - y)^2
    double log_loss = 0;  // mean of -log P(label), probabilities kept 1e-15 from 0 and 1
    double expected = 0;  // mean over bins of |mean p - mean y|
    double largest = 0;   // over bins, of |mean p - mean y|
};

/// nullopt: no rows (or none that have been asked for).
struct CalibrationComparison {
    size_t rows = 0;
    std::optional<CalibrationError> before, after, out_of_fold;
};

struct CalibrationFit {
    std::vector<model::Calibration> maps;  // one; by group: one for each
    std::vector<bool> pooled;              // by map: it is that of all rows for lack of own ones
    CalibrationComparison overall;
    std::vector<CalibrationComparison> groups;  // [groups]
};

/// Fits the maps in O(n log n) a fold. Deterministic; rows in another order give the same maps but
/// for rounding and other folds. Errors: sizes and ranges (the row is named); failed_precondition
/// "one_label": all rows have the same; "small_group" when asked to refuse.
base::Result<CalibrationFit> fit_calibration(const CalibrationRows& rows,
                                             const CalibrationParams& params);

/// Computes the errors of any probabilities, in `bins` bins. n >= 1, sizes agree, values in range:
/// the caller's promise.
CalibrationError calibration_error(std::span<const double> score, std::span<const uint8_t> label,
                                   std::span<const float> weight, size_t bins);

}  // namespace rampart::calibration
