#include "rampart/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/report/html.hpp"

namespace rampart::report {
namespace {

constexpr size_t kColours = 9;  // in the style sheet
constexpr double kLegendLine = 20;

/// Returns a step of 1, 2 or 5 times a power of ten that makes about `count` of `range`.
double nice_step(double range, int count) {
    const double raw = range / count;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw) return factor * power;
    return 10 * power;
}

std::string_view name_of(Anchor anchor) {
    switch (anchor) {
        case Anchor::kStart:
            return "start";
        case Anchor::kMiddle:
            return "middle";
        case Anchor::kEnd:
            return "end";
    }
    return "start";
}

std::string class_of(std::string_view style) {
    return style.empty() ? std::string() : fmt::format(" class='{}'", escaped(style));
}

std::string places(std::span<const std::pair<double, double>> points) {
    std::string out;
    for (const auto& [x, y] : points) out += fmt::format("{:.1f},{:.1f} ", x, y);
    return out;
}

}  // namespace

Range padded_range(std::span<const double> values, double share, double least) {
    double lo = INFINITY, hi = -INFINITY;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        lo = std::min(lo, value);
        hi = std::max(hi, value);
    }
    if (!(lo <= hi)) return {};
    double room = std::max(share * (hi - lo), least);
    if (hi - lo + 2 * room < 1e-9) room = 0.5;
    return {lo - room, hi + room};
}

double Axis::at(double value) const {
    return start + (std::clamp(value, from, to) - from) / (to - from) * (end - start);
}

std::vector<double> ticks(const Axis& axis, int count) {
    std::vector<double> out;
    if (!(axis.to > axis.from) || count < 1) return out;
    const double step = nice_step(axis.to - axis.from, count);
    const auto first = std::ceil(axis.from / step - 1e-9), last = std::floor(axis.to / step + 1e-9);
    for (double k = first; k <= last; ++k) out.push_back(k == 0 ? 0 : k * step);
    return out;
}

std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

std::string shortened(std::string_view text, size_t length) {
    size_t characters = 0, end = 0;
    for (; end < text.size(); ++end) {
        if ((text[end] & 0xc0) == 0x80) continue;
        if (characters++ == length) break;
    }
    return std::string(text.substr(0, end)) + (end == text.size() ? "" : "…");
}

std::string colour(size_t k) { return fmt::format("c{}", k % kColours); }

Svg::Svg(double width, double height, std::string_view label, std::string_view style) {
    markup_ = fmt::format("<svg{} viewBox='0 0 {:g} {:g}' role='img' aria-label='{}'>\n",
                          class_of(style), width, height, escaped(label));
}

/// Closes an open element, around its title if it has one.
Svg& Svg::shape(std::string_view element, std::string_view title) {
    markup_ += title.empty() ? std::string("/>\n")
                             : fmt::format("><title>{}</title></{}>\n", escaped(title), element);
    return *this;
}

Svg& Svg::line(std::string_view style, double x1, double y1, double x2, double y2,
               std::string_view title) {
    markup_ += fmt::format("<line{} x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'",
                           class_of(style), x1, y1, x2, y2);
    return shape("line", title);
}

Svg& Svg::circle(std::string_view style, double x, double y, double radius,
                 std::string_view title) {
    markup_ +=
        fmt::format("<circle{} cx='{:.1f}' cy='{:.1f}' r='{:.1f}'", class_of(style), x, y, radius);
    return shape("circle", title);
}

Svg& Svg::rectangle(std::string_view style, double x, double y, double width, double height,
                    std::string_view title) {
    markup_ += fmt::format("<rect{} x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'",
                           class_of(style), x, y, width, height);
    return shape("rect", title);
}

Svg& Svg::diamond(std::string_view style, double x, double y, double radius,
                  std::string_view title) {
    const Points corners{{x, y - radius}, {x + radius, y}, {x, y + radius}, {x - radius, y}};
    markup_ += fmt::format("<polygon{} points='{}'", class_of(style), places(corners));
    return shape("polygon", title);
}

Svg& Svg::curve(std::string_view style, const Points& points) {
    const auto finite = [](const auto& p) {
        return std::isfinite(p.first) && std::isfinite(p.second);
    };
    for (auto from = points.begin(); from != points.end();) {
        const auto to = std::find_if_not(from, points.end(), finite);
        if (to != from)
            markup_ +=
                fmt::format("<polyline{} points='{}'/>\n", class_of(style), places({from, to}));
        from = std::find_if(to, points.end(), finite);
    }
    return *this;
}

Svg& Svg::polygon(std::string_view style, const Points& points) {
    markup_ += fmt::format("<polygon{} points='{}'/>\n", class_of(style), places(points));
    return *this;
}

Svg& Svg::text(double x, double y, Anchor anchor, std::string_view text, std::string_view style) {
    markup_ += fmt::format("<text{} x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n",
                           class_of(style), x, y, name_of(anchor), escaped(text));
    return *this;
}

Svg& Svg::slanted_text(double x, double y, std::string_view text, std::string_view style) {
    markup_ += fmt::format(
        "<text{} text-anchor='end' transform='translate({:.1f} {:.1f}) rotate(-40)'>{}</text>\n",
        class_of(style), x, y, escaped(text));
    return *this;
}

Svg& Svg::open(std::string_view style, std::string_view title) {
    markup_ += fmt::format("<g{}>", class_of(style));
    if (!title.empty()) markup_ += fmt::format("<title>{}</title>", escaped(title));
    markup_ += "\n";
    return *this;
}

Svg& Svg::close() {
    markup_ += "</g>\n";
    return *this;
}

Svg& Svg::frame(const Axis& x, const Axis& y, const FrameText& frame) {
    for (const double value : ticks(y, frame.y_ticks)) {
        line(value == 0 && y.from < 0 ? "zero" : "grid", x.start, y.at(value), x.end, y.at(value));
        text(x.start - 6, y.at(value) + 4, Anchor::kEnd, tick_text(value), "tick");
    }
    for (const double value : ticks(x, frame.x_ticks)) {
        if (frame.x_lines)
            line(value == 0 && x.from < 0 ? "zero" : "grid", x.at(value), y.start, x.at(value),
                 y.end);
        text(x.at(value), y.start + 16, Anchor::kMiddle, tick_text(value), "tick");
    }
    if (!frame.x_title.empty())
        text((x.start + x.end) / 2, y.start + 34, Anchor::kMiddle, frame.x_title);
    if (!frame.y_title.empty()) text(x.start, y.end - 8, Anchor::kStart, frame.y_title);
    return *this;
}

Svg& Svg::legend(double x, double y, std::span<const std::string> names) {
    for (size_t k = 0; k < names.size(); ++k)
        text(x, y + kLegendLine * static_cast<double>(k), Anchor::kStart, names[k],
             "key " + colour(k));
    return *this;
}

std::string Svg::markup() const { return markup_ + "</svg>\n"; }

}  // namespace rampart::report
