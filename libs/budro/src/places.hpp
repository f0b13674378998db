#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/budro/transport.hpp"

/// What is left of a transport problem when people at one point are seen as one.
///
/// Vocabulary: a *place* is a distinct point. A *sender* is a place and a label, with the weight of
/// the people there who have it: they all may be sent alike. A *target* of a class is a place with
/// the greatest loss of its people in that class, and the person who has it.
namespace rampart::budro {

struct Sender {
    uint32_t place = 0;
    uint8_t label = 0;
    double weight = 0;  // all senders' add up to 1
};

struct Places {
    size_t dimensions = 0;
    std::vector<double> coordinates;      // [places x dimensions], in the order of their first rows
    std::vector<uint32_t> of_row;         // [n]
    std::vector<Sender> senders;          // by place, then by label
    std::vector<uint32_t> sender_of_row;  // [n]

    size_t count() const { return first_rows.size(); }
    std::vector<uint32_t> first_rows;  // [places]
    std::span<const double> at(size_t place) const {
        return std::span(coordinates).subspan(place * dimensions, dimensions);
    }
};

/// The problem has been checked. total_weight: what the weights were divided by.
Places find_places(const TransportProblem& problem, double total_weight);

/// Losses of one round, by target.
struct TargetLosses {
    size_t places = 0;
    std::vector<double> loss;   // [classes x places]
    std::vector<uint32_t> row;  // [classes x places]: whose it is
    double loss_of(size_t label, size_t place) const { return loss[label * places + place]; }
    uint32_t row_of(size_t label, size_t place) const { return row[label * places + place]; }
};

/// losses: [classes x n].
TargetLosses losses_of_targets(const Places& places, std::span<const double> losses, int classes);

}  // namespace rampart::budro
