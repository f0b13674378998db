#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/model/two_rows.hpp"

namespace rampart::model {

/// A policy laid out to evaluate many rows: gives exactly the result of Policy::evaluate, to the
/// last bit. Ensembles of links without members are scored by BatchEngine; mixtures and the
/// estimates of group-blind adjustments row by row. Immutable, safe to use from many threads. Keeps
/// a reference to the policy, which must outlive it.
class BatchPolicy {
  public:
    explicit BatchPolicy(const Policy& policy);
    ~BatchPolicy();
    BatchPolicy(BatchPolicy&&) noexcept;

    /// Writes [n] outputs. The table has the features of the policy's schema, in its order. groups:
    /// [n] indices into the policy's group_names(), required iff it is group-aware; otherwise
    /// empty. With a pool rows run in parallel; the result is the same.
    void evaluate(const TableView& table, std::span<const size_t> groups,
                  std::span<PolicyOutput> out, base::ThreadPool* pool = nullptr) const;

    /// Writes [two.count()] outputs: those of the rows between two rows, as evaluate() has them to
    /// the bit, and several times as fast where links are ensembles. `group`: of all of them,
    /// required iff the policy is group-aware.
    void evaluate_between(const TwoRows& two, std::optional<size_t> group,
                          std::span<PolicyOutput> out) const;

  private:
    struct Links;
    const Policy* policy_;
    std::unique_ptr<const Links> links_;
};

}  // namespace rampart::model
