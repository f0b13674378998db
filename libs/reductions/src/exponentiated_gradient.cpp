#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "best_mixture.hpp"
#include "search.hpp"

namespace rampart::reductions {
namespace {

/// The multipliers' side of the game: λ = bound · exp(θ) / (1 + sum exp θ), by ordered pair of
/// groups and by target and its mirror image.
class MultiplierPlayer {
  public:
    MultiplierPlayer(const fairness::RateSystem& system, double bound)
        : system_(&system), bound_(bound) {
        size_t count = 2 * system.targets().size(), most = 2;
        for (const auto& parity : system.parity()) {
            const size_t groups = parity.rates.size();
            pairs_.emplace_back(groups * groups);
            count += groups * (groups - 1);
            most = std::max(most, groups);
        }
        targets_.resize(system.targets().size());
        step_ = (1 + static_cast<double>(count)) / (bound * static_cast<double>(most));
    }

    double step() const { return step_; }
    void halve() { step_ /= 2; }

    /// What is left of every pair's two multipliers, added up by group.
    std::vector<double> net() const {
        double top = 0;
        for_all([&](double theta) { top = std::max(top, theta); });
        double sum = std::exp(-top);
        for_all([&](double theta) { sum += std::exp(theta - top); });
        const auto lambda = [&](double theta) { return bound_ * std::exp(theta - top) / sum; };
        std::vector<double> out;
        for (size_t p = 0; p < pairs_.size(); ++p) {
            const size_t groups = system_->parity()[p].rates.size();
            for (size_t j = 0; j < groups; ++j) {
                double mu = 0;
                for (size_t k = 0; k < groups; ++k)  // k = j: nothing
                    mu += lambda(pairs_[p][j * groups + k]) - lambda(pairs_[p][k * groups + j]);
                out.push_back(mu);
            }
        }
        for (const double theta : targets_)
            out.push_back(std::max(0.0, lambda(theta) - lambda(-theta)));
        return out;
    }

    void ascend(const fairness::RateValues& values) {
        for (size_t p = 0; p < pairs_.size(); ++p) {
            const auto& rates = values.rates[p];
            const double tolerance = system_->parity()[p].constraint.tolerance;
            for (size_t j = 0; j < rates.size(); ++j)
                for (size_t k = 0; k < rates.size(); ++k)
                    pairs_[p][j * rates.size() + k] += step_ * (rates[j] - rates[k] - tolerance);
        }
        for (size_t t = 0; t < targets_.size(); ++t)
            targets_[t] += step_ * (values.targets[t] - system_->targets()[t].target.at_most);
    }

  private:
    template <class Visit>
    void for_all(const Visit& visit) const {
        for (size_t p = 0; p < pairs_.size(); ++p) {
            const size_t groups = system_->parity()[p].rates.size();
            for (size_t i = 0; i < pairs_[p].size(); ++i)
                if (i / groups != i % groups) visit(pairs_[p][i]);
        }
        for (const double theta : targets_) {
            visit(theta);
            visit(-theta);
        }
    }

    const fairness::RateSystem* system_;
    double bound_, step_;
    std::vector<std::vector<double>> pairs_;  // by parity constraint, [groups x groups]
    std::vector<double> targets_;
};

class Game {
  public:
    explicit Game(Search& search)
        : search_(search), player_(search.system(), search.params().bound) {
        for (const auto& parity : search.system().parity())
            for (const auto& rate : parity.rates) price_ = std::min(price_, rate.weight);
        for (const auto& target : search.system().targets())
            price_ = std::min(price_, target.rate.weight);
        price_ = std::min(price_, search.params().bound);
    }

    base::Result<ReductionResult> play() {
        bool more = true;
        // questions that come up again cost no fit: rounds have a limit of their own
        const size_t most = 4 * static_cast<size_t>(search_.params().fits);
        while (more && rounds_.size() < most) {
            RAMPART_TRY(more, round());
        }
        if (!stopped_ && search_.on_other_rows()) RAMPART_RETURN_IF_ERROR(refine());
        return finish();
    }

  private:
    /// True: there is more to be found.
    base::Result<bool> round() {
        const auto multipliers = player_.net();
        RAMPART_RETURN_IF_ERROR(probe(multipliers));
        if (stopped_ = !search_.report(gap_); stopped_) return false;
        const size_t chosen = best_at(multipliers);
        chosen_.push_back(chosen);
        RAMPART_TRY(double upper, mixture_value(search_.params().bound));
        if (!search_.used_up() && upper - lower() > enough()) {
            RAMPART_RETURN_IF_ERROR(ask_prices_of(false));
            RAMPART_TRY(upper, mixture_value(search_.params().bound));
        }
        gap_ = std::max(0.0, upper - lower());
        rounds_.push_back({multipliers, player_.step(), lower(), upper, average_upper(),
                           search_.trials().size()});
        if (stopped_ = !search_.report(gap_); stopped_) return false;
        adapt_step();
        player_.ascend(search_.trials()[chosen].train.values);
        return gap_ > enough() && !search_.used_up();
    }

    base::Status probe(const std::vector<double>& multipliers) {
        const auto costs = cell_costs(search_.system(), multipliers, search_.threshold());
        auto asked = search_.ask(costs);
        if (!asked) return asked.error();
        probes_.push_back({multipliers, lagrangian_of(best_at(multipliers), multipliers)});
        // the answer may be better than those that earlier questions got
        for (auto& probe : probes_)
            probe.least = std::min(probe.least, lagrangian_of(*asked, probe.multipliers));
        return base::ok();
    }

    double lagrangian_of(size_t trial, const std::vector<double>& multipliers) const {
        const auto& judged = search_.trials()[trial].train;
        return lagrangian(search_.system(), judged.values, judged.loss, multipliers);
    }

    /// The oracle's own answer need not be the best that it has given.
    size_t best_at(const std::vector<double>& multipliers) const {
        size_t best = 0;
        for (size_t i = 1; i < search_.trials().size(); ++i)
            if (lagrangian_of(i, multipliers) < lagrangian_of(best, multipliers)) best = i;
        return best;
    }

    double lower() const {
        double most = -std::numeric_limits<double>::infinity();
        for (const auto& probe : probes_) most = std::max(most, probe.least);
        return most;
    }

    base::Result<PricedMixture> mixture(double bound, bool judging) const {
        const auto& system = judging ? search_.judging_system() : search_.system();
        return priced_mixture(system, classifiers(judging), bound);
    }

    base::Result<double> mixture_value(double bound) const {
        RAMPART_TRY(const auto best, mixture(bound, false));
        return best.value;
    }

    Classifiers classifiers(bool judging) const {
        Classifiers all;
        for (size_t i = 0; i < search_.trials().size(); ++i)
            all.push_back(judging ? &search_.judged(i) : &search_.trials()[i].train);
        return all;
    }

    /// Fits at what the constraints cost the best mixture. At a high price of violations the first
    /// such classifiers would know nothing but the constraints, and be of no use later: the price
    /// begins where it outweighs a row, and doubles as long as violations are still worth it.
    base::Status ask_prices_of(bool judging) {
        auto best = mixture(price_, judging);
        if (!best) return best.error();
        if (best->violation > kRateRounding) price_ = std::min(2 * price_, search_.params().bound);
        return probe(best->multipliers);
    }

    /// Other rows judge, and what the training rows are content with may break the constraints
    /// there: classifiers at the prices of a mixture on those rows, until they are of no more use.
    base::Status refine() {
        const double bound = search_.params().bound;
        auto before = mixture(bound, true);
        if (!before) return before.error();
        int idle = 0;
        constexpr int kPatience = 3;
        while (idle < kPatience && !search_.used_up()) {
            const size_t trials = search_.trials().size();
            const double price = price_;
            RAMPART_RETURN_IF_ERROR(ask_prices_of(true));
            if (search_.trials().size() == trials && price_ == price) return base::ok();
            auto now = mixture(bound, true);
            if (!now) return now.error();
            idle = now->value < before->value - enough() ? 0 : idle + 1;
            before = std::move(now);
            if (!search_.report(gap_)) return base::ok();
        }
        return base::ok();
    }

    double average_upper() const {
        std::vector<double> weights(search_.trials().size());
        for (const size_t i : chosen_) weights[i] += 1.0 / static_cast<double>(chosen_.size());
        const auto average = search_.mixed(weights, false);
        return average.loss + search_.params().bound * std::max(0.0, average.values.violation);
    }

    /// What the unconstrained classifier, the first, has for a loss is known to about that.
    double enough() const {
        const auto& params = search_.params();
        if (params.gap > 0) return params.gap;
        const double t = search_.threshold(), most = 2 * std::max(t, 1 - t);
        const double loss = search_.trials().front().train.loss;
        const auto rows = static_cast<double>(search_.system().cell_of_row().size());
        constexpr double kLeast = 1e-6;
        return std::max(kLeast, 0.5 * std::sqrt(std::max(0.0, loss * (most - loss)) / rows));
    }

    void adapt_step() {
        if (rounds_.size() < next_look_) return;
        const double gap = rounds_.back().average_upper - rounds_.back().lower;
        if (gap > 0.8 * last_gap_) player_.halve();
        last_gap_ = gap;
        next_look_ *= 2;
    }

    base::Result<ReductionResult> finish() {
        RAMPART_TRY(const auto best, fair_mixture(search_.judging_system(), classifiers(true)));
        const bool converged = gap_ <= enough();
        auto out = search_.result(best.weights, search_.mixed(best.tightest, true).values);
        out.verdict.gap = gap_;
        out.verdict.converged = converged;
        out.rounds = std::move(rounds_);
        return out;
    }

    /// Multipliers that were asked about, and the least L that any classifier found has at them.
    struct Probe {
        std::vector<double> multipliers;
        double least;
    };
    Search& search_;
    MultiplierPlayer player_;
    std::vector<Probe> probes_;
    std::vector<size_t> chosen_;
    std::vector<EgRound> rounds_;
    double price_ = 1;  // price of a violation, for the fits at the best mixture's prices
    bool stopped_ = false;
    double gap_ = std::numeric_limits<double>::infinity();
    double last_gap_ = std::numeric_limits<double>::infinity();
    size_t next_look_ = 2;
};

}  // namespace

base::Result<ReductionResult> exponentiated_gradient(Search& search) { return Game(search).play(); }

}  // namespace rampart::reductions
