#include "rampart/base/significant.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace rampart::base {

std::string significant(double x, int digits, Toward toward) {
    if (!std::isfinite(x)) return "none";
    if (x == 0) return "0";
    const auto rounded = [digits](double y) {
        return std::strtod(fmt::format("{:.{}e}", y, digits - 1).c_str(), nullptr);
    };
    double out = rounded(x);
    const double slack = 1e-12 * std::abs(x);
    const double step = std::pow(10, std::floor(std::log10(std::abs(x))) - digits + 1);
    if (toward == Toward::kDown && out > x + slack) out = rounded(out - step);
    if (toward == Toward::kUp && out < x - slack) out = rounded(out + step);
    return fmt::format("{:.{}g}", out, digits);
}

}  // namespace rampart::base
