#include "tools/demo/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace rampart::demo {
namespace {

constexpr double kWidth = 720, kHeight = 240, kLeft = 56, kRight = 16, kTop = 16, kBottom = 34;
constexpr std::array kColours{"#2563eb", "#db2777", "#059669", "#d97706", "#7c3aed",
                              "#0891b2", "#b91c1c", "#4d7c0f", "#475569"};

struct Scale {
    double lo, hi, from, to;
    double operator()(double v) const { return from + (v - lo) / (hi - lo) * (to - from); }
};

/// A step of 1, 2 or 5 times a power of ten that gives about `count` ticks.
double nice_step(double range, int count) {
    const double raw = range / count;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw) return factor * power;
    }
    return 10 * power;
}

std::pair<double, double> range_of(const std::vector<double>& values) {
    double lo = INFINITY, hi = -INFINITY;
    for (const double v : values) {
        if (!std::isfinite(v)) continue;
        lo = std::min(lo, v);
        hi = std::max(hi, v);
    }
    if (!(lo <= hi)) return {0, 1};
    if (hi - lo < 1e-9) return {lo - 0.5, hi + 0.5};
    const double pad = (hi - lo) * 0.08;
    return {lo - pad, hi + pad};
}

std::string y_axis(const Scale& y) {
    std::string out;
    const double step = nice_step(y.hi - y.lo, 5);
    for (double v = std::ceil(y.lo / step) * step; v <= y.hi; v += step) {
        const double at = std::abs(v) < step / 1e6 ? 0 : v;
        out += fmt::format(
            "<line class='grid' x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}'/>"
            "<text class='tick' x='{}' y='{:.1f}' text-anchor='end'>{:.6g}</text>\n",
            kLeft, kWidth - kRight, y(v), y(v), kLeft - 6, y(v) + 3.5, at);
    }
    return out;
}

std::string polyline(const std::vector<double>& values, const Scale& x, const Scale& y,
                     const char* colour) {
    std::string out, points;
    const auto flush = [&] {
        if (!points.empty()) {
            out +=
                fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.8' points='{}'/>\n",
                            colour, points);
        }
        points.clear();
    };
    for (size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            flush();
            continue;
        }
        points += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(i)), y(values[i]));
    }
    flush();
    return out;
}

std::string legend(const std::vector<Series>& series) {
    std::string out = "<div class='legend'>";
    for (size_t i = 0; i < series.size(); ++i) {
        out += fmt::format("<span><i style='background:{}'></i>{}</span>",
                           kColours[i % kColours.size()], escape_html(series[i].name));
    }
    return out + "</div>";
}

}  // namespace

std::string escape_html(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '\'':
                out += "&#39;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string render(const LineChart& chart) {
    std::vector<double> all;
    for (const auto& series : chart.series) all.insert(all.end(), series.y.begin(), series.y.end());
    const auto [lo, hi] = range_of(all);
    const Scale y{lo, hi, kHeight - kBottom, kTop};
    const double last = std::max<double>(1, static_cast<double>(chart.x.size()) - 1);
    const Scale x{0, last, kLeft, kWidth - kRight};

    std::string out = fmt::format(
        "<figure><figcaption>{} <small>{}</small></figcaption>\n"
        "<svg viewBox='0 0 {} {}' role='img' aria-label='{}'>\n",
        escape_html(chart.title), escape_html(chart.y_unit), kWidth, kHeight,
        escape_html(chart.title));
    out += y_axis(y);
    const size_t every = std::max<size_t>(1, (chart.x.size() + 9) / 10);
    for (size_t i = 0; i < chart.x.size(); i += every) {
        out +=
            fmt::format("<text class='tick' x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n",
                        x(static_cast<double>(i)), kHeight - kBottom + 16, escape_html(chart.x[i]));
    }
    for (const auto& [index, label] : chart.marks) {
        const double at = x(static_cast<double>(index));
        out += fmt::format(
            "<line class='mark' x1='{0:.1f}' x2='{0:.1f}' y1='{1}' "
            "y2='{2}'><title>{3}</title></line>\n",
            at, kTop, kHeight - kBottom, escape_html(label));
    }
    for (size_t i = 0; i < chart.series.size(); ++i) {
        out += polyline(chart.series[i].y, x, y, kColours[i % kColours.size()]);
    }
    return out + "</svg>" + legend(chart.series) + "</figure>\n";
}

std::string render_intervals(const std::string& title, const std::string& unit,
                             const std::vector<Interval>& rows) {
    constexpr double kRow = 20, kLabels = 250;
    std::vector<double> all{0};
    for (const auto& row : rows) all.insert(all.end(), {row.lower, row.estimate, row.truth});
    const auto [lo, hi] = range_of(all);
    const Scale x{lo, hi, kLabels, kWidth - kRight};
    const double height = kRow * static_cast<double>(rows.size()) + kTop + kBottom;

    std::string out = fmt::format(
        "<figure><figcaption>{} <small>{}</small></figcaption>\n"
        "<svg viewBox='0 0 {} {:.0f}' role='img' aria-label='{}'>\n",
        escape_html(title), escape_html(unit), kWidth, height, escape_html(title));
    const double step = nice_step(hi - lo, 6);
    for (double v = std::ceil(lo / step) * step; v <= hi; v += step) {
        const double at = std::abs(v) < step / 1e6 ? 0 : v;
        out += fmt::format(
            "<line class='{0}' x1='{1:.1f}' x2='{1:.1f}' y1='{2}' y2='{3:.0f}'/>"
            "<text class='tick' x='{1:.1f}' y='{4:.0f}' text-anchor='middle'>{5:.6g}</text>\n",
            at == 0 ? "zero" : "grid", x(v), kTop, height - kBottom, height - kBottom + 16, at);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[i];
        const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
        const char* colour = row.passed ? "#059669" : "#b91c1c";
        out += fmt::format("<text class='row' x='{}' y='{:.1f}' text-anchor='end'>{}</text>",
                           kLabels - 10, y + 4, escape_html(row.label));
        if (std::isfinite(row.lower)) {
            out += fmt::format(
                "<line stroke='{0}' stroke-width='2' x1='{1:.1f}' x2='{2:.1f}' y1='{3:.1f}' "
                "y2='{3:.1f}'/>"
                "<line stroke='{0}' stroke-width='2' x1='{1:.1f}' x2='{1:.1f}' y1='{4:.1f}' "
                "y2='{5:.1f}'/>",
                colour, x(row.lower), x(row.estimate), y, y - 5, y + 5);
        }
        out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3.5' fill='{}'/>", x(row.estimate),
                           y, colour);
        if (std::isfinite(row.truth)) {
            out += fmt::format(
                "<path class='truth' d='M{0:.1f} {1:.1f}l4 5l-4 5l-4 -5z'><title>truth "
                "{2:.3g}</title></path>",
                x(row.truth), y - 5, row.truth);
        }
        out += "\n";
    }
    return out + "</svg></figure>\n";
}

}  // namespace rampart::demo
