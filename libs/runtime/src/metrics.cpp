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

Counter& Metrics::counter(const MetricInfo& metric, const Labels& labels) {
    RAMPART_CHECK(metric.type == "counter", "metric '{}' is no counter", metric.name);
    return counter(metric.name, metric.help, labels);
}

Gauge& Metrics::gauge(const MetricInfo& metric, const Labels& labels) {
    RAMPART_CHECK(metric.type == "gauge", "metric '{}' is no gauge", metric.name);
    return gauge(metric.name, metric.help, labels);
}

Histogram& Metrics::histogram(const MetricInfo& metric, std::vector<double> bounds,
                              const Labels& labels) {
    RAMPART_CHECK(metric.type == "histogram", "metric '{}' is no histogram", metric.name);
    return histogram(metric.name, metric.help, std::move(bounds), labels);
}

/// A family as text.
struct Samples::Written {
    std::string type, help, lines;
};

Samples::Samples() = default;
Samples::~Samples() = default;

Samples::Written& Samples::family(std::string_view name, std::string_view type,
                                  std::string_view help) {
    auto& family = families_[std::string(name)];
    if (family == nullptr) {
        family = std::make_unique<Written>(std::string(type), std::string(help), std::string());
    }
    return *family;
}

void Samples::add(const MetricInfo& metric, double value, const Labels& labels) {
    auto& lines = family(metric.name, metric.type, metric.help).lines;
    lines += fmt::format("{}{} {}\n", metric.name, in_braces(label_text(labels)), number(value));
}

void Samples::add(const MetricInfo& metric, const Histogram& histogram, const Labels& labels) {
    append_histogram(family(metric.name, metric.type, metric.help).lines, std::string(metric.name),
                     label_text(labels), histogram);
}

void Metrics::collect(Collector collector) {
    const std::lock_guard lock(mutex_);
    collectors_.push_back(std::move(collector));
}

std::string Metrics::prometheus_text(const Collector& more) const {
    Samples samples;
    std::vector<Collector> collectors;
    {
        const std::lock_guard lock(mutex_);
        collectors = collectors_;
    }
    for (const auto& collector : collectors) collector(samples);
    if (more) more(samples);

    const std::lock_guard lock(mutex_);
    for (const auto& [name, family] : families_) {
        auto& lines = samples.family(name, family->type, family->help).lines;
        for (const auto& [labels, counter] : family->counters) {
            lines += fmt::format("{}{} {}\n", name, in_braces(labels), counter->value());
        }
        for (const auto& [labels, gauge] : family->gauges) {
            lines += fmt::format("{}{} {}\n", name, in_braces(labels), number(gauge->value()));
        }
        for (const auto& [labels, histogram] : family->histograms) {
            append_histogram(lines, name, labels, *histogram);
        }
    }
    std::string out;
    for (const auto& [name, family] : samples.families_) {
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, escaped(family->help, false),
                           name, family->type, family->lines);
    }
    return out;
}

}  // namespace rampart::runtime
