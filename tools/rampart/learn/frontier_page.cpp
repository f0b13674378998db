#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "learn/frontier_trials.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

using report::Axis;
using report::Row;
using report::Svg;

/// One model, or what many of them come to, in the plane of unfairness and performance.
struct Mark {
    double x = 0, y = 0;
    stats::Interval x_band, y_band;  // equal ends: not drawn
    std::string title;
};

/// What is drawn of one learner.
struct Curve {
    std::string name;
    std::vector<Mark> trials;  // pale dots
    std::vector<Mark> way;     // full dots, joined in this order
};

struct Plane {
    std::string label, x_title, y_title;
    double least_room = 0;   // around the marks
    double most = INFINITY;  // no axis goes further
    std::vector<Curve> curves;
};

Axis axis_of(const Plane& plane, double Mark::*value, stats::Interval Mark::*band, double start,
             double end) {
    std::vector<double> values;
    for (const auto& curve : plane.curves)
        for (const auto* marks : {&curve.trials, &curve.way})
            for (const auto& mark : *marks) {
                values.push_back(mark.*value);
                if ((mark.*band).lo == (mark.*band).hi) continue;
                values.insert(values.end(), {(mark.*band).lo, (mark.*band).hi});
            }
    const auto range = report::padded_range(values, 0.05, plane.least_room);
    return {std::max(0.0, range.lo), std::min(plane.most, range.hi), start, end};
}

void draw(const Curve& curve, size_t colour, const Axis& x, const Axis& y, Svg& svg) {
    svg.open(report::colour(colour));
    for (const auto& mark : curve.trials)
        svg.circle("faint", x.at(mark.x), y.at(mark.y), 3, mark.title);
    report::Points way;
    for (const auto& mark : curve.way) {
        const double at = x.at(mark.x), up = y.at(mark.y);
        way.emplace_back(at, up);
        if (mark.x_band.lo != mark.x_band.hi)
            svg.line("whisker faint", x.at(mark.x_band.lo), up, x.at(mark.x_band.hi), up);
        if (mark.y_band.lo != mark.y_band.hi)
            svg.line("whisker faint", at, y.at(mark.y_band.lo), at, y.at(mark.y_band.hi));
        svg.circle("dot", at, up, 4, mark.title);
    }
    svg.curve("curve", way).close();
}

std::string picture(const Plane& plane) {
    constexpr double kWidth = 900, kHeight = 470;
    const Axis x = axis_of(plane, &Mark::x, &Mark::x_band, 70, kWidth - 190);
    const Axis y = axis_of(plane, &Mark::y, &Mark::y_band, kHeight - 50, 34);
    Svg svg(kWidth, kHeight, plane.label);
    svg.frame(x, y, {.x_title = plane.x_title, .y_title = plane.y_title});
    std::vector<std::string> names;
    for (size_t i = 0; i < plane.curves.size(); ++i) {
        draw(plane.curves[i], i, x, y, svg);
        names.push_back(plane.curves[i].name);
    }
    svg.legend(kWidth - 175, 50, names);
    return svg.markup();
}

Plane plane_of(const FrontierReport& report) {
    Plane plane{.label = "fairness against performance",
                .x_title = "largest gap between groups (test rows)",
                .y_title = fmt::format("{} (test rows)", report.performance),
                .least_room = 0.005,
                .most = 1,
                .curves = {}};
    for (const auto& learner : report.learners) {
        Curve curve{learner.learner, {}, {}};
        for (const auto& trial : learner.trials)
            curve.trials.push_back(
                {trial.figures.test.unfairness,
                 trial.figures.test.performance,
                 {},
                 {},
                 fmt::format("{} {}: {}", trial.learner, trial.number, trial.settings)});
        // what a user gets, by what counts for them
        for (const auto& band : learner.bands)
            curve.way.push_back(
                {band.mean.unfairness,
                 band.mean.performance,
                 {},
                 {},
                 fmt::format("{}, alpha {}: {:.4f} at a gap of {:.4f}", learner.learner, band.alpha,
                             band.mean.performance, band.mean.unfairness)});
        plane.curves.push_back(std::move(curve));
    }
    return plane;
}

Plane plane_of(const std::vector<RegressionPoint>& points) {
    Plane plane{.label = "loss against disparity",
                .x_title = "disparity (test rows)",
                .y_title = "loss (test rows)",
                .least_room = 1e-4,
                .curves = {}};
    for (const auto& p : points) {
        auto curve = std::find_if(plane.curves.begin(), plane.curves.end(),
                                  [&](const Curve& c) { return c.name == p.learner; });
        if (curve == plane.curves.end())
            curve = plane.curves.insert(curve, Curve{p.learner, {}, {}});
        curve->way.push_back({p.disparity, p.loss, p.disparity_band, p.loss_band,
                              fmt::format("{}, tolerance {}: loss {:.5f}, disparity {:.4f}",
                                          p.learner, p.epsilon, p.loss, p.disparity)});
    }
    for (auto& curve : plane.curves)
        std::sort(curve.way.begin(), curve.way.end(),
                  [](const auto& a, const auto& b) { return a.x < b.x; });
    return plane;
}

std::string range_text(double lo, double hi, int digits) {
    return fmt::format("{:.{}f} – {:.{}f}", lo, digits, hi, digits);
}

}  // namespace

std::string frontier_page(const FrontierReport& report) {
    report::Html page;
    page.title("What fairness costs");
    page.paragraph(fmt::format("{}; {}", report.data, report.constraints), "soft");
    page.raw(picture(plane_of(report)));
    page.paragraph(fmt::format(
        "A pale dot is one trained model. A full dot is the result of training {} models and "
        "choosing, on the validation rows, the one with the largest alpha × performance + (1 − "
        "alpha) × (1 − gap): the mean over bootstrap samples of the trials, from alpha 0 (only "
        "fairness counts) to 1.",
        report.tries));
    std::vector<Row> bands, learners;
    for (const auto& learner : report.learners) {
        for (const auto& band : learner.bands)
            bands.push_back({learner.learner, fmt::format("{}", band.alpha),
                             fmt::format("{:.4f}", band.mean.performance),
                             range_text(band.performance.lo, band.performance.hi, 4),
                             fmt::format("{:.4f}", band.mean.unfairness),
                             range_text(band.unfairness.lo, band.unfairness.hi, 4)});
        learners.push_back({learner.learner, std::to_string(learner.trials.size()),
                            fmt::format("{:.1f}", learner.seconds)});
    }
    page.table({"learner", "alpha", report.performance, "95 % band", "gap", "95 % band"}, bands);
    page.table({"learner", "models", "seconds"}, learners);
    return report::document("Fairness against performance", page);
}

std::string regression_frontier_page(const std::string& data, const std::string& loss,
                                     const std::vector<RegressionPoint>& points) {
    report::Html page;
    page.title("What parity costs");
    page.paragraph(fmt::format("{}; {} loss", data, loss), "soft");
    page.raw(picture(plane_of(points)));
    page.paragraph(
        "Disparity: the largest difference, over all thresholds, between a group's share of "
        "scores at least that high and the share in the whole population. Scores are rounded to "
        "the grid. Bars: 95 % over resamples of the test rows.");
    std::vector<Row> rows;
    for (const auto& p : points)
        rows.push_back({p.learner, fmt::format("{}", p.epsilon), fmt::format("{:.5f}", p.loss),
                        range_text(p.loss_band.lo, p.loss_band.hi, 5),
                        fmt::format("{:.4f}", p.disparity),
                        range_text(p.disparity_band.lo, p.disparity_band.hi, 4),
                        fmt::format("{:.4f}", p.train_disparity), std::to_string(p.members),
                        fmt::format("{:.1f}", p.seconds)});
    page.table({"learner", "tolerance", "loss", "95 % band", "disparity", "95 % band",
                "on training rows", "members", "seconds"},
               rows);
    return report::document("Loss against disparity", page);
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
