#include "rampart/ope/calibration_wealth.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::ope {
namespace {

using Logs = std::array<double, CalibrationWealth::kTilts.size()>;

/// Returns ln of the mean of the exponentials.
double log_mean_exp(const Logs& logs) {
    const double most = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double x : logs) sum += std::exp(x - most);
    return most + std::log(sum / static_cast<double>(logs.size()));
}

}  // namespace

void CalibrationWealth::add(double p, bool drawn) {
    auto& tenth = tenths_[static_cast<size_t>(std::clamp(p * 10, 0.0, 9.0))];
    for (size_t k = 0; k < kTilts.size(); ++k) {
        tenth[k].add((drawn ? kTilts[k] : 0) - std::log1p(p * std::expm1(kTilts[k])));
    }
}

double CalibrationWealth::log_wealth() const {
    std::array<stats::Sum, kTilts.size()> whole{};
    double tenths = 0;
    for (const auto& tenth : tenths_) {
        Logs logs{};
        for (size_t k = 0; k < kTilts.size(); ++k) {
            logs[k] = tenth[k].value();
            whole[k].add(logs[k]);
        }
        tenths += log_mean_exp(logs);
    }
    Logs logs{};
    for (size_t k = 0; k < kTilts.size(); ++k) logs[k] = whole[k].value();
    const double all = log_mean_exp(logs), most = std::max(all, tenths);
    return most + std::log((std::exp(all - most) + std::exp(tenths - most)) / 2);
}

}  // namespace rampart::ope
