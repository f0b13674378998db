#pragma once

#include <string>
#include <vector>

#include "rampart/attribution/shapley.hpp"
#include "rampart/attribution/units.hpp"
#include "rampart/attribution/waterfall.hpp"

namespace rampart::cli {

/// What is drawn of a decision. No value of a feature is written, but from the P of a declared rule
/// the one that it reads can be computed.
struct DecisionPicture {
    std::string decision, action, policy;
    std::vector<attribution::LinkStep> steps;
    double p = 0;     // P(approve) that the draw was compared with
    double draw = 0;  // u
    std::vector<attribution::Unit> units;
    attribution::ShapleyValues values;
    std::vector<size_t> cited;  // units, most important first
    size_t top = 10;            // units to draw, the others as one; 0: all
};

/// One bar: what a step does to P, or a feature takes from it.
struct PictureBar {
    std::string name;
    double from = 0, to = 0;
    double error = 0;  // standard error of a sampled value
};

/// Returns the way of P: from 0 by each link's rule, exploration and trust region to P(approve).
/// Each bar begins where the one before ends; the last one ends at `p`.
std::vector<PictureBar> step_bars(const DecisionPicture& picture);

/// Returns what the units lower P by, the largest magnitude first, each from 0. Their sum is mean P
/// of the reference set less P(approve).
std::vector<PictureBar> value_bars(const DecisionPicture& picture);

/// Returns the picture as one SVG file.
std::string draw_picture(const DecisionPicture& picture);

}  // namespace rampart::cli
