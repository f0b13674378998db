#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/histogram.hpp"

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

using base::Histogram;
using base::latency_bounds;

/// What is known of a metric before it has a value. All of the product's are in metric_list.hpp.
struct MetricInfo {
    std::string_view name;
    std::string_view type;    // "counter", "gauge", "histogram"
    std::string_view labels;  // names, separated by commas; empty: none
    std::string_view help;    // what it means, and what to do about it
};

/// What a collector has found: values of one moment. Each label set of a metric once.
class Samples {
  public:
    Samples();
    ~Samples();
    void add(const MetricInfo& metric, double value, const Labels& labels = {});
    void add(const MetricInfo& metric, const Histogram& histogram, const Labels& labels = {});

  private:
    friend class Metrics;
    struct Written;
    Written& family(std::string_view name, std::string_view type, std::string_view help);
    std::map<std::string, std::unique_ptr<Written>, std::less<>> families_;
};

/// All metrics of a process. The same name and labels always give the same object, which lives as
/// long as the registry. A malformed name, another type or help for a known name, or more than 1000
/// label sets of one name is a defect (RAMPART_CHECK). Thread safe, and so are the objects.
class Metrics {
  public:
    Metrics();
    ~Metrics();
    Counter& counter(const MetricInfo& metric, const Labels& labels = {});
    Gauge& gauge(const MetricInfo& metric, const Labels& labels = {});
    Histogram& histogram(const MetricInfo& metric, std::vector<double> bounds,
                         const Labels& labels = {});
    Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
    Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
    Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                         const Labels& labels = {});

    /// Looks when prometheus_text() is called, for what is a state and not an event. It returns at
    /// once, holds no lock for long and waits for none that is; what it reads has to outlive the
    /// last prometheus_text().
    using Collector = std::function<void(Samples&)>;
    void collect(Collector collector);

    /// Returns the Prometheus text exposition format 0.0.4, sorted by name. `more`: what the caller
    /// alone can find.
    std::string prometheus_text(const Collector& more = {}) const;

  private:
    struct Family;
    Family& family(std::string_view name, std::string_view type, std::string_view help);
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
    std::vector<Collector> collectors_;
};

}  // namespace rampart::runtime
