#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"

/// What BuDRO is measured against, beside plain boosting and FairMetric::project(): weights that
/// make label and protected group independent (Kamiran, Calders 2012; "Reweigh" of Vargo et al.
/// 2021).
namespace rampart::budro {

/// Returns [n] the row's own weight times P(group)·P(label) / P(group, label), shares by weight.
/// Where every group has both labels, groups and labels keep their shares. Error: "no_groups".
base::Result<std::vector<float>> reweigh(const dataset::Dataset& data);

}  // namespace rampart::budro
