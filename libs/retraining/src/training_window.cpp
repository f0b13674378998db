#include "rampart/retraining/training_window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rampart/retraining/reasons.hpp"

namespace rampart::retraining {
namespace {

constexpr int kDays = 4 * 365 + 1;  // with one leap day
constexpr int kLongest = 1200;      // months that the settings take

/// Returns the time at which label and impact of a decision of that time have matured.
base::TimePoint all_matured(const domain::Product& product, base::TimePoint decided) {
    base::TimePoint last = product.label.maturity(decided);
    if (const auto& name = product.impact.measure)
        if (const auto* measure = product.find_measure(*name))
            last = std::max(last, measure->maturity(decided));
    return last;
}

/// Returns whether a decision at the begin of the window matures in it, whichever day the run is
/// at: months have 28 to 31 days, and a period of four years has all of their sequences.
bool matures_within(const domain::Product& product, int months) {
    const auto first = base::parse_iso8601("2001-01-01").value();
    for (int day = 0; day < kDays; ++day) {
        const auto t = first + base::Duration::days(day);
        if (all_matured(product, base::add_months(t, -months)) >= t) return false;
    }
    return true;
}

/// Says what to give in place of a window that is too short.
std::string remedy(const domain::Product& product) {
    int months = 1;
    for (int enough = kLongest + 1; months < enough;) {
        const int middle = (months + enough) / 2;
        if (matures_within(product, middle))
            enough = middle;
        else
            months = middle + 1;
    }
    return months > kLongest ? "give 0, for all"
                             : fmt::format("give {} or more, or 0 for all", months);
}

}  // namespace

base::Status validate(const TrainingWindow& window, const domain::Product& product) {
    if (window.months == 0 || matures_within(product, window.months)) return base::ok();
    return base::make_error(Reason::kWindowTooShort,
                            "training.window_months = {}: label and impact of a decision mature "
                            "too late for it, so that a run may have none; {}",
                            window.months, remedy(product));
}

base::Result<training_set::DevelopmentSet> read_window(
    const training_set::TrainingSetBuilder& builder, base::TimePoint t,
    const TrainingWindow& window) {
    training_set::DevelopmentRequest request{
        .from = std::nullopt, .max_rows = window.max_rows, .seed = window.seed};
    if (window.months > 0) request.from = base::add_months(t, -window.months);
    return builder.development_sample(t, request);
}

std::string describe_extent(const training_set::Extent& extent) {
    return fmt::format(
        "{} of {}{}{}", extent.read, extent.there,
        extent.from ? fmt::format(" since {}", base::to_iso8601(*extent.from)) : "",
        extent.seed ? fmt::format(", of a sample of persons (seed {})", *extent.seed) : "");
}

std::string describe_rows(const training_set::DevelopmentSet& set) {
    const auto& aside = set.unexplained;
    return aside.decisions == 0
               ? describe_extent(set.extent)
               : fmt::format(
                     "{}; {} decisions, of either side, are of another schema file and set "
                     "aside; the node's log has why",
                     describe_extent(set.extent), aside.decisions);
}

}  // namespace rampart::retraining
