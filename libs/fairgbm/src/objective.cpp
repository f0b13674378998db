#include "rampart/fairgbm/objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "proxy_kernel.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/fairgbm/reasons.hpp"

namespace rampart::fairgbm {
namespace {

/// An operating point is found on about so many rows while trees are grown.
constexpr size_t kRowsForCentre = 1 << 16;

constexpr std::array kNames = {
    base::EnumName<Proxy>{Proxy::kCrossEntropy, "cross_entropy"},
    base::EnumName<Proxy>{Proxy::kQuadratic, "quadratic"},
    base::EnumName<Proxy>{Proxy::kHinge, "hinge"},
    base::EnumName<Proxy>{Proxy::kSigmoid, "sigmoid"},
};

size_t chunks_of(size_t rows) { return (rows + gbdt::kChunkRows - 1) / gbdt::kChunkRows; }

}  // namespace

struct FairGbmObjective::Pushes : CellPushes {};

std::string_view to_string(Proxy proxy) { return base::name_of(kNames, proxy); }

base::Result<Proxy> parse_proxy(std::string_view text) {
    return base::value_of(kNames, text, Reason::kUnknownProxy);
}

base::Status validate(const LagrangianParams& params) {
    if (!(params.proxy_margin > 0 && params.proxy_margin <= 100))
        return base::make_error(Reason::kBadProxyMargin, "proxy margin {} is outside (0, 100]",
                                params.proxy_margin);
    RAMPART_RETURN_IF_ERROR(validate(params.operating_point));
    return validate(params.ascent);
}

base::Result<FairGbmObjective> FairGbmObjective::create(
    const dataset::Dataset& data, const fairness::RateConstraints& constraints,
    const LagrangianParams& params, double learning_rate) {
    RAMPART_RETURN_IF_ERROR(validate(params));
    RAMPART_RETURN_IF_ERROR(dataset::validate(data));
    const auto approval = [](const auto& constraint) {
        return constraint.rate == fairness::Rate::kApproval;
    };
    const auto& [parity, targets] = constraints;
    if (params.ascent.paper_compat && (std::any_of(parity.begin(), parity.end(), approval) ||
                                       std::any_of(targets.begin(), targets.end(), approval)))
        return base::make_error(
            Reason::kNotAsPrinted,
            "as printed FairGBM bounds errors; for statistical_parity leave paper_compat "
            "off");
    RAMPART_TRY(auto system, fairness::RateSystem::create(data, constraints));
    return FairGbmObjective(data, std::move(system), params, learning_rate);
}

FairGbmObjective::FairGbmObjective(const dataset::Dataset& data, fairness::RateSystem system,
                                   const LagrangianParams& params, double learning_rate)
    : data_(&data),
      system_(std::make_unique<fairness::RateSystem>(std::move(system))),
      log_loss_(std::make_unique<gbdt::LogLoss>(data)),
      params_(params),
      multipliers_(*system_, params.ascent, learning_rate),
      pushes_(std::make_shared<Pushes>()),
      stride_(std::max<size_t>(1, data.rows() / kRowsForCentre)),
      loss_sums_(chunks_of(data.rows())),
      approved_sums_(chunks_of(data.rows()), std::vector<double>(system_->cells())) {}

base::Status FairGbmObjective::restore(const std::vector<double>& multipliers) {
    return multipliers_.restore(multipliers);
}

std::vector<size_t> FairGbmObjective::proxy_worst(std::span<const double> scores) const {
    const size_t groups = system_->groups();
    std::vector<double> proxies(system_->cells());
    for (size_t i = 0; i < scores.size(); ++i) {
        const size_t cell = system_->cell_of_row()[i];
        const double z = scores[i] - threshold_;
        proxies[cell] += static_cast<double>(data_->weight_of(i)) *
                         proxy_loss(params_.proxy, params_.proxy_margin, cell < groups ? z : -z) /
                         system_->cell_weight()[cell];
    }
    std::vector<size_t> worst;
    for (const auto& parity : system_->parity()) {
        std::vector<double> sums;
        for (const auto& rate : parity.rates) {
            double sum = 0;
            // the coefficient of declines is negative, and their proxy bounds the share declined
            for (const auto& term : rate.terms)
                sum += std::abs(term.coefficient) * proxies[term.cell];
            sums.push_back(sum);
        }
        worst.push_back(
            static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin()));
    }
    return worst;
}

void FairGbmObjective::prepare(std::span<const double> scores) {
    if (trace_.empty())
        threshold_ = fairness::threshold_of(params_.operating_point, *data_, scores, stride_);
    const bool as_printed = params_.ascent.paper_compat;
    const auto cells =
        multipliers_.of_cells(as_printed ? proxy_worst(scores) : std::vector<size_t>());
    for (size_t cell = 0; cell < cells.size(); ++cell) {
        const double weight = system_->cell_weight()[cell];
        const double push = weight > 0 ? cells[cell] * system_->total_weight() / weight : 0;
        // as printed: errors are what is bounded, whatever the sign of their multiplier
        const bool against_approval = as_printed ? cell < system_->groups() : push >= 0;
        const double sign = against_approval ? 1 : -1;
        pushes_->direction[cell] = static_cast<float>(sign);
        pushes_->push[cell] = static_cast<float>(push * sign);
    }
    std::fill(loss_sums_.begin(), loss_sums_.end(), 0.0);
}

void FairGbmObjective::gradients_of_rows(std::span<const double> scores, size_t first,
                                         std::span<float> g, std::span<float> h) const {
    log_loss_->gradients_of_rows(scores, first, g, h);
    const float* const weights = data_->weight.empty() ? nullptr : data_->weight.data() + first;
    loss_sums_[first / gbdt::kChunkRows] += brier_sum(g.data(), weights, g.size());
    const PushedRows rows{scores.data() + first, system_->cell_of_row().data() + first,
                          data_->label.data() + first, weights, g.size()};
    add_proxy(params_.proxy, params_.proxy_margin, threshold_,
              params_.curvature && !params_.ascent.paper_compat, *pushes_, rows, g.data(),
              h.data());
}

void FairGbmObjective::rows_scored(std::span<const double> scores, size_t first, size_t n) {
    if (params_.operating_point.moves()) return;  // the threshold is known only when all are scored
    auto& sums = approved_sums_[first / gbdt::kChunkRows];
    std::fill(sums.begin(), sums.end(), 0.0);
    const float* const weights = data_->weight.empty() ? nullptr : data_->weight.data() + first;
    add_approved({scores.data() + first, system_->cell_of_row().data() + first,
                  data_->label.data() + first, weights, n},
                 threshold_, sums.data(), sums.size());
}

std::vector<double> FairGbmObjective::approved(std::span<const double> scores) const {
    if (params_.operating_point.moves()) return system_->approved_from(*data_, scores, threshold_);
    std::vector<double> out(system_->cells());
    for (const auto& sums : approved_sums_)
        for (size_t cell = 0; cell < out.size(); ++cell) out[cell] += sums[cell];
    for (size_t cell = 0; cell < out.size(); ++cell)
        if (const double weight = system_->cell_weight()[cell]; weight > 0) out[cell] /= weight;
    return out;
}

double FairGbmObjective::loss() const {
    double sum = 0;
    for (const double chunk : loss_sums_) sum += chunk;
    return sum / system_->total_weight();
}

void FairGbmObjective::after_tree(int, std::span<const double> scores) {
    // what the gradients of this tree saw is what the one before it had come to
    if (!trace_.empty()) trace_.back().loss = loss();
    if (params_.operating_point.moves())
        threshold_ = fairness::threshold_of(params_.operating_point, *data_, scores, stride_);
    FairGbmIteration now;
    now.approved = approved(scores);
    now.threshold = threshold_;
    multipliers_.ascend(system_->values(now.approved));
    now.multipliers = multipliers_.values();
    trace_.push_back(std::move(now));
}

void FairGbmObjective::finish(std::span<const double> scores) {
    if (trace_.empty()) return;
    std::vector<float> g(gbdt::kChunkRows), h(g.size());
    for (size_t first = 0; first < scores.size(); first += g.size()) {
        const size_t n = std::min(g.size(), scores.size() - first);
        log_loss_->gradients_of_rows(scores, first, std::span(g).first(n), std::span(h).first(n));
        const float* const weights = data_->weight.empty() ? nullptr : data_->weight.data() + first;
        loss_sums_[first / gbdt::kChunkRows] = brier_sum(g.data(), weights, n);
    }
    trace_.back().loss = loss();
}

double FairGbmObjective::lagrangian(std::span<const double> scores) const {
    double sum = gbdt::mean_log_loss(*data_, scores) * system_->total_weight();
    for (size_t i = 0; i < scores.size(); ++i) {
        const size_t cell = system_->cell_of_row()[i];
        const auto push = static_cast<double>(pushes_->push[cell]);
        const auto direction = static_cast<double>(pushes_->direction[cell]);
        sum +=
            static_cast<double>(data_->weight_of(i)) * push *
            proxy_loss(params_.proxy, params_.proxy_margin, direction * (scores[i] - threshold_));
    }
    return sum;
}

}  // namespace rampart::fairgbm
