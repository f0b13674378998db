#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dual_newton.hpp"

namespace rampart::ramp {

/// Rows with features of their own: moment block·d + j is the mean over all rows of z_j·q, z_j = 0
/// outside the block; the last moment is the mean of q. Spans must outlive it.
struct FeatureRows {
    std::span<const double> score;   // [n]
    std::span<const float> weight;   // [n] or empty
    std::span<const int32_t> block;  // [n] or empty: all 0
    size_t blocks = 1;
    std::span<const double> features;  // [n * d]
    size_t d = 0;
    size_t stride = 1;  // every so many rows are looked at
};

class RowMoments final : public MomentOracle {
  public:
    RowMoments(const FeatureRows& rows, double offset);
    size_t size() const override { return rows_.blocks * rows_.d + 1; }
    Values at(std::span<const double> t, double gamma, bool with_hessian) const override;
    std::vector<double> squares() const override { return squares_; }
    const MomentOracle* coarse() const override { return coarse_.get(); }

  private:
    struct Sums;
    void add_rows(size_t begin, size_t end, std::span<const double> t, double gamma,
                  Sums& sums) const;

    FeatureRows rows_;
    double offset_;
    double weight_ = 0;
    std::vector<double> squares_;
    std::unique_ptr<RowMoments> coarse_;
};

}  // namespace rampart::ramp
