#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "best_mixture.hpp"
#include "search.hpp"

namespace rampart::fairness {
namespace {

/// The player of multipliers: λ = bound · exp(θ) / (1 + sum exp θ), by ordered pair of groups and
/// by target and its mirror image.
class MultiplierPlayer {
  public:
    MultiplierPlayer(const RateSystem& system, double bound) : system_(&system), bound_(bound) {
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

    void ascend(const RateValues& values) {
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

    const RateSystem* system_;
    double bound_, step_;
    std::vector<std::vector<double>> pairs_;  // by parity constraint, [groups x groups]
    std::vector<double> targets_;
};

class Game {
  public:
    explicit Game(Search& search)
        : search_(search), player_(search.system(), search.params().bound) {}

    base::Result<ReductionResult> play() {
        bool more = true;
        // questions that come up again cost no fit: rounds have a limit of their own
        const size_t most = 4 * static_cast<size_t>(search_.params().fits);
        while (more && rounds_.size() < most) {
            RAMPART_TRY(more, round());
        }
        return finish();
    }

  private:
    /// True: there is more to be found.
    base::Result<bool> round() {
        const auto multipliers = player_.net();
        RAMPART_RETURN_IF_ERROR(probe(multipliers));
        if (!search_.report(gap_)) return false;
        const size_t chosen = best_at(multipliers);
        chosen_.push_back(chosen);
        RAMPART_TRY(auto master, master_mixture());
        if (!search_.used_up() && master.value - lower() > enough()) {
            const size_t before = search_.trials().size();
            RAMPART_RETURN_IF_ERROR(probe(master.multipliers));
            if (search_.trials().size() > before) {
                RAMPART_TRY(master, master_mixture());
            }
        }
        gap_ = std::max(0.0, master.value - lower());
        rounds_.push_back({multipliers, player_.step(), lower(), master.value, average_upper(),
                           search_.trials().size()});
        if (!search_.report(gap_)) return false;
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

    base::Result<PricedMixture> master_mixture() const {
        Classifiers all;
        for (const auto& trial : search_.trials()) all.push_back(&trial.train);
        return priced_mixture(search_.system(), all, search_.params().bound);
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
        Classifiers all;
        for (size_t i = 0; i < search_.trials().size(); ++i) all.push_back(&search_.judged(i));
        RAMPART_TRY(const auto mixture, fair_mixture(search_.judging_system(), all));
        const bool converged = gap_ <= enough();
        auto out = search_.result(mixture.weights, search_.mixed(mixture.tightest, true).values);
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
    double gap_ = std::numeric_limits<double>::infinity();
    double last_gap_ = std::numeric_limits<double>::infinity();
    size_t next_look_ = 2;
};

}  // namespace

base::Result<ReductionResult> exponentiated_gradient(Search& search) { return Game(search).play(); }

}  // namespace rampart::fairness
