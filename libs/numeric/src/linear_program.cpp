#include "rampart/numeric/linear_program.hpp"

#include <coin/Clp_C_Interface.h>
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>

#include "rampart/numeric/reasons.hpp"

namespace rampart::numeric {
namespace {

constexpr double kTolerance = 1e-10;     // Clp's
constexpr double kMostViolation = 1e-9;  // largest violation of a row or a bound that is accepted
constexpr double kMostGap = 1e-8;        // between primal and dual objective, relative
constexpr int kMostIterations = 1'000'000;

struct FreeModel {
    void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};
using Model = std::unique_ptr<Clp_Simplex, FreeModel>;

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadLinearProgram, format, std::forward<Args>(args)...);
}

bool are_bounds(double lower, double upper) {
    return lower <= upper && lower < kNoBound && upper > -kNoBound;  // false for NaN
}

base::Status check(const LinearProgram& program) {
    for (size_t j = 0; j < program.columns.size(); ++j) {
        const auto& column = program.columns[j];
        if (are_bounds(column.lower, column.upper) && std::isfinite(column.cost)) continue;
        return bad("column {}: bounds {} and {}, cost {}", j, column.lower, column.upper,
                   column.cost);
    }
    std::vector<size_t> last(program.columns.size(), program.rows.size());
    for (size_t i = 0; i < program.rows.size(); ++i) {
        const auto& row = program.rows[i];
        if (!are_bounds(row.lower, row.upper))
            return bad("row {}: bounds {} and {}", i, row.lower, row.upper);
        for (const auto& [column, value] : row.terms) {
            if (column >= program.columns.size() || !std::isfinite(value) || last[column] == i)
                return bad("row {}: term {} of column {}, of {} columns each at most once", i,
                           value, column, program.columns.size());
            last[column] = i;
        }
    }
    return base::ok();
}

double clp_bound(double bound) { return std::clamp(bound, -DBL_MAX, DBL_MAX); }

/// The matrix column by column, as Clp wants it.
struct Columns {
    std::vector<CoinBigIndex> start;
    std::vector<int> row;
    std::vector<double> value;

    explicit Columns(const LinearProgram& program) : start(program.columns.size() + 1) {
        for (const auto& line : program.rows)
            for (const auto& term : line.terms) ++start[term.column + 1];
        for (size_t j = 1; j < start.size(); ++j) start[j] += start[j - 1];
        row.resize(static_cast<size_t>(start.back()));
        value.resize(row.size());
        auto next = start;
        for (size_t i = 0; i < program.rows.size(); ++i) {
            for (const auto& term : program.rows[i].terms) {
                const auto at = static_cast<size_t>(next[term.column]++);
                row[at] = static_cast<int>(i);
                value[at] = term.value;
            }
        }
    }
};

Model load(const LinearProgram& program) {
    const Columns columns(program);
    std::vector<double> lower, upper, cost, row_lower, row_upper;
    for (const auto& column : program.columns) {
        lower.push_back(clp_bound(column.lower));
        upper.push_back(clp_bound(column.upper));
        cost.push_back(column.cost);
    }
    for (const auto& row : program.rows) {
        row_lower.push_back(clp_bound(row.lower));
        row_upper.push_back(clp_bound(row.upper));
    }
    Model model(Clp_newModel());
    Clp_setLogLevel(model.get(), 0);
    // rescaled, it has called points optimal that were not (secondary status 3)
    Clp_scaling(model.get(), 0);
    Clp_loadProblem(model.get(), static_cast<int>(program.columns.size()),
                    static_cast<int>(program.rows.size()), columns.start.data(), columns.row.data(),
                    columns.value.data(), lower.data(), upper.data(), cost.data(), row_lower.data(),
                    row_upper.data());
    Clp_setPrimalTolerance(model.get(), kTolerance);
    Clp_setDualTolerance(model.get(), kTolerance);
    Clp_setMaximumIterations(model.get(), kMostIterations);
    return model;
}

LinearSolution solution_of(const LinearProgram& program, Clp_Simplex* model) {
    const auto copy = [](const double* from, size_t count) {
        return std::vector<double>(from, from + count);
    };
    LinearSolution solution;
    solution.status = LinearStatus::kOptimal;
    solution.primal = copy(Clp_primalColumnSolution(model), program.columns.size());
    solution.dual = copy(Clp_dualRowSolution(model), program.rows.size());
    for (size_t j = 0; j < program.columns.size(); ++j) {
        solution.objective += program.columns[j].cost * solution.primal[j];
        solution.reduced_cost.push_back(program.columns[j].cost);
    }
    for (size_t i = 0; i < program.rows.size(); ++i)
        for (const auto& [column, value] : program.rows[i].terms)
            solution.reduced_cost[column] -= solution.dual[i] * value;
    return solution;
}

bool within(double value, double lower, double upper) {
    return value >= lower - kMostViolation && value <= upper + kMostViolation;
}

/// price · the bound that it pulls towards; a price that is none costs nothing.
double bounded(double price, double lower, double upper) {
    const double bound = price > 0 ? lower : upper;
    if (!std::isfinite(bound) && std::abs(price) <= kMostGap) return 0;
    return price * bound;  // -infinity: the dual solution is none
}

/// Whether the solution proves itself: it keeps rows and bounds, and its dual solution bounds every
/// other's objective from below by (all but) its own.
bool proven(const LinearProgram& program, const LinearSolution& solution) {
    double dual = 0;
    for (size_t j = 0; j < program.columns.size(); ++j) {
        const auto& column = program.columns[j];
        if (!within(solution.primal[j], column.lower, column.upper)) return false;
        dual += bounded(solution.reduced_cost[j], column.lower, column.upper);
    }
    for (size_t i = 0; i < program.rows.size(); ++i) {
        const auto& row = program.rows[i];
        double activity = 0;
        for (const auto& [column, value] : row.terms) activity += value * solution.primal[column];
        if (!within(activity, row.lower, row.upper)) return false;
        dual += bounded(solution.dual[i], row.lower, row.upper);
    }
    return solution.objective - dual <= kMostGap * (1 + std::abs(solution.objective));
}

base::Result<LinearSolution> run(const LinearProgram& program) {
    int status = 0;
    for (const auto method : {Clp_dual, Clp_primal}) {
        const Model model = load(program);
        method(model.get(), 0);
        status = Clp_status(model.get());
        if (status == 1) return LinearSolution{.status = LinearStatus::kInfeasible};
        if (status == 2) return LinearSolution{.status = LinearStatus::kUnbounded};
        if (status != 0) continue;
        auto solution = solution_of(program, model.get());
        if (proven(program, solution)) return solution;
    }
    return base::make_error(Reason::kSimplexFailed,
                            "a linear program of {} rows and {} columns was not solved (status "
                            "{})",
                            program.rows.size(), program.columns.size(), status);
}

}  // namespace

base::Result<LinearSolution> solve(const LinearProgram& program) {
    RAMPART_RETURN_IF_ERROR(check(program));
    try {
        return run(program);
    } catch (...) {  // CoinError, which is no std::exception, or no memory
        return base::make_error(Reason::kSimplexFailed,
                                "a linear program of {} rows and {} columns failed",
                                program.rows.size(), program.columns.size());
    }
}

}  // namespace rampart::numeric
