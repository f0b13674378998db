#include "audit/decision_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/report/probability.hpp"
#include "rampart/report/svg.hpp"
#include "rampart/report/svg_file.hpp"

namespace rampart::cli {
namespace {

using report::Anchor;
using report::Axis;
using report::Svg;

constexpr double kWidth = 780, kLeft = 270, kRight = 700, kRow = 24, kBar = 14;
constexpr double kHead = 56;  // a section's title and the texts of its axis
constexpr double kTop = 44, kBottom = 30;
constexpr size_t kNameLength = 34;  // characters

std::string p_text(double p) { return report::probability_text(p); }
std::string signed_text(double p) { return fmt::format("{:+.4f}", p); }

double rows(size_t n) { return kRow * static_cast<double>(n); }

/// Says what the draw did.
std::string draw_text(const DecisionPicture& picture) {
    return fmt::format("draw {} is {} P(approve) {}: {}",
                       report::probability_text(picture.draw, {picture.p}),
                       picture.draw < picture.p ? "below" : "not below",
                       report::probability_text(picture.p, {picture.draw}), picture.action);
}

std::string sum_text(const DecisionPicture& picture) {
    return fmt::format("mean P of the reference set {}, less P(approve) {}: {}",
                       p_text(picture.values.reference), p_text(picture.values.p),
                       signed_text(picture.values.reference - picture.values.p));
}

/// Says in words what the bars show.
std::string description(const DecisionPicture& picture, const std::vector<PictureBar>& steps,
                        const std::vector<PictureBar>& values) {
    std::string text = "P(approve) from link to link: ";
    for (const auto& bar : steps)
        text +=
            fmt::format("{} {}, to {}; ", bar.name, signed_text(bar.to - bar.from), p_text(bar.to));
    text += draw_text(picture) + ". What lowers P: ";
    for (const auto& bar : values) text += fmt::format("{} {}; ", bar.name, signed_text(bar.to));
    return text + sum_text(picture) + ".";
}

/// Draws the title of a section, and lines and texts of its axis.
void draw_axis(Svg& svg, const Axis& x, double top, size_t bars, const std::string& title) {
    svg.text(16, top + 18, Anchor::kStart, title);
    const double from = top + kHead - 8, to = top + kHead + rows(bars);
    for (const double value : report::ticks(x, 5)) {
        svg.line(value == 0 ? "zero" : "grid", x.at(value), from, x.at(value), to);
        svg.text(x.at(value), from - 4, Anchor::kMiddle, report::tick_text(value), "tick");
    }
}

void draw_bar(Svg& svg, const Axis& x, double y, const PictureBar& bar, std::string_view colour,
              const std::string& number) {
    const double a = x.at(std::min(bar.from, bar.to)), b = x.at(std::max(bar.from, bar.to));
    svg.text(kLeft - 12, y + 15, Anchor::kEnd, report::shortened(bar.name, kNameLength));
    svg.rectangle(fmt::format("bar {}", colour), a, y + (kRow - kBar) / 2, b - a, kBar,
                  fmt::format("{}: {}", bar.name, number));
    svg.text(kRight + 12, y + 15, Anchor::kStart, number);
}

void draw_steps(Svg& svg, const DecisionPicture& picture, const std::vector<PictureBar>& steps,
                double top) {
    const Axis x{0, 1, kLeft, kRight};
    draw_axis(svg, x, top, steps.size() + 1, "P(approve), from link to link to the draw");
    double y = top + kHead;
    for (size_t i = 0; i < steps.size(); ++i, y += kRow) {
        const auto& bar = steps[i];
        draw_bar(svg, x, y, bar,
                 i == 0              ? "c0"
                 : bar.to < bar.from ? "bad"
                                     : "good",
                 signed_text(bar.to - bar.from));
        svg.line("link", x.at(bar.to), y + kRow - 5, x.at(bar.to), y + kRow + 5);
    }
    draw_bar(svg, x, y, {"P(approve)", 0, picture.p}, "c0", p_text(picture.p));
    svg.line("mark", x.at(picture.draw), top + kHead - 8, x.at(picture.draw), y + kRow + 6,
             fmt::format("draw {}", p_text(picture.draw)));
    svg.text(kLeft, y + kRow + 22, Anchor::kStart, draw_text(picture));
}

void draw_values(Svg& svg, const DecisionPicture& picture, const std::vector<PictureBar>& values,
                 double top) {
    double most = 1e-4;
    for (const auto& bar : values) most = std::max(most, std::abs(bar.to) + bar.error);
    const Axis x{-most, most, kLeft, kRight};
    draw_axis(svg, x, top, values.size(), "What lowers P(approve), against the reference set");
    double y = top + kHead;
    for (const auto& bar : values) {
        draw_bar(svg, x, y, bar, bar.to > 0 ? "bad" : "good", signed_text(bar.to));
        if (bar.error > 0)
            svg.line("link", x.at(bar.to - bar.error), y + kRow / 2, x.at(bar.to + bar.error),
                     y + kRow / 2, fmt::format("standard error {}", p_text(bar.error)));
        y += kRow;
    }
    svg.text(kLeft, y + 22, Anchor::kStart, sum_text(picture));
}

}  // namespace

std::vector<PictureBar> step_bars(const DecisionPicture& picture) {
    std::vector<PictureBar> bars;
    const auto add = [&](std::string name, double to) {
        bars.push_back({std::move(name), bars.empty() ? 0 : bars.back().to, to});
    };
    for (const auto& step : picture.steps) {
        if (step.bootstrap) {
            add(fmt::format("link {}, declared rule", step.link), step.rule);
            continue;
        }
        add(fmt::format("link {}, {}", step.link, step.reads_group ? "rule by group" : "rule"),
            step.rule);
        add(fmt::format("link {}, exploration", step.link), step.explored);
        if (step.link > 1) add(fmt::format("link {}, trust region", step.link), step.approve);
    }
    // it was used up, so that P without it was drawn by
    if (bars.empty() || bars.back().to != picture.p) add("exploration spent", picture.p);
    return bars;
}

std::vector<PictureBar> value_bars(const DecisionPicture& picture) {
    const auto& [lowered, error, p, reference, exact] = picture.values;
    std::vector<size_t> order(lowered.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&lowered = lowered](size_t a, size_t b) {
        return std::abs(lowered[a]) > std::abs(lowered[b]);
    });
    const size_t shown = picture.top == 0 ? order.size() : std::min(picture.top, order.size());
    std::vector<PictureBar> bars;
    for (size_t i = 0; i < shown; ++i) {
        auto name = picture.units[order[i]].name;
        const auto cited = std::find(picture.cited.begin(), picture.cited.end(), order[i]);
        if (cited != picture.cited.end())
            name += fmt::format(" (reason {})", cited - picture.cited.begin() + 1);
        bars.push_back({std::move(name), 0, lowered[order[i]], error[order[i]]});
    }
    if (shown < order.size()) {
        PictureBar others{fmt::format("{} others", order.size() - shown)};
        for (size_t i = shown; i < order.size(); ++i) others.to += lowered[order[i]];
        bars.push_back(std::move(others));
    }
    return bars;
}

std::string draw_picture(const DecisionPicture& picture) {
    const auto steps = step_bars(picture), values = value_bars(picture);
    const double second = kTop + kHead + rows(steps.size() + 2) + 16;
    const double height = second + kHead + rows(values.size() + 1) + kBottom;
    const auto title = fmt::format("decision {}: {}", picture.decision, picture.action);
    Svg svg(kWidth, height, title);
    svg.text(16, 24, Anchor::kStart, title + ", by policy " + report::shortened(picture.policy, 16),
             "key c8");
    draw_steps(svg, picture, steps, kTop);
    draw_values(svg, picture, values, second);
    return report::svg_file(kWidth, height, title, description(picture, steps, values),
                            svg.markup());
}

}  // namespace rampart::cli
