#pragma once

#include <cstddef>
#include <span>

#include "rampart/explain/tree_shap.hpp"

namespace rampart::explain {

/// Interface of one variant of TreeSHAP, prepared for one ensemble.
class ShapEngine {
  public:
    virtual ~ShapEngine() = default;
    virtual double base_value() const = 0;
    /// Returns the size of a workspace, in numbers.
    virtual size_t numbers() const = 0;
    virtual size_t bytes() const = 0;
    /// Adds the contributions of n rows, [n][d], to phi, [n][d]: tree by tree, so that a tree's
    /// tables are loaded once for all rows.
    virtual void add(const float* rows, size_t n, double* phi,
                     TreeShap::Workspace& workspace) const = 0;
};

base::Result<std::unique_ptr<const ShapEngine>> path_dependent_engine(
    const model::Ensemble& ensemble, size_t features, model::InstructionSet set);

base::Result<std::unique_ptr<const ShapEngine>> interventional_engine(
    const model::Ensemble& ensemble, size_t features, std::span<const float> reference,
    std::span<const double> weights);

}  // namespace rampart::explain
