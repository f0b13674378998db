#include "row_details.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv_writer.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/model/leaf_of.hpp"

namespace rampart::evaluation {

base::Result<RowDetails> RowDetails::create(const model::Policy& policy,
                                            const ScoreOptions& options) {
    RowDetails details;
    details.d_ = policy.schema().size();
    const auto* link = policy.last_learned();
    if (link == nullptr && (options.leaves || options.contributions))
        return base::make_error(Reason::kNothingLearned,
                                "the policy has no learned model, and so neither leaves nor "
                                "contributions");
    if (options.leaves) {
        details.leaves_ = &link->ensemble;
        for (size_t t = 1; t <= link->ensemble.trees.size(); ++t)
            details.names_.push_back(fmt::format("leaf_{}", t));
    }
    if (options.contributions) {
        RAMPART_TRY(details.shap_, explain::TreeShap::path_dependent(link->ensemble, details.d_));
        details.names_.push_back("contribution_base");
        for (const auto& feature : policy.schema().features())
            details.names_.push_back("contribution_" + feature.name);
    }
    if (options.reasons) {
        if (!options.draw_seed)
            return base::make_error(base::Reason::kBadUsage,
                                    "reasons are those of a decline, which a draw seed decides on");
        RAMPART_TRY(details.reasons_, decision::ReasonCodes::create(policy));
        details.names_.push_back("reasons");
    }
    return details;
}

void RowDetails::take(const dataset::RowBlock& block, base::ThreadPool* pool) {
    if (!any()) return;
    const size_t n = block.rows();
    rows_.resize(n * d_);
    for (size_t f = 0; f < d_; ++f)
        for (size_t r = 0; r < n; ++r) rows_[r * d_ + f] = block.columns[f][r];
    if (!shap_) return;
    contributions_.resize(n * d_);
    shap_->explain_rows(rows_, contributions_, pool);
}

void RowDetails::add(std::string& line, size_t r, const model::PolicyOutput& output,
                     domain::Action action, double draw) const {
    const auto to = std::back_inserter(line);
    if (leaves_ != nullptr)
        for (const auto& tree : leaves_->trees)
            fmt::format_to(to, ",{}", model::leaf_of(tree, row(r)));
    if (shap_) {
        fmt::format_to(to, ",{}", shap_->base_value());
        for (size_t f = 0; f < d_; ++f) fmt::format_to(to, ",{}", contributions_[r * d_ + f]);
    }
    if (!reasons_) return;
    line += ',';
    if (action != domain::Action::kDecline) return;
    const auto codes = reasons_->explain(row(r), output, output.approve, draw);
    dataset::append_cell(line, fmt::format("{}", fmt::join(codes, " ")));
}

}  // namespace rampart::evaluation
