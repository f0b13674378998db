#include "rampart/runtime/metric_list.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rampart::runtime {
namespace {

TEST(MetricList, EachHasANameOfItsOwnInPrometheusConventions) {
    std::set<std::string_view> names;
    for (const auto& metric : metric::all()) {
        const std::string name(metric.name);
        EXPECT_TRUE(names.insert(metric.name).second) << name << " is listed twice";
        EXPECT_TRUE(name.starts_with("rampart_") || name.starts_with("process_")) << name;
        const bool counter = metric.type == "counter", histogram = metric.type == "histogram";
        EXPECT_TRUE(counter || histogram || metric.type == "gauge") << name;
        EXPECT_EQ(name.ends_with("_total"), counter) << name;
        if (histogram) {
            EXPECT_TRUE(name.ends_with("_seconds")) << name;
        }
        for (const char* unit : {"_ms", "_micros", "_minutes", "_mb", "_kb", "_percent"})
            EXPECT_EQ(name.find(unit), std::string::npos) << name << ": use base units";
        EXPECT_TRUE(metric.help.ends_with('.')) << name << ": " << metric.help;
    }
    EXPECT_GT(names.size(), 70u);
}

TEST(MetricList, AllCanBeMade) {
    Metrics metrics;
    for (const auto& metric : metric::all()) {
        Labels labels;
        std::string_view left = metric.labels;
        while (!left.empty()) {
            const auto comma = left.find(',');
            labels.emplace_back(std::string(left.substr(0, comma)), "x");
            left = comma == std::string_view::npos ? "" : left.substr(comma + 1);
        }
        if (metric.type == "counter") metrics.counter(metric, labels);
        if (metric.type == "gauge") metrics.gauge(metric, labels);
        if (metric.type == "histogram") metrics.histogram(metric, {1}, labels);
    }
    for (const auto& metric : metric::all()) {
        EXPECT_NE(
            metrics.prometheus_text().find(fmt::format("# TYPE {} {}\n", metric.name, metric.type)),
            std::string::npos);
    }
}

}  // namespace
}  // namespace rampart::runtime
