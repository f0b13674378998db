#include "rampart/retraining/training_window.hpp"

#include <fmt/format.h>

#include "rampart/retraining/reasons.hpp"

namespace rampart::retraining {

base::Status validate(const TrainingWindow& window, const domain::Product& product) {
    const int horizon = product.label.horizon_months;
    if (window.months == 0 || window.months > horizon) return base::ok();
    return base::make_error(Reason::kWindowTooShort,
                            "training.window_months = {}: decisions mature {} months after they "
                            "are made, so that no run would have any",
                            window.months, horizon);
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

}  // namespace rampart::retraining
