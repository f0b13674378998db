#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/budro/transport.hpp"

/// A transport problem in which rows with equal coordinates are one point.
///
/// Vocabulary (optimal transport): a *support point* is a distinct point. A
/// *source* is a support point and a label, with the weight of the rows that have both: all of it
/// may be transported alike. A *target* of a class is a support point with the greatest loss of its
/// rows in that class, and the row that has it.
namespace rampart::budro {

struct Source {
    uint32_t point = 0;
    uint8_t label = 0;
    double weight = 0;  // all sources' add up to 1
};

struct SupportPoints {
    size_t dimensions = 0;
    std::vector<double> coordinates;      // [points x dimensions], in the order of their first rows
    std::vector<uint32_t> of_row;         // [n]
    std::vector<Source> sources;          // by point, then by label
    std::vector<uint32_t> source_of_row;  // [n]

    size_t count() const { return first_rows.size(); }
    std::vector<uint32_t> first_rows;  // [points]
    std::span<const double> at(size_t point) const {
        return std::span(coordinates).subspan(point * dimensions, dimensions);
    }
};

/// Groups the rows of a checked problem. total_weight: what the weights were divided by.
SupportPoints find_support_points(const TransportProblem& problem, double total_weight);

/// Losses of one round, by target.
struct TargetLosses {
    size_t points = 0;
    std::vector<double> loss;   // [classes x points]
    std::vector<uint32_t> row;  // [classes x points]: row with that loss
    double loss_of(size_t label, size_t point) const { return loss[label * points + point]; }
    uint32_t row_of(size_t label, size_t point) const { return row[label * points + point]; }
};

/// losses: [classes x n].
TargetLosses losses_of_targets(const SupportPoints& points, std::span<const double> losses,
                               int classes);

}  // namespace rampart::budro
