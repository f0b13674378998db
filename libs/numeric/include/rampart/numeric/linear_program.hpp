#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "rampart/base/result.hpp"

/// Linear programs, solved by the simplex method (COIN-OR Clp).
///   minimise  sum cost_j · x_j   subject to  row bounds <= sum of a row's terms <= row bounds,
///                                            lower_j <= x_j <= upper_j
namespace rampart::numeric {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

struct LinearProgram {
    struct Column {
        double lower = 0, upper = kNoBound;  // -kNoBound, kNoBound: none
        double cost = 0;
    };
    struct Term {
        uint32_t column;
        double value;
    };
    struct Row {
        double lower = -kNoBound, upper = kNoBound;
        std::vector<Term> terms = {};  // no column twice
    };
    std::vector<Column> columns;
    std::vector<Row> rows;

    uint32_t add(const Column& column) {
        columns.push_back(column);
        return static_cast<uint32_t>(columns.size() - 1);
    }
};

enum class LinearStatus { kOptimal, kInfeasible, kUnbounded };

/// A vertex of an optimal program: at most as many columns lie strictly between their bounds as
/// there are rows. Else all but the status is empty.
struct LinearSolution {
    LinearStatus status = LinearStatus::kInfeasible;
    double objective = 0;
    std::vector<double> primal = {};        // [columns]
    std::vector<double> dual = {};          // [rows]: change of the objective with a row's bound
    std::vector<double> reduced_cost = {};  // [columns]: cost_j - sum over rows of dual · value
};

/// Solves the program. Rows and bounds hold to within 1e-9, and the dual solution proves that no
/// other does better by more than 1e-8: both are checked here, whatever the solver says.
/// Deterministic, one thread.
/// Errors: a number that is not finite, bounds that cross, a term without column (invalid_argument
/// "bad_linear_program"); no proven solution was found (internal "simplex_failed").
base::Result<LinearSolution> solve(const LinearProgram& program);

}  // namespace rampart::numeric
