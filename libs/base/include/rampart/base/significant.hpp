#pragma once

#include <string>

namespace rampart::base {

/// Side to which a number is rounded for people, so that what they read is no stronger claim than
/// the number.
enum class Toward { kNearest, kDown, kUp };

/// Returns the number with at most `digits` significant digits, 1 to 15: "90", "-0.0123", "1e+20".
/// A difference below 1e-12 of the number counts as the rounding error of its computation. "none"
/// for NaN and infinities.
std::string significant(double x, int digits, Toward toward = Toward::kNearest);

}  // namespace rampart::base
