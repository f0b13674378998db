#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/card_page.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMostCategories = 12;
constexpr double kConfidence = 0.95;

using report::Anchor;
using report::Axis;
using report::Svg;

constexpr double kLeft = 44, kRight = 290;  // edges of a small plot

/// A scale of P(favourable) that holds all plots, a little wider than they are.
Axis shared_scale(const evaluation::ModelCard& card) {
    double lo = 1, hi = 0;
    for (const auto& one : card.dependence) {
        lo = std::min(lo, *std::min_element(one.low.begin(), one.low.end()));
        hi = std::max(hi, *std::max_element(one.high.begin(), one.high.end()));
    }
    lo = std::floor(lo * 20) / 20;
    hi = std::max(std::ceil(hi * 20) / 20, lo + 0.05);
    return {lo, hi, 150, 14};
}

void draw_scale(const Axis& scale, Svg& svg) {
    for (const double value : report::ticks(scale, 3)) {
        svg.line("grid", kLeft, scale.at(value), kRight, scale.at(value));
        svg.text(kLeft - 5, scale.at(value) + 4, Anchor::kEnd, report::tick_text(value), "tick");
    }
}

bool has_missing(const evaluation::DependenceCard& one) {
    return !one.grid.values.empty() && std::isnan(one.grid.values.back());
}

/// Draws numbers: a line over quantiles, evenly spaced, in a band; missing is a dot beside it.
void draw_numbers(const evaluation::DependenceCard& one, const Axis& y, Svg& svg) {
    const bool missing = has_missing(one);
    const size_t n = one.grid.values.size() - (missing ? 1 : 0);
    const Axis x{0, std::max(1.0, static_cast<double>(n) - 1), kLeft, missing ? 238 : kRight};
    report::Points band, mean;
    for (size_t k = 0; k < n; ++k) {
        band.emplace_back(x.at(static_cast<double>(k)), y.at(one.high[k]));
        mean.emplace_back(x.at(static_cast<double>(k)), y.at(one.mean[k]));
    }
    for (size_t k = n; k-- > 0;) band.emplace_back(x.at(static_cast<double>(k)), y.at(one.low[k]));
    draw_scale(y, svg);
    if (n > 1) svg.polygon("band", band).curve("curve", mean);
    for (const size_t k : {size_t{0}, (n - 1) / 2, n - 1}) {
        if (n == 0 || (k == (n - 1) / 2 && n < 3) || (n == 1 && k > 0)) continue;
        const auto anchor = k == 0 ? Anchor::kStart : k == n - 1 ? Anchor::kEnd : Anchor::kMiddle;
        svg.text(x.at(static_cast<double>(k)), 168, anchor, fmt::format("{:g}", one.grid.values[k]),
                 "tick");
    }
    if (!missing) return;
    svg.line("whisker", 268, y.at(one.low.back()), 268, y.at(one.high.back()));
    svg.circle("dot", 268, y.at(one.mean.back()), 4);
    svg.text(268, 168, Anchor::kMiddle, "missing", "tick");
}

/// Draws categories: the most frequent ones, a dot for each, most frequent first.
void draw_categories(const evaluation::DependenceCard& one, const dataset::FeatureSpec& spec,
                     const Axis& y, Svg& svg) {
    std::vector<size_t> order(one.grid.values.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return one.share[a] > one.share[b]; });
    order.resize(std::min(order.size(), kMostCategories));
    const double step = (kRight - kLeft) / static_cast<double>(order.size());
    draw_scale(y, svg);
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t k = order[i];
        const double x = kLeft + step * (static_cast<double>(i) + 0.5);
        svg.line("whisker", x, y.at(one.low[k]), x, y.at(one.high[k]));
        svg.circle("dot", x, y.at(one.mean[k]), 4);
        svg.slanted_text(x + 4, 164,
                         report::shortened(evaluation::value_text(spec, one.grid.values[k]), 12),
                         "tick");
    }
}

}  // namespace

std::string calibration_figure(const evaluation::ModelCard& card) {
    const Axis x{0, 1, 50, 430}, y{0, 1, 250, 24};
    Svg svg(440, 290, "share of favourable labels against the mean score", "narrow");
    svg.frame(x, y, {.x_title = "mean score", .y_title = "share of favourable labels"});
    svg.line("mark", x.at(0), y.at(0), x.at(1), y.at(1));
    for (const auto& bin : card.calibration) {
        const auto interval = stats::wilson(bin.favourable, kConfidence);
        const double at = x.at(bin.mean_score);
        if (interval) svg.line("whisker", at, y.at(interval->lo), at, y.at(interval->hi));
        svg.circle("dot", at, y.at(bin.favourable.rate().value_or(0)), 4);
    }
    return svg.markup();
}

std::string importance_figure(const evaluation::ModelCard& card, size_t most) {
    const size_t n = std::min(most, card.features.size());
    if (n == 0) return "";
    const double largest = std::max(card.features[0].mean_absolute_contribution, 1e-300);
    const Axis x{0, largest, 230, 800};
    Svg svg(900, 26 * static_cast<double>(n) + 6,
            "mean absolute contribution of the most important features");
    double y = 4;
    for (size_t i = 0; i < n; ++i, y += 26) {
        const auto& feature = card.features[i];
        const auto& name = card.policy.schema().features()[feature.feature].name;
        const double end = x.at(feature.mean_absolute_contribution);
        svg.text(222, y + 14, Anchor::kEnd, report::shortened(name, 28));
        svg.rectangle("bar", x.start, y, std::max(end - x.start, 0.5), 18);
        svg.text(end + 8, y + 14, Anchor::kStart,
                 fmt::format("{:.4f}", feature.mean_absolute_contribution), "tick");
    }
    return svg.markup();
}

std::string dependence_figures(const evaluation::ModelCard& card) {
    if (card.dependence.empty()) return "";
    const Axis y = shared_scale(card);
    report::Html out;
    out.raw("<div class='multiples'>\n");
    for (const auto& one : card.dependence) {
        const auto& spec = card.policy.schema().features()[one.grid.feature];
        const bool numeric = spec.kind == dataset::FeatureKind::kNumeric;
        std::string caption = spec.name;
        if (!numeric && one.grid.values.size() > kMostCategories)
            caption += fmt::format(", {} rarer values not shown",
                                   one.grid.values.size() - kMostCategories);
        Svg svg(300, numeric ? 174 : 214, fmt::format("score along {}", spec.name));
        if (numeric)
            draw_numbers(one, y, svg);
        else
            draw_categories(one, spec, y, svg);
        out.figure(caption, "", svg.markup());
    }
    return out.raw("</div>\n").markup();
}

}  // namespace rampart::cli
