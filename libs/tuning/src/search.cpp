#include "rampart/tuning/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/tuning/reasons.hpp"

namespace rampart::tuning {
namespace {

using base::Result;

constexpr size_t kEta = 3;

/// Returns whether another setting, or other data, may do without the error.
bool is_about_trial(const base::Error& error) {
    return error.code == base::ErrorCode::kFailedPrecondition ||
           error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

/// One search under way.
class Search {
  public:
    Search(const Plan& plan, std::vector<Setting> settings, const Problem& problem,
           const Conduct& conduct)
        : plan_(plan),
          problem_(problem),
          conduct_(conduct),
          settings_(std::move(settings)),
          folds_(static_cast<size_t>(plan.folds)) {}

    Result<Found> run() {
        const auto rungs = rungs_of(plan_.method, settings_.size());
        for (const auto& rung : rungs) to_do_ += rung.settings * folds_;
        std::vector<uint32_t> places(settings_.size());
        std::iota(places.begin(), places.end(), 0U);
        for (const auto& rung : rungs) {
            places.resize(std::min(places.size(), rung.settings));
            RAMPART_TRY(auto tried, climb(rung.share, places));
            if (tried.empty()) break;  // no time was left
            std::sort(tried.begin(), tried.end(), is_better);
            best_ = tried.front();
            places.clear();
            for (const auto& one : tried)
                if (one.failed.empty()) places.push_back(one.setting - 1);
            if (places.empty() || out_of_time()) break;
        }
        if (!best_.failed.empty())
            return base::make_error(Reason::kNoTrial,
                                    "[search]: none of {} settings could be valued; {}: {}",
                                    trials_.size(), best_.values, best_.failed);
        return Found{settings_[best_.setting - 1], best_.setting, std::move(trials_), best_};
    }

  private:
    /// Tries the settings with the same share, as many as there is time for.
    Result<std::vector<Trial>> climb(double share, std::span<const uint32_t> places) {
        std::vector<Trial> tried;
        std::vector<uint32_t> rest;
        for (const uint32_t place : places) {
            RAMPART_TRY(const auto* known, kept(place, share));
            if (known == nullptr) {
                rest.push_back(place);
                continue;
            }
            done_ += folds_;
            trials_.push_back(*known);
            tried.push_back(*known);
        }
        const size_t at_once = conduct_.pool != nullptr ? conduct_.pool->size() : 1;
        for (size_t from = 0; from < rest.size(); from += at_once) {
            if (!trials_.empty() && out_of_time()) break;
            const size_t to = std::min(from + at_once, rest.size());
            RAMPART_TRY(auto made, try_all(share, std::span(rest).subspan(from, to - from)));
            trials_.insert(trials_.end(), made.begin(), made.end());
            tried.insert(tried.end(), made.begin(), made.end());
            if (conduct_.keep) RAMPART_RETURN_IF_ERROR(conduct_.keep(trials_));
        }
        return tried;
    }

    Result<const Trial*> kept(uint32_t place, double share) const {
        for (const auto& one : conduct_.kept) {
            if (one.setting != place + 1 || one.share != share) continue;
            if (one.values == text_of(plan_, settings_[place])) return &one;
            return base::make_error(Reason::kBadTrials, "trial {} has {}, and the search has {}",
                                    one.setting, one.values, text_of(plan_, settings_[place]));
        }
        return static_cast<const Trial*>(nullptr);
    }

    bool out_of_time() const {
        double sum = 0;
        for (const auto& one : trials_) sum += one.seconds;
        return plan_.seconds > 0 && sum >= plan_.seconds;
    }

    double now() const { return conduct_.seconds ? conduct_.seconds() : 0; }

    Result<std::vector<Trial>> try_all(double share, std::span<const uint32_t> places) {
        struct Fit {
            Result<FoldValue> value = FoldValue{};
            double seconds = 0;
        };
        std::vector<Fit> fits(places.size() * folds_);
        const auto fit = [&](size_t i) {
            const double begun = now();
            fits[i].value = problem_.value(settings_[places[i / folds_]], share, i % folds_);
            fits[i].seconds = now() - begun;
            const std::lock_guard lock(mutex_);
            ++done_;
            if (conduct_.progress) conduct_.progress(done_, to_do_);
        };
        if (conduct_.pool != nullptr)
            conduct_.pool->run(fits.size(), fit);
        else
            for (size_t i = 0; i < fits.size(); ++i) fit(i);
        std::vector<Trial> out;
        for (size_t k = 0; k < places.size(); ++k) {
            Trial trial{.setting = places[k] + 1,
                        .share = share,
                        .values = text_of(plan_, settings_[places[k]])};
            std::vector<FoldValue> values;
            for (size_t fold = 0; fold < folds_; ++fold) {
                auto& one = fits[k * folds_ + fold];
                trial.seconds += one.seconds;
                if (one.value)
                    values.push_back(std::move(*one.value));
                else if (!is_about_trial(one.value.error()))
                    return one.value.error();
                else if (trial.failed.empty())
                    trial.failed = one.value.error().message;
            }
            if (trial.failed.empty()) RAMPART_RETURN_IF_ERROR(judge(places[k], values, trial));
            out.push_back(std::move(trial));
        }
        return out;
    }

    /// Puts together what the folds say.
    base::Status judge(uint32_t place, std::span<const FoldValue> values, Trial& trial) const {
        double loss = 0, weight = 0, excess = 0;
        for (const auto& one : values) {
            loss += one.loss;
            weight += one.weight;
            excess += std::max(0.0, one.excess) / static_cast<double>(values.size());
        }
        if (problem_.excess) {
            const auto beyond = problem_.excess(settings_[place], values);
            if (!beyond && !is_about_trial(beyond.error())) return beyond.error();
            if (!beyond) trial.failed = beyond.error().message;
            if (beyond) excess = std::max(excess, *beyond);
        }
        trial.score = loss / weight;
        trial.excess = excess;
        if (trial.failed.empty() && !(std::isfinite(trial.score) && std::isfinite(excess)))
            trial.failed = "its score is not a finite number";
        if (!trial.failed.empty()) trial.score = trial.excess = 0;
        return base::ok();
    }

    const Plan& plan_;
    const Problem& problem_;
    const Conduct& conduct_;
    std::vector<Setting> settings_;
    size_t folds_, done_ = 0, to_do_ = 0;
    std::mutex mutex_;  // guards done_ and progress
    std::vector<Trial> trials_;
    Trial best_;
};

}  // namespace

std::vector<Rung> rungs_of(Method method, size_t n) {
    RAMPART_CHECK(n > 0, "a search without settings");
    std::vector<Rung> rungs{{1, n}};
    if (method == Method::kRandom) return rungs;
    size_t divisor = 1;
    for (size_t left = n / kEta; left > 0; left /= kEta) divisor *= kEta;
    rungs.clear();
    for (size_t part = 1; part <= divisor; part *= kEta)
        rungs.push_back({static_cast<double>(part) / static_cast<double>(divisor), n / part});
    return rungs;
}

base::Result<Found> search(const Plan& plan, const Setting& own, uint64_t seed,
                           const Problem& problem, const Conduct& conduct) {
    return Search(plan, settings_of(plan, own, plan.seed.value_or(seed)), problem, conduct).run();
}

}  // namespace rampart::tuning
