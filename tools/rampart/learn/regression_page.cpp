#include <fmt/format.h>

#include <algorithm>

#include "frame/page.hpp"
#include "learn/regression_report.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kColours = 6;
constexpr std::string_view kStyle = R"(
.l0{--c:#2563eb}.l1{--c:#059669}.l2{--c:#d97706}.l3{--c:#7c3aed}.l4{--c:#db2777}.l5{--c:#0f766e}
.step{fill:none;stroke:var(--c);stroke-width:2}.grid{stroke:var(--line)}
.tick{fill:var(--soft);font-size:11px}.key{font-weight:600;fill:var(--c)}pre{overflow-x:auto}
.cut{stroke:var(--ink);stroke-dasharray:4 4}
)";

constexpr double kLeft = 60, kRight = 780, kTop = 20, kBottom = 320;

double across(double score) { return kLeft + score * (kRight - kLeft); }
double up(double share) { return kBottom - share * (kBottom - kTop); }

std::string axes(const fairness::LabelRange& range) {
    std::string out;
    constexpr int kLines = 5;
    for (int i = 0; i <= kLines; ++i) {
        const double t = static_cast<double>(i) / kLines;
        out += fmt::format(
            "<line class='grid' x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}'/>\n"
            "<line class='grid' x1='{3:.1f}' y1='{5:.1f}' x2='{4:.1f}' y2='{5:.1f}'/>\n"
            "<text class='tick' x='{0:.1f}' y='{6:.1f}' text-anchor='middle'>{7:.4g}</text>\n"
            "<text class='tick' x='{8:.1f}' y='{9:.1f}' text-anchor='end'>{10:.1f}</text>\n",
            across(t), kTop, kBottom, kLeft, kRight, up(t), kBottom + 16,
            range.lo + t * (range.hi - range.lo), kLeft - 6, up(t) + 4, t);
    }
    return out;
}

/// P(score <= z | group): 1 - P(score >= next level), a step at every grid point.
std::string step_line(const double* tails, size_t levels, size_t colour) {
    std::string path = fmt::format("M{:.1f} {:.1f}", across(0), up(1 - tails[0]));
    for (size_t j = 1; j < levels; ++j)
        path += fmt::format("H{:.1f}V{:.1f}", across(static_cast<double>(j) / levels),
                            up(1 - tails[j]));
    path += fmt::format("H{:.1f}V{:.1f}", across(1), up(1));
    return fmt::format("<path class='step l{}' d='{}'/>\n", colour % kColours, path);
}

}  // namespace

std::string_view distribution_style() { return kStyle; }

std::string distribution_picture(const std::vector<std::string>& groups,
                                 const std::vector<double>& tails, size_t levels,
                                 const fairness::LabelRange& range, std::optional<double> cut) {
    std::string out = fmt::format(
        "<svg viewBox='0 0 800 {}' role='img' aria-label='Distribution "
        "of the score in each group'>\n",
        360 + 18 * groups.size());
    out += axes(range);
    if (cut)
        out += fmt::format("<line class='cut' x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}'/>\n",
                           across(*cut), kTop, kBottom);
    for (size_t g = 0; g < groups.size(); ++g) {
        out += step_line(tails.data() + g * levels, levels, g);
        out += fmt::format("<text class='key l{}' x='{}' y='{:.1f}'>{}</text>\n", g % kColours,
                           kLeft, 360 + 18 * static_cast<double>(g), escaped(groups[g]));
    }
    return out + "</svg>\n";
}

std::string regression_page(const RegressionFit& fit) {
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Fair regression</title>"
        "<style>{}{}</style></head><body>\n<h1>Fair regression</h1>\n<p class='soft'>{}</p>\n"
        "<pre>{}</pre>\n",
        kPageStyle, kStyle, escaped(fit.data), escaped(regression_text(fit)));
    for (const auto& [name, tails] :
         {std::pair{"training", &fit.train_tails}, {"validation", &fit.validation_tails}}) {
        if (tails->empty()) continue;
        out += fmt::format("<h2>Distribution of the score, {} rows</h2>\n", name);
        out += distribution_picture(fit.groups, *tails, static_cast<size_t>(fit.job.sp.levels),
                                    fit.job.range, fit.job.step.threshold);
    }
    if (!fit.train_tails.empty())
        out +=
            "<p class='soft'>Lines: the share of a group's rows with at most that score, of the "
            "randomised predictor as it is served. Under statistical parity they are one line, "
            "up to epsilon. Dashed: where the policy approves from, or up to.</p>\n";
    for (const auto& note : regression_notes(fit))
        out += fmt::format("<p class='bad'>{}</p>\n", escaped(note));
    return out + "</body></html>\n";
}

}  // namespace rampart::cli
