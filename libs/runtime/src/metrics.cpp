#include "rampart/runtime/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::runtime {
namespace {

constexpr size_t kMaxLabelSets = 1000;

bool is_name(std::string_view name, bool colon_allowed) {
    const auto allowed = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || (colon_allowed && c == ':');
    };
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::all_of(name.begin(), name.end(), allowed);
}

std::string escaped(std::string_view text, bool quote) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && quote) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
    return out;
}

/// Returns `a="1",b="2"`, sorted by name, so that the order of labels does not matter.
std::string label_text(Labels labels) {
    std::sort(labels.begin(), labels.end());
    std::string text;
    for (const auto& [name, value] : labels) {
        RAMPART_CHECK(is_name(name, false) && name != "le", "label name '{}'", name);
        if (!text.empty()) text += ',';
        text += fmt::format("{}=\"{}\"", name, escaped(value, true));
    }
    return text;
}

std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", value);
}

std::string in_braces(const std::string& labels) {
    return labels.empty() ? std::string() : "{" + labels + "}";
}

void append_histogram(std::string& out, const std::string& name, const std::string& labels,
                      const Histogram& histogram) {
    const auto counts = histogram.counts();
    const std::string comma = labels.empty() ? "" : ",";
    uint64_t total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        const auto bound = i < histogram.bounds().size() ? number(histogram.bounds()[i]) : "+Inf";
        out += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, total);
    }
    out += fmt::format("{}_sum{} {}\n", name, in_braces(labels), number(histogram.sum()));
    out += fmt::format("{}_count{} {}\n", name, in_braces(labels), total);
}

}  // namespace

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

/// All metrics of one name; only the map of its type is used.
struct Metrics::Family {
    std::string type, help;
    std::map<std::string, std::unique_ptr<Counter>> counters;
    std::map<std::string, std::unique_ptr<Gauge>> gauges;
    std::map<std::string, std::unique_ptr<Histogram>> histograms;
};

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

Metrics::Family& Metrics::family(std::string_view name, std::string_view type,
                                 std::string_view help) {
    RAMPART_CHECK(is_name(name, true), "metric name '{}'", name);
    auto& family = families_[std::string(name)];
    if (family == nullptr) {
        family = std::make_unique<Family>();
        family->type = type;
        family->help = help;
    }
    RAMPART_CHECK(family->type == type && family->help == help,
                  "metric '{}' was declared with another type or help", name);
    return *family;
}

namespace {

template <class Metric, class... Args>
Metric& find_or_make(std::map<std::string, std::unique_ptr<Metric>>& metrics, const Labels& labels,
                     Args&&... args) {
    auto& metric = metrics[label_text(labels)];
    RAMPART_CHECK(metrics.size() <= kMaxLabelSets, "a metric has too many label sets");
    if (metric == nullptr) metric = std::make_unique<Metric>(std::forward<Args>(args)...);
    return *metric;
}

}  // namespace

Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return find_or_make(family(name, "counter", help).counters, labels);
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return find_or_make(family(name, "gauge", help).gauges, labels);
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help,
                              std::vector<double> bounds, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return find_or_make(family(name, "histogram", help).histograms, labels, std::move(bounds));
}

std::string Metrics::prometheus_text() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& [name, family] : families_) {
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(family->help, false), name,
                           family->type);
        for (const auto& [labels, counter] : family->counters) {
            out += fmt::format("{}{} {}\n", name, in_braces(labels), counter->value());
        }
        for (const auto& [labels, gauge] : family->gauges) {
            out += fmt::format("{}{} {}\n", name, in_braces(labels), number(gauge->value()));
        }
        for (const auto& [labels, histogram] : family->histograms) {
            append_histogram(out, name, labels, *histogram);
        }
    }
    return out;
}

}  // namespace rampart::runtime
