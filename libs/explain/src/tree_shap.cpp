#include "rampart/explain/tree_shap.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "shap_engine.hpp"

namespace rampart::explain {
namespace {

constexpr size_t kBlockRows = 128;  // rows per task; results do not depend on it

}  // namespace

TreeShap::TreeShap(std::unique_ptr<const ShapEngine> engine, size_t features)
    : engine_(std::move(engine)), features_(features) {}
TreeShap::TreeShap(TreeShap&&) noexcept = default;
TreeShap& TreeShap::operator=(TreeShap&&) noexcept = default;
TreeShap::~TreeShap() = default;

base::Result<TreeShap> TreeShap::path_dependent(const model::Ensemble& ensemble, size_t features,
                                                model::InstructionSet set) {
    RAMPART_RETURN_IF_ERROR(model::validate(ensemble, features));
    RAMPART_TRY(auto engine, path_dependent_engine(ensemble, features, set));
    return TreeShap(std::move(engine), features);
}

base::Result<TreeShap> TreeShap::interventional(const model::Ensemble& ensemble, size_t features,
                                                std::span<const float> reference,
                                                std::span<const double> weights) {
    RAMPART_RETURN_IF_ERROR(model::validate(ensemble, features));
    RAMPART_TRY(auto engine, interventional_engine(ensemble, features, reference, weights));
    return TreeShap(std::move(engine), features);
}

double TreeShap::base_value() const { return engine_->base_value(); }

TreeShap::Workspace TreeShap::workspace() const {
    return {std::vector<double>(engine_->numbers()), std::vector<uint8_t>(engine_->bytes())};
}

void TreeShap::explain(std::span<const float> row, std::span<double> phi,
                       Workspace& workspace) const {
    RAMPART_CHECK(row.size() == features_ && phi.size() == features_, "{} and {} of {} features",
                  row.size(), phi.size(), features_);
    RAMPART_CHECK(workspace.numbers.size() == engine_->numbers() &&
                      workspace.bytes.size() == engine_->bytes(),
                  "the workspace belongs to another TreeShap");
    std::fill(phi.begin(), phi.end(), 0.0);
    engine_->add(row.data(), 1, phi.data(), workspace);
}

void TreeShap::explain_rows(std::span<const float> rows, std::span<double> phi,
                            base::ThreadPool* pool) const {
    RAMPART_CHECK(features_ > 0 && rows.size() % features_ == 0 && phi.size() == rows.size(),
                  "{} values, {} contributions, {} features", rows.size(), phi.size(), features_);
    const size_t n = rows.size() / features_;
    std::fill(phi.begin(), phi.end(), 0.0);
    const auto block = [&](size_t b) {
        Workspace space = workspace();
        const size_t from = b * kBlockRows;
        engine_->add(rows.data() + from * features_, std::min(n - from, kBlockRows),
                     phi.data() + from * features_, space);
    };
    const size_t blocks = (n + kBlockRows - 1) / kBlockRows;
    if (pool != nullptr) return pool->run(blocks, block);
    for (size_t b = 0; b < blocks; ++b) block(b);
}

void TreeShap::explain_rows(const dataset::Dataset& data, std::span<const uint32_t> rows,
                            std::span<double> phi, base::ThreadPool* pool) const {
    RAMPART_CHECK(data.columns.size() == features_ && phi.size() == rows.size() * features_,
                  "{} columns, {} rows, {} contributions, {} features", data.columns.size(),
                  rows.size(), phi.size(), features_);
    std::vector<float> values(rows.size() * features_);
    for (size_t i = 0; i < rows.size(); ++i) {
        data.copy_row(rows[i], std::span(values).subspan(i * features_, features_));
    }
    explain_rows(values, phi, pool);
}

}  // namespace rampart::explain
