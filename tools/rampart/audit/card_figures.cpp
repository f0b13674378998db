#include "audit/card_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frame/page.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMostCategories = 12;
constexpr double kConfidence = 0.95;

/// Values to places along an axis of the picture.
struct Axis {
    double from, to;    // values
    double start, end;  // places
    double at(double value) const {
        return start + (std::clamp(value, from, to) - from) / (to - from) * (end - start);
    }
};

/// At most `length` characters of a name, for a place that is narrow.
std::string shortened(const std::string& text, size_t length) {
    size_t places = 0, end = 0;
    for (; end < text.size(); ++end) {
        if ((text[end] & 0xc0) == 0x80) continue;
        if (places++ == length) break;
    }
    return end == text.size() ? text : text.substr(0, end) + "…";
}

std::string label(double x, double y, const char* anchor, std::string_view text,
                  std::string_view style = "") {
    return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' class='{}'>{}</text>\n", x, y,
                       anchor, style, escaped(text));
}

std::string line(std::string_view style, double x1, double y1, double x2, double y2) {
    return fmt::format("<line class='{}' x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>\n",
                       style, x1, y1, x2, y2);
}

std::string rectangle(std::string_view style, double x, double y, double width, double height) {
    return fmt::format("<rect class='{}' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'/>\n",
                       style, x, y, width, height);
}

/// A scale of P(favourable) that holds all plots, a little wider than they are.
Axis shared_scale(const ModelCard& card) {
    double lo = 1, hi = 0;
    for (const auto& one : card.dependence) {
        lo = std::min(lo, *std::min_element(one.low.begin(), one.low.end()));
        hi = std::max(hi, *std::max_element(one.high.begin(), one.high.end()));
    }
    lo = std::floor(lo * 20) / 20;
    hi = std::max(std::ceil(hi * 20) / 20, lo + 0.05);
    return {lo, hi, 150, 14};
}

std::string scale_lines(const Axis& scale, double left, double right) {
    std::string out;
    for (const double share : {0.0, 0.5, 1.0}) {
        const double value = scale.from + share * (scale.to - scale.from);
        const double y = scale.at(value);
        out += line("grid", left, y, right, y);
        out += label(left - 5, y + 4, "end", fmt::format("{:.3g}", value), "tick");
    }
    return out;
}

bool has_missing(const DependenceCard& one) {
    return !one.grid.values.empty() && std::isnan(one.grid.values.back());
}

/// Numbers: a line over quantiles, evenly spaced, in a band; missing is a dot beside it.
std::string number_plot(const DependenceCard& one, const Axis& y) {
    const bool missing = has_missing(one);
    const size_t n = one.grid.values.size() - (missing ? 1 : 0);
    const double end = missing ? 238 : 290;
    const Axis x{0, std::max(1.0, static_cast<double>(n) - 1), 44, end};
    std::string band, backwards, mean;
    for (size_t k = 0; k < n; ++k) {
        const double at = x.at(static_cast<double>(k));
        band += fmt::format("{:.1f},{:.1f} ", at, y.at(one.high[k]));
        backwards = fmt::format("{:.1f},{:.1f} ", at, y.at(one.low[k])) + backwards;
        mean += fmt::format("{:.1f},{:.1f} ", at, y.at(one.mean[k]));
    }
    std::string out = scale_lines(y, 44, 290);
    if (n > 1) {
        out += fmt::format(
            "<polygon class='band' points='{}{}'/>\n<polyline class='curve' "
            "points='{}'/>\n",
            band, backwards, mean);
    }
    for (const size_t k : {size_t{0}, (n - 1) / 2, n - 1}) {
        if (n == 0 || (k == (n - 1) / 2 && n < 3) || (n == 1 && k > 0)) continue;
        const char* anchor = k == 0 ? "start" : k == n - 1 ? "end" : "middle";
        out += label(x.at(static_cast<double>(k)), 168, anchor,
                     fmt::format("{:g}", one.grid.values[k]), "tick");
    }
    if (!missing) return out;
    out += line("whisker", 268, y.at(one.low.back()), 268, y.at(one.high.back()));
    out +=
        fmt::format("<circle class='point' cx='268' cy='{:.1f}' r='4'/>\n", y.at(one.mean.back()));
    return out + label(268, 168, "middle", "missing", "tick");
}

/// Categories: the most frequent ones, one dot each, most frequent first.
std::string category_plot(const DependenceCard& one, const dataset::FeatureSpec& spec,
                          const Axis& y) {
    std::vector<size_t> order(one.grid.values.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return one.share[a] > one.share[b]; });
    order.resize(std::min(order.size(), kMostCategories));
    const double step = 246 / static_cast<double>(order.size());
    std::string out = scale_lines(y, 44, 290);
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t k = order[i];
        const double x = 44 + step * (static_cast<double>(i) + 0.5);
        out += line("whisker", x, y.at(one.low[k]), x, y.at(one.high[k]));
        out += fmt::format("<circle class='point' cx='{:.1f}' cy='{:.1f}' r='4'/>\n", x,
                           y.at(one.mean[k]));
        out += fmt::format(
            "<text class='tick' text-anchor='end' transform='translate({:.1f} 164) "
            "rotate(-40)'>{}</text>\n",
            x + 4, escaped(shortened(value_text(spec, one.grid.values[k]), 12)));
    }
    return out;
}

}  // namespace

std::string calibration_figure(const ModelCard& card) {
    const Axis x{0, 1, 50, 430}, y{0, 1, 250, 14};
    std::string out =
        "<svg class='figure' viewBox='0 0 440 290' role='img' "
        "aria-label='share of favourable labels against the mean score'>\n";
    for (const double value : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        out += line("grid", x.at(0), y.at(value), x.at(1), y.at(value));
        out += label(44, y.at(value) + 4, "end", fmt::format("{:g}", value), "tick");
        out += label(x.at(value), 267, "middle", fmt::format("{:g}", value), "tick");
    }
    out += line("ideal", x.at(0), y.at(0), x.at(1), y.at(1));
    for (const auto& bin : card.calibration) {
        const auto interval = stats::wilson(bin.favourable, kConfidence);
        const double at = x.at(bin.mean_score);
        if (interval) out += line("whisker", at, y.at(interval->lo), at, y.at(interval->hi));
        out += fmt::format("<circle class='point' cx='{:.1f}' cy='{:.1f}' r='5'/>\n", at,
                           y.at(bin.favourable.rate().value_or(0)));
    }
    return out + label(240, 286, "middle", "mean score of the bin") + "</svg>\n";
}

std::string importance_figure(const ModelCard& card, size_t most) {
    const size_t n = std::min(most, card.features.size());
    if (n == 0) return "";
    const double largest = std::max(card.features[0].mean_absolute_contribution, 1e-300);
    const Axis x{0, largest, 230, 800};
    std::string out = fmt::format(
        "<svg viewBox='0 0 900 {}' role='img' aria-label='mean contribution of each feature'>\n",
        26 * n + 6);
    double y = 4;
    for (size_t i = 0; i < n; ++i, y += 26) {
        const auto& feature = card.features[i];
        const auto& name = card.policy.schema().features()[feature.feature].name;
        const double end = x.at(feature.mean_absolute_contribution);
        out += label(222, y + 14, "end", shortened(name, 28));
        out += rectangle("bar", 230, y, std::max(end - 230, 0.5), 18);
        out += label(end + 8, y + 14, "start",
                     fmt::format("{:.4f}", feature.mean_absolute_contribution), "tick");
    }
    return out + "</svg>\n";
}

std::string dependence_figures(const ModelCard& card) {
    if (card.dependence.empty()) return "";
    const Axis y = shared_scale(card);
    std::string out = "<div class='multiples'>\n";
    for (const auto& one : card.dependence) {
        const auto& spec = card.policy.schema().features()[one.grid.feature];
        const bool numeric = spec.kind == dataset::FeatureKind::kNumeric;
        std::string caption = escaped(spec.name);
        if (!numeric && one.grid.values.size() > kMostCategories)
            caption += fmt::format(", {} rarer values not shown",
                                   one.grid.values.size() - kMostCategories);
        out += fmt::format(
            "<figure><figcaption>{}</figcaption><svg viewBox='0 0 300 {}' "
            "role='img' aria-label='score along {}'>\n",
            caption, numeric ? 174 : 214, escaped(spec.name));
        out += numeric ? number_plot(one, y) : category_plot(one, spec, y);
        out += "</svg></figure>\n";
    }
    return out + "</div>\n";
}

}  // namespace rampart::cli
