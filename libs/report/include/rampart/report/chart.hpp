#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Charts with a caption and a legend.
namespace rampart::report {

struct Series {
    std::string name;
    std::vector<double> y;  // as long as the chart's x; NaN: a gap; one between gaps is a dot
};

struct LineChart {
    std::string title, y_unit;
    std::vector<std::string> x;
    std::vector<Series> series;
    std::vector<std::pair<size_t, std::string>>
        marks;                         // vertical lines at an x index, with a label
    std::optional<double> level = {};  // a horizontal line
};
/// Returns the chart's markup, for Html::raw.
std::string line_chart(const LineChart& chart);

/// An estimate with its one-sided bound.
struct Estimate {
    std::string label;
    double lower = 0, estimate = 0;
    double truth = 0;  // NaN: unknown
    bool passed = false;
};
/// Returns the markup of estimates with their bounds against zero, a row each.
std::string interval_chart(const std::string& title, const std::string& unit,
                           const std::vector<Estimate>& rows);

}  // namespace rampart::report
