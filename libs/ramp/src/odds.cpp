#include "odds.hpp"

#include <fmt/format.h>

#include "dual_failure.hpp"
#include "dual_newton.hpp"

namespace rampart::ramp {
namespace {

/// Moments: approval among the favourable by group, among the others by group, the overall rate.
class OddsMoments final : public MomentOracle {
  public:
    OddsMoments(std::span<const SortedScores> groups, const OddsQuestion& question)
        : groups_(groups), question_(question) {
        for (const auto& group : groups) weight_ += group.weight();
        for (size_t k = 0; k < groups.size(); ++k) {
            const double share = groups[k].weight() / weight_;
            positive_.push_back(1 / (question.positive[k] * share));
            negative_.push_back(1 / ((1 - question.positive[k]) * share));
        }
    }

    size_t size() const override { return 2 * groups_.size() + 1; }

    Ramp ramp(std::span<const double> t, double gamma, size_t k) const {
        const double a = t[k] * positive_[k], b = t[groups_.size() + k] * negative_[k];
        return {1 - (a - b) / 2, question_.price + t.back() + (a + b) / 2, gamma, question_.offset,
                1};
    }

    Values at(std::span<const double> t, double gamma, bool with_hessian) const override {
        const size_t groups = groups_.size(), m = size();
        Values values;
        values.moments.resize(m);
        if (with_hessian) values.hessian.assign(m * m, 0);
        long double value = 0, product = 0, approved = 0;
        for (size_t k = 0; k < groups; ++k) {
            const Ramp ramp = this->ramp(t, gamma, k);
            const RampTotals totals = groups_[k].totals(ramp);
            value += ramp.slope * totals.fq - ramp.threshold * totals.q - totals.penalty;
            product += totals.fq - question_.price * totals.q;
            approved += totals.q;
            values.moments[k] = mean(positive_[k] * (totals.q + totals.fq) / 2);
            values.moments[groups + k] = mean(negative_[k] * (totals.q - totals.fq) / 2);
            if (with_hessian) add_curvature(totals.inside, gamma, k, values.hessian);
        }
        values.value = mean(value);
        values.product = mean(product);
        values.moments.back() = mean(approved);
        return values;
    }

    std::vector<double> squares() const override {
        std::vector<double> out(size(), 1);
        for (size_t k = 0; k < groups_.size(); ++k) {
            const ScoreSums all = groups_[k].sums(0, groups_[k].score().size());
            const long double w = all.w, f = all.wf, ff = all.wff;
            out[k] = mean(positive_[k] * positive_[k] * (w + 2 * f + ff) / 4);
            out[groups_.size() + k] = mean(negative_[k] * negative_[k] * (w - 2 * f + ff) / 4);
        }
        return out;
    }

  private:
    double mean(long double sum) const { return static_cast<double>(sum / weight_); }

    void add_curvature(const ScoreSums& inside, double gamma, size_t k,
                       std::vector<double>& hessian) const {
        const size_t m = size(), last = m - 1, p = k, n = groups_.size() + k;
        const long double a = positive_[k], b = negative_[k];
        const long double w = inside.w / gamma, f = inside.wf / gamma, ff = inside.wff / gamma;
        const auto set = [&](size_t i, size_t j, long double sum) {
            hessian[i * m + j] = hessian[j * m + i] = mean(sum);
        };
        set(p, p, a * a * (w + 2 * f + ff) / 4);
        set(n, n, b * b * (w - 2 * f + ff) / 4);
        set(p, n, a * b * (w - ff) / 4);
        set(p, last, a * (w + f) / 2);
        set(n, last, b * (w - f) / 2);
        hessian[last * m + last] += mean(w);
    }

    std::span<const SortedScores> groups_;
    const OddsQuestion& question_;
    double weight_ = 0;
    std::vector<double> positive_, negative_;  // [groups] z per eta and per 1 - eta
};

}  // namespace

base::Result<OddsAnswer> solve_odds_ramps(std::span<const SortedScores> groups,
                                          const OddsQuestion& question) {
    const OddsMoments oracle(groups, question);
    DualProblem problem{
        .gamma = question.gamma, .offset = question.offset, .windows = {}, .families = 0};
    const auto add = [&](const std::optional<double>& centre) {
        for (size_t k = 0; k < groups.size(); ++k) {
            const double half = question.half[k], at = centre.value_or(0);
            const auto family =
                centre ? -1 : static_cast<int32_t>(problem.families + question.stratum[k]);
            problem.windows.push_back({at - half, at + half, family});
        }
        if (!centre) problem.families += question.strata;
    };
    add(question.positive_centre);
    add(question.negative_centre);
    problem.windows.push_back({question.overall.lo, question.overall.hi, -1});
    DualNewton newton(oracle, problem);
    if (!newton.solve()) {
        const size_t moment = newton.failure().moment;
        return failed(newton.failure(), moment + 1 < oracle.size()
                                            ? fmt::format("group {}", moment % groups.size())
                                            : std::string("the overall rate"));
    }
    const DualSolution& found = newton.solution();
    OddsAnswer answer;
    for (size_t k = 0; k < groups.size(); ++k)
        answer.ramps.push_back(oracle.ramp(found.t, question.gamma, k));
    size_t used = 0;
    const auto centres = [&](const std::optional<double>& fixed) {
        std::vector<double> out;
        for (size_t s = 0; s < question.strata; ++s)
            out.push_back(fixed ? *fixed : found.centres[used++]);
        return out;
    };
    answer.positive_centres = centres(question.positive_centre);
    answer.negative_centres = centres(question.negative_centre);
    answer.dual = found.dual;
    return answer;
}

}  // namespace rampart::ramp
