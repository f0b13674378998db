#include "learn/calibrate_page.hpp"

#include <fmt/format.h>

#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

using calibration::Reliability;
using report::Axis;
using report::Svg;

constexpr double kSize = 460, kLeft = 58, kTop = 30, kRight = 14, kBottom = 44;

void draw(Svg& svg, const Axis& x, const Axis& y, const Reliability& reliability, size_t colour) {
    report::Points curve;
    svg.open(report::colour(colour));
    for (const auto& bin : reliability.bins) {
        const auto text =
            fmt::format("says {:.4f}, happens {:.4f} ({:.4f} to {:.4f}), {} rows", bin.said,
                        bin.happened, bin.interval.lo, bin.interval.hi, bin.rows);
        svg.line("whisker", x.at(bin.said), y.at(bin.interval.lo), x.at(bin.said),
                 y.at(bin.interval.hi), text);
        svg.circle("dot", x.at(bin.said), y.at(bin.happened), 3.5, text);
        curve.emplace_back(x.at(bin.said), y.at(bin.happened));
    }
    svg.curve("curve", curve).close();
}

std::string diagram(const CalibrationSides& sides) {
    const Axis x{0, 1, kLeft, kSize - kRight}, y{0, 1, kSize - kBottom, kTop};
    Svg svg(kSize, kSize, "what happens, by what the probability says", "narrow");
    svg.frame(x, y, {.x_title = "P(favourable) says", .y_title = "happens"});
    svg.line("mark", x.at(0), y.at(0), x.at(1), y.at(1), "perfect calibration");
    draw(svg, x, y, sides.before, 0);
    draw(svg, x, y, sides.after, 1);
    const std::vector<std::string> names{"before", "after"};
    svg.legend(kLeft + 14, kTop + 14, names);
    return svg.markup();
}

std::string number(double value) { return fmt::format("{:.4f}", value); }

}  // namespace

report::Table reliability_table(const Reliability& reliability) {
    report::Table table{{"bin", "rows", "says", "happens", "from", "to", "default says"}};
    for (size_t k = 0; k < reliability.bins.size(); ++k) {
        const auto& bin = reliability.bins[k];
        table.push_back({std::to_string(k + 1), std::to_string(bin.rows), number(bin.said),
                         number(bin.happened), number(bin.interval.lo), number(bin.interval.hi),
                         number(1 - bin.said)});
    }
    return table;
}

report::Table error_table(const CalibrationSides& sides) {
    report::Table table{
        {sides.rows, "calibration error", "from", "to", "by chance", "log loss", "Brier"}};
    for (const auto& [name, one] :
         {std::pair{"before", &sides.before}, std::pair{"after", &sides.after}})
        table.push_back({name, number(one->expected), number(one->interval.lo),
                         number(one->interval.hi), number(one->by_chance), number(one->log_loss),
                         number(one->brier)});
    return table;
}

std::string calibrate_page(const std::string& title, const std::string& summary,
                           const CalibrationSides& sides) {
    report::Html page;
    page.title(title).paragraph(summary, "soft");
    page.heading("What is said, and what happens");
    page.paragraph(
        "Each dot is a bin of rows: the mean of P(favourable) to the right, the share of "
        "favourable "
        "outcomes upwards, with its interval. On the dashed line both are equal.",
        "soft");
    page.figure("Reliability", sides.rows, diagram(sides));
    const auto errors = report::rows_of(error_table(sides));
    page.heading("Expected calibration error");
    page.table(errors.front(), {errors.begin() + 1, errors.end()});
    page.paragraph(
        "The interval is of the error that these bins would have on all of the population; by "
        "chance: what perfect calibration would show on as many rows.",
        "soft");
    const auto bins = report::rows_of(reliability_table(sides.after));
    page.heading("Bins after the map");
    page.table(bins.front(), {bins.begin() + 1, bins.end()});
    return report::document(title, page);
}

}  // namespace rampart::cli
