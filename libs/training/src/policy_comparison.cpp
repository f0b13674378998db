#include "rampart/training/policy_comparison.hpp"

#include <algorithm>

#include "control_variates.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::training {
namespace {

using training_set::DevelopmentSet;

std::optional<size_t> cell_of(const training_set::Row& row) {
    return row.cell ? std::optional<size_t>(*row.cell) : std::nullopt;
}

/// Counts the rows that are not compared.
void count_left_out(const DevelopmentSet& set, const PolicyPair& pair, LoggedComparison& out) {
    const bool needs_cell = pair.first.group_aware() || pair.second.group_aware();
    for (const auto& row : set.rows) {
        if (row.repeat)
            ++out.repeats;
        else if (row.ordinal >= kRecordsPerPerson)
            ++out.later;
        else if (needs_cell && !row.cell)
            ++out.undecidable;
    }
    out.stopped = set.omitted_as(training_set::Omission::kStopped);
    out.unexplained = set.unexplained.decisions;
}

/// Adds control variates, or says why there are none.
base::Status add_regression(const DevelopmentSet& set, const PolicyPair& pair,
                            const certification::GateConfig& config, ope::LoggedFeedback& feedback,
                            LoggedComparison& out) {
    auto variates = development_control_variates(set, pair.second, pair.first, config, feedback);
    if (variates) {
        feedback.decisions.control_variates = *std::move(variates);
        out.doubly_robust = true;
        return base::ok();
    }
    if (!variates.error().is(ope::Reason::kTooFewRows)) return variates.error();
    out.no_regression = variates.error().message;
    return base::ok();
}

}  // namespace

DevelopmentSet applied_before(DevelopmentSet set, base::TimePoint end) {
    const size_t width = set.schema.size();
    size_t kept = 0;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        if (set.rows[i].event_time >= end) continue;
        if (kept < i) {
            set.rows[kept] = std::move(set.rows[i]);
            std::copy_n(set.features.begin() + static_cast<ptrdiff_t>(i * width), width,
                        set.features.begin() + static_cast<ptrdiff_t>(kept * width));
        }
        ++kept;
    }
    set.rows.resize(kept);
    set.features.resize(kept * width);
    const auto later = [&](const auto& one) { return one.event_time >= end; };
    std::erase_if(set.omitted, later);
    std::erase_if(set.set_aside, later);
    set.repeats = training_set::number_records(set.rows, set.set_aside);
    return set;
}

base::Result<LoggedComparison> compare_policies(const DevelopmentSet& development,
                                                const PolicyPair& pair,
                                                const certification::GateConfig& config,
                                                double confidence,
                                                const dataset::ServedSchema* served) {
    const dataset::ServedSchema plain(development.schema);
    for (const auto* policy : {&pair.first, &pair.second})
        RAMPART_RETURN_IF_ERROR(
            check_fits(*policy, served != nullptr ? *served : plain, development.cell_names, true));
    LoggedComparison out;
    count_left_out(development, pair, out);
    const auto rows = gate_rows(development, pair.second, pair.first);
    if (rows.empty())
        return base::make_error(base::Reason::kNoRows,
                                "no decision about a development person is left to compare on");
    RAMPART_TRY(auto feedback, selection_feedback(development, pair.second, pair.first));
    RAMPART_RETURN_IF_ERROR(add_regression(development, pair, config, feedback, out));
    // a declared rule has no score
    out.bands_by_second = pair.first.last_learned() == nullptr;
    const auto& scorer = out.bands_by_second ? pair.second : pair.first;
    std::vector<double> score;
    for (const size_t i : rows) {
        const auto& row = development.rows[i];
        score.push_back(scorer.evaluate(development.features_of(i), cell_of(row)).score);
        out.decided_before += pair.registered && row.decided_at < *pair.registered;
    }
    ope::ImpactModel model;
    model.lo = config.impact_lo;
    model.hi = config.impact_hi;
    model.declined = config.declined_impact;
    model.declines_overridden = config.declines_overridden;
    RAMPART_TRY(out.found, ope::compare_policies({feedback, score, model, confidence}));
    return out;
}

}  // namespace rampart::training
