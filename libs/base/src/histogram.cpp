#include "rampart/base/histogram.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::base {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)) {
    for (size_t i = 0; i < bounds_.size(); ++i) {
        RAMPART_CHECK(std::isfinite(bounds_[i]) && (i == 0 || bounds_[i - 1] < bounds_[i]),
                      "histogram bounds increase and are finite");
    }
}

void Histogram::observe(double value) {
    if (std::isnan(value)) return;
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::add(const Histogram& other) {
    RAMPART_CHECK(bounds_ == other.bounds_, "histograms of other bounds are added");
    const auto counts = other.counts();
    for (size_t i = 0; i < counts.size(); ++i) {
        counts_[i].fetch_add(counts[i], std::memory_order_relaxed);
    }
    sum_.fetch_add(other.sum(), std::memory_order_relaxed);
}

std::vector<uint64_t> Histogram::counts() const {
    std::vector<uint64_t> counts(bounds_.size() + 1);
    for (size_t i = 0; i < counts.size(); ++i) {
        counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    return counts;
}

std::vector<double> latency_bounds() {
    return {50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3,
            50e-3, 0.1,    0.25,   0.5,    1,    2.5,    5,    10};
}

}  // namespace rampart::base
