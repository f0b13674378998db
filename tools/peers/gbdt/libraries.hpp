#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "rampart/base/result.hpp"

namespace rampart::peer_gbdt {

/// A peer's model behind its own C interface, loaded at run time: no Python is timed. Values are [n
/// x d] floats, row after row, missing as NaN; scores are raw. Not thread safe.
///
/// open() fails with not_found "no_library", "no_function"; invalid_argument "peer_refused", with
/// the library's message. Prediction fails with internal_error "peer_refused".
class LightGbm {
  public:
    static base::Result<LightGbm> open(const std::string& library, const std::string& model,
                                       size_t features);
    /// Calls its "single row fast" function, which prepares everything except the row.
    base::Result<double> predict_one(const float* row) const;
    base::Status predict(std::span<const float> values, size_t threads,
                         std::span<double> out) const;

  private:
    struct Functions;
    explicit LightGbm(std::shared_ptr<const Functions> functions);
    std::shared_ptr<const Functions> functions_;
    void *booster_ = nullptr, *fast_ = nullptr;  // live as long as the process
    size_t features_ = 0;
};

class XgBoost {
  public:
    static base::Result<XgBoost> open(const std::string& library, const std::string& model,
                                      size_t features);
    /// Calls its "in place" function, which copies no table.
    base::Status predict(std::span<const float> values, size_t threads,
                         std::span<double> out) const;

  private:
    struct Functions;
    explicit XgBoost(std::shared_ptr<const Functions> functions);
    std::shared_ptr<const Functions> functions_;
    void* booster_ = nullptr;
    size_t features_ = 0;
};

}  // namespace rampart::peer_gbdt
