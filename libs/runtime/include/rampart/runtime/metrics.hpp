#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rampart::runtime {

/// {{"action", "approve"}}: small sets of values only, never an id.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A count of events; only increases.
class Counter {
  public:
    void add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    uint64_t value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<uint64_t> value_{0};
};

/// A value that goes up and down.
class Gauge {
  public:
    void set(double value) { value_.store(value, std::memory_order_relaxed); }
    double value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<double> value_{0};
};

/// Counts of values by upper bound, `le` of the exposition format. Bounds strictly increase; a last
/// bucket without bound is added.
class Histogram {
  public:
    explicit Histogram(std::vector<double> bounds);
    void observe(double value);  // NaN is ignored
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

/// All metrics of a process. The same name and labels always give the same object, which lives as
/// long as the registry. A malformed name, another type or help for a known name, or more than 1000
/// label sets of one name is a defect (RAMPART_CHECK). Thread safe, and so are the objects.
class Metrics {
  public:
    Metrics();
    ~Metrics();
    Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
    Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
    Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                         const Labels& labels = {});
    /// Returns the Prometheus text exposition format 0.0.4, sorted by name.
    std::string prometheus_text() const;

  private:
    struct Family;
    Family& family(std::string_view name, std::string_view type, std::string_view help);
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
};

}  // namespace rampart::runtime
