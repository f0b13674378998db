#include "learn/frontier_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frame/page.hpp"

namespace rampart::cli {
namespace {

constexpr std::string_view kStyle = R"(
.l0{--c:#2563eb}.l1{--c:#059669}.l2{--c:#d97706}.l3{--c:#7c3aed}.l4{--c:#db2777}.l5{--c:#0f766e}
.try{fill:var(--c);opacity:.3}.pick{fill:var(--c)}.way{fill:none;stroke:var(--c);stroke-width:2}
.grid{stroke:var(--line)}.tick{fill:var(--soft);font-size:11px}.key{font-weight:600;fill:var(--c)}
)";

/// Values to places along an axis of the picture.
struct Axis {
    double from, to, start, end;
    double at(double value) const {
        return start + (std::clamp(value, from, to) - from) / (to - from) * (end - start);
    }
};

/// What holds all values, a little wider, not narrower than 0.01.
Axis axis_of(const FrontierReport& report, double fairness::TradeOff::*figure, double start,
             double end) {
    double lo = 1, hi = 0;
    for (const auto& learner : report.learners)
        for (const auto& trial : learner.trials) {
            lo = std::min(lo, trial.figures.test.*figure);
            hi = std::max(hi, trial.figures.test.*figure);
        }
    const double room = std::max(0.05 * (hi - lo), 0.005);
    return {std::max(0.0, lo - room), std::min(1.0, hi + room), start, end};
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view style,
                    std::string_view text) {
    return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' class='{}'>{}</text>\n", x, y,
                       anchor, style, escaped(text));
}

std::string frame(const Axis& x, const Axis& y, const std::string& performance) {
    std::string out;
    constexpr int kLines = 5;
    for (int i = 0; i <= kLines; ++i) {
        const double share = static_cast<double>(i) / kLines;
        const double across = x.from + share * (x.to - x.from),
                     up = y.from + share * (y.to - y.from);
        out += fmt::format(
            "<line class='grid' x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}'/>\n",
            x.at(across), y.start, y.end);
        out += fmt::format(
            "<line class='grid' x1='{1:.1f}' y1='{0:.1f}' x2='{2:.1f}' y2='{0:.1f}'/>\n", y.at(up),
            x.start, x.end);
        out += text_at(x.at(across), y.start + 16, "middle", "tick", fmt::format("{:.3f}", across));
        out += text_at(x.start - 6, y.at(up) + 4, "end", "tick", fmt::format("{:.3f}", up));
    }
    out += text_at((x.start + x.end) / 2, y.start + 34, "middle", "",
                   "largest gap between groups (test rows)");
    return out +
           text_at(x.start, y.end - 8, "start", "", fmt::format("{} (test rows)", performance));
}

std::string learner_marks(const LearnerFrontier& learner, size_t colour, const Axis& x,
                          const Axis& y) {
    std::string out = fmt::format("<g class='l{}'>\n", colour % 6);
    const auto dot = [&](const fairness::TradeOff& at, std::string_view style, double radius,
                         std::string_view title) {
        out += fmt::format(
            "<circle class='{}' cx='{:.1f}' cy='{:.1f}' r='{}'><title>{}</title>"
            "</circle>\n",
            style, x.at(at.unfairness), y.at(at.performance), radius, escaped(title));
    };
    for (const auto& trial : learner.trials)
        dot(trial.figures.test, "try", 3,
            fmt::format("{} {}: {}", trial.learner, trial.number, trial.settings));
    // where a user ends up, by what counts for them
    std::string way;
    for (const auto& band : learner.bands) {
        way +=
            fmt::format("{:.1f},{:.1f} ", x.at(band.mean.unfairness), y.at(band.mean.performance));
        dot(band.mean, "pick", 4,
            fmt::format("{}, alpha {}: {:.4f} at a gap of {:.4f}", learner.learner, band.alpha,
                        band.mean.performance, band.mean.unfairness));
    }
    out += fmt::format("<polyline class='way' points='{}'/>\n", way);
    return out + "</g>\n";
}

std::string picture(const FrontierReport& report) {
    constexpr double kWidth = 900, kHeight = 460;
    const Axis x = axis_of(report, &fairness::TradeOff::unfairness, 70, kWidth - 130);
    const Axis y = axis_of(report, &fairness::TradeOff::performance, kHeight - 50, 30);
    std::string out = fmt::format(
        "<svg viewBox='0 0 {} {}' role='img' aria-label='fairness against "
        "performance'>\n",
        kWidth, kHeight);
    out += frame(x, y, report.performance);
    for (size_t i = 0; i < report.learners.size(); ++i) {
        out += learner_marks(report.learners[i], i, x, y);
        out += fmt::format("<g class='l{}'>{}</g>", i % 6,
                           text_at(kWidth - 115, 50 + 22 * static_cast<double>(i), "start", "key",
                                   report.learners[i].learner));
    }
    return out + "</svg>\n";
}

std::string table(const FrontierReport& report) {
    std::string out = fmt::format(
        "<table><tr><th>learner</th><th>alpha</th><th>{}</th><th>95 % band</th>"
        "<th>gap</th><th>95 % band</th></tr>\n",
        escaped(report.performance));
    for (const auto& learner : report.learners)
        for (const auto& band : learner.bands)
            out += fmt::format(
                "<tr><td>{}</td><td>{}</td><td>{:.4f}</td><td>{:.4f} – {:.4f}</td><td>{:.4f}</td>"
                "<td>{:.4f} – {:.4f}</td></tr>\n",
                escaped(learner.learner), band.alpha, band.mean.performance, band.performance.lo,
                band.performance.hi, band.mean.unfairness, band.unfairness.lo, band.unfairness.hi);
    return out + "</table>\n";
}

}  // namespace

std::string frontier_page(const FrontierReport& report) {
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Fairness against "
        "performance</title><style>{}{}</style></head><body>\n<h1>What fairness costs</h1>\n",
        kPageStyle, kStyle);
    out += fmt::format("<p class='soft'>{}; {}</p>\n", escaped(report.data),
                       escaped(report.constraints));
    out += picture(report);
    out += fmt::format(
        "<p>A pale dot is a trained model. A full one is where somebody ends up who trains {} "
        "models and takes, on the validation rows, the one with the largest alpha × performance + "
        "(1 − alpha) × (1 − gap): mean over bootstrap samples of the trials, from alpha 0 (only "
        "fairness counts) to 1.</p>\n",
        report.tries);
    out += fmt::format("<div class='scroll'>{}</div>\n", table(report));
    out += "<table><tr><th>learner</th><th>models</th><th>seconds</th></tr>\n";
    for (const auto& learner : report.learners)
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{:.1f}</td></tr>\n",
                           escaped(learner.learner), learner.trials.size(), learner.seconds);
    return out + "</table>\n</body></html>\n";
}

std::string frontier_csv(const FrontierReport& report) {
    std::string out =
        "learner,alpha,performance,performance_lo,performance_hi,unfairness,"
        "unfairness_lo,unfairness_hi\n";
    for (const auto& learner : report.learners)
        for (const auto& band : learner.bands)
            out += fmt::format("{},{},{},{},{},{},{},{}\n", learner.learner, band.alpha,
                               band.mean.performance, band.performance.lo, band.performance.hi,
                               band.mean.unfairness, band.unfairness.lo, band.unfairness.hi);
    return out;
}

}  // namespace rampart::cli
