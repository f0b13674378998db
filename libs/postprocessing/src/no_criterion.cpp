#include "calibrate.hpp"
#include "postprocessors.hpp"

namespace rampart::postprocessing {
namespace {

/// One ramp for all rows about the threshold: calibration alone.
class NoCriterion : public Postprocessor {
  public:
    std::string_view name() const override { return "none"; }
    std::string_view summary() const override {
        return "one ramp for all about the threshold; calibration, where it is asked for";
    }
    std::string_view source() const override { return ""; }
    std::vector<learning::Option> options() const override {
        return {{"gamma", 0.3, "width of the ramp, in units of the score from -1 to 1", 0, 100},
                calibration_option(),
                {"tolerance", 0.05, "of no effect without a criterion", 0, 1, {}, {}, true}};
    }
    Needs needs(const learning::OptionValues& values) const override {
        return {.labels = calibration_method(values, std::nullopt).has_value()};
    }
    base::Status check(const learning::OptionValues&) const override { return base::ok(); }
    base::Result<Kept> measure(const Rows&, std::span<const double>,
                               const learning::OptionValues&) const override {
        return Kept{};
    }

  protected:
    base::Result<Fitted> solve(const Rows& rows, const learning::OptionValues& values,
                               const Setting& setting) const override {
        Fitted out;
        out.rule.slope = setting.slope;
        out.rule.intercept = setting.intercept;
        out.rule.ramp = {
            setting.gamma.value_or(values.number("gamma")), 0.5, {setting.threshold}, {1.0}};
        RAMPART_RETURN_IF_ERROR(
            calibrate(rows, calibration_method(values, std::nullopt), false, setting, out));
        return out;
    }
};

}  // namespace

const Postprocessor& no_criterion() {
    static const NoCriterion one;
    return one;
}

}  // namespace rampart::postprocessing
