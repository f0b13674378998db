#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace rampart::base {

/// Counts of values by upper bound, `le` of Prometheus' exposition format. Bounds strictly increase
/// and are finite (RAMPART_CHECK); a last bucket without bound is added. Thread safe, and cheap:
/// observe() takes no lock.
class Histogram {
  public:
    explicit Histogram(std::vector<double> bounds);
    void observe(double value);  // NaN is ignored
    /// Adds what another one of the same bounds has counted (RAMPART_CHECK).
    void add(const Histogram& other);
    const std::vector<double>& bounds() const { return bounds_; }
    /// Returns the counts per bucket, not cumulative: [bounds + 1].
    std::vector<uint64_t> counts() const;
    double sum() const { return sum_.load(std::memory_order_relaxed); }

  private:
    std::vector<double> bounds_;
    std::unique_ptr<std::atomic<uint64_t>[]> counts_;
    std::atomic<double> sum_{0};
};

/// Returns bounds from 50 µs to 10 s, in seconds.
std::vector<double> latency_bounds();

}  // namespace rampart::base
