#include "rampart/report/probability.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rampart::report {

std::string probability_text(double p, std::initializer_list<double> others) {
    const auto shown = [](double value) { return fmt::format("{:.4f}", value); };
    const auto text = shown(p);
    const auto mistaken = [&](double other) { return p != other && text == shown(other); };
    if (mistaken(0) || mistaken(1) || std::any_of(others.begin(), others.end(), mistaken))
        return fmt::format("{}", p);
    return text;
}

}  // namespace rampart::report
