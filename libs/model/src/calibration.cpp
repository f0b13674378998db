#include "rampart/model/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rampart::model {
namespace {

constexpr size_t kMaxPoints = 10'000;
constexpr double kSmallest = 1e-12;  // smallest argument of a logarithm

bool in_unit(double p) { return p >= 0 && p <= 1; }

std::optional<std::string> fault(const BetaMap& map) {
    if (std::isfinite(map.a) && std::isfinite(map.b) && std::isfinite(map.c) && map.a >= 0 &&
        map.b >= 0) {
        return std::nullopt;
    }
    return fmt::format(
        "a beta map of a = {}, b = {}, c = {}; expected finite numbers, a and b "
        "at least 0",
        map.a, map.b, map.c);
}

std::optional<std::string> fault(const PolylineMap& map) {
    if (map.x.empty() || map.x.size() > kMaxPoints || map.x.size() != map.y.size()) {
        return fmt::format("a polyline of {} x and {} y; expected equal numbers, 1 to {}",
                           map.x.size(), map.y.size(), kMaxPoints);
    }
    for (size_t i = 0; i < map.x.size(); ++i) {
        if (!in_unit(map.x[i]) || !in_unit(map.y[i]))
            return fmt::format("point {} is ({}, {}), outside [0, 1]", i, map.x[i], map.y[i]);
        if (i > 0 && !(map.x[i] > map.x[i - 1] && map.y[i] >= map.y[i - 1]))
            return fmt::format(
                "point {} is ({}, {}), after ({}, {}): x must increase and y must "
                "not fall",
                i, map.x[i], map.y[i], map.x[i - 1], map.y[i - 1]);
    }
    return std::nullopt;
}

}  // namespace

double BetaMap::apply(double p) const {
    const double inside = std::clamp(p, kSmallest, 1 - kSmallest);
    const double logit = a * std::log(inside) - b * std::log1p(-inside) + c;
    return 1 / (1 + std::exp(-logit));
}

double PolylineMap::apply(double p) const {
    if (p <= x.front()) return y.front();
    if (p >= x.back()) return y.back();
    const auto above = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), p) - x.begin());
    const size_t below = above - 1;
    const double share = (p - x[below]) / (x[above] - x[below]);
    return std::clamp(y[below] + share * (y[above] - y[below]), y[below], y[above]);
}

double apply(const Calibration& calibration, double p) {
    if (const auto* map = std::get_if<BetaMap>(&calibration)) return map->apply(p);
    return std::get<PolylineMap>(calibration).apply(p);
}

std::optional<std::string> fault_of(const Calibration& calibration) {
    return std::visit([](const auto& map) { return fault(map); }, calibration);
}

}  // namespace rampart::model
