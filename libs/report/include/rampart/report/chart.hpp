#pragma once

#include <string>
#include <vector>

/// Small inline SVG charts for the report; no script, no outside resource.
namespace rampart::demo {

struct Series {
    std::string name;
    std::vector<double> y;  // as long as the chart's x; NaN: a gap
};

struct LineChart {
    std::string title, y_unit;
    std::vector<std::string> x;
    std::vector<Series> series;
    std::vector<std::pair<size_t, std::string>>
        marks;  // vertical lines at an x index, with a label
};
std::string render(const LineChart& chart);

struct Interval {
    std::string label;
    double lower = 0, estimate = 0;
    double truth = 0;  // NaN: unknown
    bool passed = false;
};
/// Estimates with their one-sided bounds against zero, a row each.
std::string render_intervals(const std::string& title, const std::string& unit,
                             const std::vector<Interval>& rows);

}  // namespace rampart::demo
