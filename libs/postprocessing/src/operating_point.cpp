#include "operating_point.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

using base::Result;
using fairness::OperatingPoint;
using fairness::Rate;

constexpr double kCloseRate = 5e-4, kCloseThresholds = 1e-4;
constexpr int kMostSolutions = 40, kScanned = 20;

/// Returns the rate of the decisions that the point bounds.
double rate_of(const OperatingPoint& point, const Rows& rows, std::span<const double> approve) {
    const bool of_good = point.meets && point.meets->rate == Rate::kFalseNegative;
    const bool of_bad = point.meets && point.meets->rate == Rate::kFalsePositive;
    double all = 0, approved = 0, bad = 0;
    for (size_t i = 0; i < approve.size(); ++i) {
        if ((of_good && rows.label[i] == 0) || (of_bad && rows.label[i] == 1)) continue;
        const double w = rows.weight_of(i);
        all += w;
        approved += w * approve[i];
        if (point.bad_rate && rows.label[i] == 0) bad += w * approve[i];
    }
    if (point.bad_rate) return approved > 0 ? bad / approved : 0;
    if (all == 0) return 0;
    return of_good ? 1 - approved / all : approved / all;
}

double bound_of(const OperatingPoint& point) {
    return point.bad_rate ? *point.bad_rate : point.meets->at_most;
}

/// A threshold that was tried.
struct Tried {
    double threshold = 0;
    double excess = 0;  // rate - bound; <= 0: kept
    Fitted fitted;
};

class Search {
  public:
    Search(const OperatingPoint& point, const Rows& rows,
           std::span<const model::GroupBlindAdjustment::Given> given,
           const std::function<Result<Fitted>(double)>& solve)
        : point_(point), rows_(rows), solve_(solve) {
        for (const auto one : given) groups_.emplace_back().given = one;
    }

    /// Goes from the end where most is asked of the bound towards the other; by false position
    /// (Illinois), whose steps are few where the rate changes steadily, and halves where it jumps.
    Result<Fitted> run() const {
        const bool falls = point_.bad_rate || point_.meets->rate != Rate::kFalseNegative;
        const double far = falls ? -1 : 1;
        RAMPART_TRY(auto missed, at(far));
        if (missed.excess <= 0) return std::move(missed.fitted);
        RAMPART_TRY(auto kept, at(-far));
        if (kept.excess > 0 || point_.bad_rate) RAMPART_RETURN_IF_ERROR(scan(far, missed, kept));
        double pull_missed = missed.excess, pull_kept = kept.excess;
        for (int i = 0; i < kMostSolutions && kept.excess < -kCloseRate &&
                        std::abs(kept.threshold - missed.threshold) > kCloseThresholds;
             ++i) {
            // every third step halves, so that jumps of the rate end as well
            const double share = i % 3 == 2 ? 0.5 : pull_kept / (pull_kept - pull_missed);
            const double t = kept.threshold + share * (missed.threshold - kept.threshold);
            RAMPART_TRY(auto next, at(t));
            if (next.excess <= 0) {
                pull_missed /= 2;
                pull_kept = next.excess;
                kept = std::move(next);
            } else {
                pull_kept /= 2;
                pull_missed = next.excess;
                missed = std::move(next);
            }
        }
        const auto approve = kept.fitted.rule.approve(rows_, groups_);
        const bool any =
            std::any_of(approve.begin(), approve.end(), [](double q) { return q > 0; });
        return any || bound_of(point_) == 0 ? Result<Fitted>(std::move(kept.fitted))
                                            : missed_error(missed);
    }

  private:
    /// Steps from one end to the other for the first threshold that keeps the bound: a bad rate may
    /// fall and rise again, as the few rows at the top may be bad.
    base::Status scan(double far, Tried& missed, Tried& kept) const {
        auto nearest = kept;
        for (int i = 1; i < kScanned; ++i) {
            RAMPART_TRY(auto next, at(far - far * 2.0 * i / kScanned));
            if (next.excess <= 0) {
                kept = std::move(next);
                return base::ok();
            }
            if (next.excess < nearest.excess) nearest = next;
            missed = std::move(next);
        }
        if (kept.excess > 0) return missed_error(nearest);
        return base::ok();  // the end alone
    }
    Result<Tried> at(double threshold) const {
        Tried out;
        out.threshold = threshold;
        RAMPART_TRY(out.fitted, solve_(threshold));
        out.excess =
            rate_of(point_, rows_, out.fitted.rule.approve(rows_, groups_)) - bound_of(point_);
        return out;
    }
    base::Error missed_error(const Tried& tried) const {
        return base::make_error(Reason::kOperatingPointMissed,
                                "the operating point is {}, and the rule's decisions about {} rows "
                                "come no nearer than {:.4f} (threshold {:.4f} of the score from -1 "
                                "to 1)",
                                fairness::to_string(point_), rows_.size(),
                                tried.excess + bound_of(point_), tried.threshold);
    }

    const OperatingPoint& point_;
    const Rows& rows_;
    const std::function<Result<Fitted>(double)>& solve_;
    GroupModel groups_;
};

}  // namespace

Result<Fitted> solve_at(const OperatingPoint& point, const Rows& rows,
                        std::span<const model::GroupBlindAdjustment::Given> given,
                        const std::function<Result<Fitted>(double)>& solve) {
    return Search(point, rows, given, solve).run();
}

Result<Setting> setting_on(const model::LearnedLink& link, const learning::OptionValues& options,
                           double slope, double intercept) {
    Setting out{.slope = slope, .intercept = intercept};
    const auto given = [&](const char* name) { return options.has(name) && options.given(name); };
    const bool at = given("operate_at");
    if (!at && !given("threshold")) return out;
    const double p = (link.ramp.thresholds.front() + 1) / 2;
    const double f = slope * p + intercept;
    out.threshold = std::abs(f) < 1e-9 ? 0 : std::clamp(f, -1.0, 1.0);
    if (!at || options.text("operate_at").empty()) return out;
    RAMPART_TRY(out.operate_at, fairness::parse_operating_point(options.text("operate_at")));
    return out;
}

bool speaks_of_labels(const Setting& setting) {
    const auto& point = setting.operate_at;
    return setting.moves() && !(point->meets && point->meets->rate == Rate::kApproval);
}

}  // namespace rampart::postprocessing
