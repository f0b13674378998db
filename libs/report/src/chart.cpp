#include "rampart/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::report {
namespace {

constexpr double kWidth = 720, kHeight = 240, kLeft = 56, kRight = 26, kTop = 16, kBottom = 34;
constexpr double kPadding = 0.08;  // share of an axis, at both ends

std::string legend(const std::vector<Series>& series) {
    std::string out = "<div class='legend'>";
    for (size_t i = 0; i < series.size(); ++i)
        out += fmt::format("<span><i class='{}'></i>{}</span>", colour(i), escaped(series[i].name));
    return out + "</div>\n";
}

void draw(const std::vector<double>& values, const Axis& x, const Axis& y,
          const std::string& colour, Svg& svg) {
    const auto known = [&](size_t k) { return k < values.size() && std::isfinite(values[k]); };
    Points points;
    for (size_t k = 0; k < values.size(); ++k)
        points.emplace_back(x.at(static_cast<double>(k)),
                            known(k) ? y.at(values[k]) : std::nan(""));
    svg.curve("curve " + colour, points);
    svg.open(colour);
    for (size_t k = 0; k < values.size(); ++k)
        if (known(k) && !known(k + 1) && (k == 0 || !known(k - 1)))
            svg.circle("dot", points[k].first, points[k].second, 2.5);
    svg.close();
}

std::string figure(const std::string& title, const std::string& unit, const std::string& markup) {
    return Html().figure(title, unit, markup).markup();
}

}  // namespace

std::string line_chart(const LineChart& chart) {
    std::vector<double> all;
    for (const auto& series : chart.series) all.insert(all.end(), series.y.begin(), series.y.end());
    if (chart.level) all.push_back(*chart.level);
    const auto range = padded_range(all, kPadding);
    const Axis y{range.lo, range.hi, kHeight - kBottom, kTop};
    const double last = std::max<double>(1, static_cast<double>(chart.x.size()) - 1);
    const Axis x{0, last, kLeft, kWidth - kRight};

    Svg svg(kWidth, kHeight, chart.title);
    for (const double value : ticks(y, 5)) {
        svg.line("grid", x.start, y.at(value), x.end, y.at(value));
        svg.text(kLeft - 6, y.at(value) + 3.5, Anchor::kEnd, tick_text(value), "tick");
    }
    const size_t every = std::max<size_t>(1, (chart.x.size() + 9) / 10);
    for (size_t i = 0; i < chart.x.size(); i += every)
        svg.text(x.at(static_cast<double>(i)), y.start + 16, Anchor::kMiddle, chart.x[i], "tick");
    for (const auto& [index, label] : chart.marks) {
        const double at = x.at(static_cast<double>(index));
        svg.line("mark", at, kTop, at, y.start, label);
    }
    if (chart.level)
        svg.line("mark", x.start, y.at(*chart.level), x.end, y.at(*chart.level),
                 tick_text(*chart.level));
    for (size_t i = 0; i < chart.series.size(); ++i) draw(chart.series[i].y, x, y, colour(i), svg);
    return figure(chart.title, chart.y_unit, svg.markup() + legend(chart.series));
}

std::string interval_chart(const std::string& title, const std::string& unit,
                           const std::vector<Estimate>& rows) {
    constexpr double kRow = 20, kLabels = 250;
    std::vector<double> all{0};
    for (const auto& row : rows) all.insert(all.end(), {row.lower, row.estimate, row.truth});
    const auto range = padded_range(all, kPadding);
    const Axis x{range.lo, range.hi, kLabels, kWidth - kRight};
    const double height = kRow * static_cast<double>(rows.size()) + kTop + kBottom;

    Svg svg(kWidth, height, title);
    for (const double value : ticks(x, 6)) {
        svg.line(value == 0 ? "zero" : "grid", x.at(value), kTop, x.at(value), height - kBottom);
        svg.text(x.at(value), height - kBottom + 16, Anchor::kMiddle, tick_text(value), "tick");
    }
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[i];
        const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
        svg.text(kLabels - 10, y + 4, Anchor::kEnd, row.label);
        svg.open(row.passed ? "good" : "bad");
        if (std::isfinite(row.lower))
            svg.line("whisker", x.at(row.lower), y, x.at(row.estimate), y)
                .line("whisker", x.at(row.lower), y - 5, x.at(row.lower), y + 5);
        svg.circle("dot", x.at(row.estimate), y, 3.5).close();
        if (std::isfinite(row.truth))
            svg.diamond("truth", x.at(row.truth), y, 5, fmt::format("truth {:.3g}", row.truth));
    }
    return figure(title, unit, svg.markup());
}

}  // namespace rampart::report
