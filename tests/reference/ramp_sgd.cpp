#include "reference/ramp_sgd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "rampart/base/check.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "reference/reasons.hpp"

namespace rampart::reference {

using ramp::RampProblem;
using ramp::Regulariser;

namespace {

constexpr uint64_t kMostRows = 1'000'000'000'000;
constexpr uint64_t kFirstUpdates = 64;  // updates of the first phase

constexpr auto kOutcomes = std::to_array<base::EnumName<SgdOutcome>>(
    {{SgdOutcome::kConverged, "converged"}, {SgdOutcome::kNotConverged, "not_converged"}});

base::Status check_params(const RampSgdParams& p, size_t groups) {
    const auto check = [](std::string_view name, double value, double lo, double hi) {
        if (value >= lo && value <= hi) return base::ok();
        return base::Status(base::make_error(Reason::kBadSgdSetting,
                                             "{} is {}; allowed is {} to {}", name, value, lo, hi));
    };
    RAMPART_RETURN_IF_ERROR(check("gamma", p.gamma, 1e-4, 100));
    RAMPART_RETURN_IF_ERROR(check("epsilon", p.epsilon, 0, 1));
    RAMPART_RETURN_IF_ERROR(check("rho", p.rho, 0, 1));
    RAMPART_RETURN_IF_ERROR(check("tolerance", p.tolerance, 1e-6, 1));
    for (const auto& [name, value] :
         {std::pair{"max_rows", p.max_rows}, std::pair{"check_rows", p.check_rows}})
        if (value < 1 || value > kMostRows)
            return base::make_error(Reason::kBadSgdSetting, "{} is {}; allowed is 1 to {}", name,
                                    value, kMostRows);
    if (groups < 1 || groups > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}", groups,
                                base::limits::kMaxGroups);
    return base::ok();
}

base::Status check_batch(const RampBatch& b, size_t groups, const RampSgdParams& params) {
    const size_t n = b.score.size();
    if ((b.group.size() != n && !(b.group.empty() && groups == 1)) ||
        (!b.weight.empty() && b.weight.size() != n))
        return base::make_error(base::Reason::kSizeMismatch,
                                "a batch of {} scores, {} groups and {} weights", n, b.group.size(),
                                b.weight.size());
    if (params.paper_compat && !b.weight.empty())
        return base::make_error(
            Reason::kPaperCompatWeights,
            "the procedure as printed knows no weights: leave them or paper_compat out");
    for (size_t i = 0; i < n; ++i) {
        if (!(b.score[i] >= -1 && b.score[i] <= 1))
            return base::make_error(base::Reason::kBadScore,
                                    "row {} of a batch: score {} is outside [-1, 1]", i,
                                    b.score[i]);
        if (!b.weight.empty() && !(b.weight[i] > 0 && std::isfinite(b.weight[i])))
            return base::make_error(base::Reason::kBadWeight,
                                    "row {} of a batch: weight {} is not a positive number", i,
                                    b.weight[i]);
        if (!b.group.empty() && (b.group[i] < 0 || static_cast<size_t>(b.group[i]) >= groups))
            return base::make_error(base::Reason::kBadGroup,
                                    "row {} of a batch: group {} is not one of 0 to {}", i,
                                    b.group[i], groups - 1);
    }
    return base::ok();
}

/// One row after the other, pass after pass.
class Stream {
  public:
    Stream(RampBatches& source, size_t groups, const RampSgdParams& params)
        : source_(source), groups_(groups), params_(params) {}

    /// A checked batch with rows; at a pass' end the first of the next.
    base::Result<RampBatch> next() {
        RAMPART_TRY(auto batch, within_pass());
        if (!batch.score.empty()) return batch;
        RAMPART_RETURN_IF_ERROR(source_.restart());
        RAMPART_TRY(batch, within_pass());
        if (batch.score.empty())
            return base::make_error(base::Reason::kNoRows,
                                    "the source gives no rows: give at least one");
        return batch;
    }

    base::Result<RampBatch> within_pass() {
        RAMPART_TRY(const auto batch, source_.next());
        RAMPART_RETURN_IF_ERROR(check_batch(batch, groups_, params_));
        return batch;
    }

    RampBatches& source() { return source_; }

  private:
    RampBatches& source_;
    size_t groups_;
    const RampSgdParams& params_;
};

size_t group_of(const RampBatch& batch, size_t i) {
    return batch.group.empty() ? 0 : static_cast<size_t>(batch.group[i]);
}

double weight_of(const RampBatch& batch, size_t i) {
    return batch.weight.empty() ? 1.0 : batch.weight[i];
}

double offset_of(const RampSgdParams& params) {
    return params.regulariser == Regulariser::kCentred ? 0.5 : 0.0;
}

/// Multipliers, and the sums that their means are made of.
struct Multipliers {
    std::vector<double> lambda, mu, lambda_sum, mu_sum;
    uint64_t counted = 0;

    explicit Multipliers(size_t groups)
        : lambda(groups), mu(groups), lambda_sum(groups), mu_sum(groups) {}

    void step(size_t k, double length, double e, double pull) {  // pull: mean q - rho
        lambda[k] = std::max(0.0, lambda[k] - length * (e - pull));
        mu[k] = std::max(0.0, mu[k] - length * (e + pull));
    }
    /// With one multiplier or the other: a step along the smooth part, then what e·|t| costs is
    /// taken off. Steps on both, of which one stands at 0, would go further down than up.
    void shrunk_step(size_t k, double length, double e, double pull) {
        const double t = lambda[k] - mu[k] + length * pull;
        lambda[k] = std::max(0.0, t - length * e);
        mu[k] = std::max(0.0, -t - length * e);
    }
    void start_from_mean() {
        for (size_t k = 0; k < lambda.size(); ++k) {
            lambda[k] = std::exchange(lambda_sum[k], 0.0) / static_cast<double>(counted);
            mu[k] = std::exchange(mu_sum[k], 0.0) / static_cast<double>(counted);
            const double both = std::min(lambda[k], mu[k]);
            lambda[k] -= both;
            mu[k] -= both;
        }
        counted = 0;
    }
};

/// A phase of ours: `updates` batches, every group's multipliers once a batch.
class Phases {
  public:
    Phases(Stream& stream, size_t groups, const RampSgdParams& params, RampSgdSolution& solution)
        : stream_(stream), params_(params), solution_(solution), now_(groups), seen_(groups) {}

    base::Status run(uint64_t updates, double length) {
        for (uint64_t u = 0; u < updates && solution_.rows < params_.max_rows; ++u) {
            RAMPART_TRY(const auto batch, stream_.next());
            update(batch, length);
            solution_.rows += batch.score.size();
            ++solution_.updates;
        }
        now_.start_from_mean();
        ++solution_.phases;
        return base::ok();
    }

    const Multipliers& now() const { return now_; }

  private:
    void update(const RampBatch& batch, double length) {
        const double e = params_.epsilon / 2, offset = offset_of(params_);
        const size_t groups = now_.lambda.size();
        std::vector<double> pull(groups), weight(groups);
        for (size_t i = 0; i < batch.score.size(); ++i) {
            const size_t k = group_of(batch, i);
            const double t = now_.lambda[k] - now_.mu[k], w = weight_of(batch, i);
            const double q = std::clamp((batch.score[i] - t) / params_.gamma + offset, 0.0, 1.0);
            pull[k] += w * (q - params_.rho);
            weight[k] += w;
        }
        ++batches_;
        rows_ += static_cast<double>(batch.score.size());
        for (const double w : weight) total_ += w;
        for (size_t k = 0; k < groups; ++k) {
            seen_[k] += weight[k];
            // by the usual weight in a batch, not by this one's: a mean over few weighted rows is
            // biased. Of rare groups a row's weight: no leaps
            const double usual = std::max(seen_[k] / static_cast<double>(batches_), total_ / rows_);
            now_.shrunk_step(k, length / usual, e * weight[k], pull[k]);
            now_.lambda_sum[k] += now_.lambda[k];
            now_.mu_sum[k] += now_.mu[k];
        }
        ++now_.counted;
    }

    Stream& stream_;
    const RampSgdParams& params_;
    RampSgdSolution& solution_;
    Multipliers now_;
    std::vector<double> seen_;  // weight of each group in all batches so far
    uint64_t batches_ = 0;
    double rows_ = 0, total_ = 0;  // rows read, and their weight
};

/// Algorithm 1 as printed: a row, an update. Means are over all updates, each of which leaves all
/// groups but one alone: what a group adds is counted when it changes.
base::Result<Multipliers> as_printed(Stream& stream, size_t groups, const RampSgdParams& params,
                                     RampSgdSolution& solution) {
    const double e = params.epsilon / 2, offset = offset_of(params);
    const double length =
        0.1 * std::sqrt(static_cast<double>(groups) / static_cast<double>(params.max_rows));
    Multipliers now(groups);
    std::vector<uint64_t> since(groups, 0);
    const auto count = [&](size_t k) {
        const auto stayed = static_cast<double>(solution.rows - since[k]);
        now.lambda_sum[k] += stayed * now.lambda[k];
        now.mu_sum[k] += stayed * now.mu[k];
        since[k] = solution.rows;
    };
    while (solution.rows < params.max_rows) {
        RAMPART_TRY(const auto batch, stream.next());
        for (size_t i = 0; i < batch.score.size() && solution.rows < params.max_rows; ++i) {
            const size_t k = group_of(batch, i);
            count(k);
            const double t = now.lambda[k] - now.mu[k];
            const double q = std::clamp((batch.score[i] - t) / params.gamma + offset, 0.0, 1.0);
            now.step(k, length, e, q - params.rho);
            ++solution.rows;
        }
    }
    for (size_t k = 0; k < groups; ++k) count(k);
    solution.updates = now.counted = solution.rows;
    solution.phases = 1;
    now.start_from_mean();
    return now;
}

/// Rates of thresholds on some rows, and how sure they are.
struct Tallies {
    std::vector<double> hits, weight, squares, spread;
    explicit Tallies(size_t groups)
        : hits(groups), weight(groups), squares(groups), spread(groups) {}
};

base::Result<RampSgdCheck> checked(Stream& stream, const std::vector<double>& lambda,
                                   const std::vector<double>& mu, const RampSgdParams& params) {
    const size_t groups = lambda.size();
    const double e = params.epsilon / 2, offset = offset_of(params);
    Tallies sums(groups);
    RAMPART_RETURN_IF_ERROR(stream.source().restart());
    bool whole = false;
    for (uint64_t rows = 0; rows < params.check_rows && !whole;) {
        RAMPART_TRY(const auto batch, stream.within_pass());
        whole = batch.score.empty();
        rows += batch.score.size();
        for (size_t i = 0; i < batch.score.size(); ++i) {
            const size_t k = group_of(batch, i);
            const double t = lambda[k] - mu[k], w = weight_of(batch, i);
            const double q = std::clamp((batch.score[i] - t) / params.gamma + offset, 0.0, 1.0);
            sums.hits[k] += w * q;
            sums.spread[k] += w * q * q;
            sums.weight[k] += w;
            sums.squares[k] += w * w;
        }
    }
    RampSgdCheck check;
    for (size_t k = 0; k < groups; ++k) {
        if (sums.weight[k] == 0)
            return base::make_error(
                base::Reason::kEmptyGroup,
                "group {} is in none of the rows looked at: leave it out or raise check_rows", k);
        const double rate = sums.hits[k] / sums.weight[k];
        check.rates.push_back(rate);
        const double above = std::min(lambda[k], e + params.rho - rate);
        const double below = std::min(mu[k], e - params.rho + rate);
        check.residual = std::max({check.residual, std::abs(above), std::abs(below)});
        const double variance = std::max(0.0, sums.spread[k] / sums.weight[k] - rate * rate);
        const double rows = sums.weight[k] * sums.weight[k] / sums.squares[k];
        if (!whole)
            check.standard_error = std::max(check.standard_error, std::sqrt(variance / rows));
    }
    return check;
}

bool good_enough(const RampSgdCheck& check, const RampSgdParams& params) {
    return check.residual <= params.tolerance && check.standard_error <= params.tolerance;
}

}  // namespace

std::string_view to_string(SgdOutcome outcome) { return base::name_of(kOutcomes, outcome); }

ShuffledBatches::ShuffledBatches(const RampProblem& rows, size_t batch_rows, uint64_t seed)
    : rows_(rows), batch_rows_(batch_rows), order_(rows.score.size()) {
    RAMPART_CHECK(batch_rows > 0);
    std::iota(order_.begin(), order_.end(), 0u);
    base::Random random(seed);
    random.shuffle(std::span<uint32_t>(order_));
}

base::Status ShuffledBatches::restart() {
    at_ = 0;
    return base::ok();
}

base::Result<RampBatch> ShuffledBatches::next() {
    score_.clear();
    group_.clear();
    weight_.clear();
    for (; at_ < order_.size() && score_.size() < batch_rows_; ++at_) {
        const uint32_t i = order_[at_];
        score_.push_back(rows_.score[i]);
        if (!rows_.group.empty()) group_.push_back(rows_.group[i]);
        if (!rows_.weight.empty()) weight_.push_back(rows_.weight[i]);
    }
    return RampBatch{score_, group_, weight_};
}

base::Result<RampSgdCheck> check_ramp(RampBatches& rows, std::span<const double> lambda,
                                      std::span<const double> mu, const RampSgdParams& params) {
    RAMPART_RETURN_IF_ERROR(check_params(params, lambda.size()));
    if (mu.size() != lambda.size())
        return base::make_error(base::Reason::kSizeMismatch, "{} lambdas and {} mus", lambda.size(),
                                mu.size());
    for (size_t k = 0; k < mu.size(); ++k)
        if (!(lambda[k] >= 0 && mu[k] >= 0))
            return base::make_error(base::Reason::kBadMultiplier,
                                    "group {}: lambda {} or mu {} is below 0", k, lambda[k], mu[k]);
    Stream stream(rows, lambda.size(), params);
    return checked(stream, {lambda.begin(), lambda.end()}, {mu.begin(), mu.end()}, params);
}

base::Result<RampSgdSolution> fit_ramp_sgd(RampBatches& rows, size_t groups,
                                           const RampSgdParams& params) {
    RAMPART_RETURN_IF_ERROR(check_params(params, groups));
    Stream stream(rows, groups, params);
    RampSgdSolution solution;
    const auto take = [&](const Multipliers& found) -> base::Status {
        solution.lambda = found.lambda;
        solution.mu = found.mu;
        RAMPART_TRY(solution.check, checked(stream, found.lambda, found.mu, params));
        if (good_enough(solution.check, params)) solution.outcome = SgdOutcome::kConverged;
        return base::ok();
    };
    if (params.paper_compat) {
        RAMPART_TRY(const auto found, as_printed(stream, groups, params, solution));
        RAMPART_RETURN_IF_ERROR(take(found));
    } else {
        Phases phases(stream, groups, params, solution);
        uint64_t updates = kFirstUpdates;
        double length = std::max(0.5, params.gamma);
        while (solution.outcome != SgdOutcome::kConverged && solution.rows < params.max_rows) {
            RAMPART_RETURN_IF_ERROR(phases.run(updates, length));
            RAMPART_RETURN_IF_ERROR(take(phases.now()));
            updates *= 4;
            length /= 2;
        }
    }
    solution.rule.gamma = params.gamma;
    solution.rule.offset = offset_of(params);
    solution.rule.thresholds.clear();
    for (size_t k = 0; k < groups; ++k)
        solution.rule.thresholds.push_back(solution.lambda[k] - solution.mu[k]);
    solution.rule.ties.assign(groups, 1);
    return solution;
}

}  // namespace rampart::reference
