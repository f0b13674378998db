#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rampart/domain/product.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/run_store.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// What a store says about its decisions, by protected group and month.
namespace rampart::rampartd {

inline constexpr int kMostReportMonths = 120;

/// Which months of applications, and by which groups others are compared.
struct ReportRequest {
    std::string from, to;  // "2005-01"; empty: to the last month, the 24 months before its end
    std::vector<std::string> references;  // as monitoring::GroupMonths has them
};

struct StoreReportDeps {
    const domain::Product& product;
    const training_set::TrainingSetBuilder& builder;
    const registry::ModelRegistry& registry;
    std::vector<retraining::RunRecord> runs;
    base::TimePoint known_at;  // as known then
};

/// Returns the answer to GET /v1/report: figures of decisions about development persons, matured or
/// not, by group and month and by policy; promotions, and verdicts of the gate. No figure of
/// decisions is about a person of the vault. Errors: "bad_period"; those of GroupMonths::create()
/// and of TrainingSetBuilder::visit_development().
base::Result<std::string> store_report(const StoreReportDeps& deps, const ReportRequest& request);

}  // namespace rampart::rampartd
