#include "rampart/certification/ledger_view.hpp"

#include <algorithm>
#include <variant>

namespace rampart::certification {
namespace {

bool is_about(const LedgerView::Run& run, const PolicyPair& pair) {
    return run.registration.candidate_id == pair.candidate &&
           run.registration.reference_id == pair.reference;
}

/// Returns whether the run was closed with an answer, and not because it could not be continued.
bool is_answered(const LedgerView::Run& run) {
    return run.closing &&
           (!run.closing->certificate.empty() || run.closing->note.starts_with(kEndedByOutcomes));
}

}  // namespace

std::string certificate_name(const Registration& run) {
    return run.look == 0 ? fmt::format("e{}r{}", run.epoch, run.run)
                         : fmt::format("e{}r{}l{}", run.epoch, run.run, run.look);
}

base::Result<LedgerView> LedgerView::of(const DeltaLedger& ledger) {
    LedgerView view;
    view.epoch_ = ledger.epoch();
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(auto entry, decode_ledger_entry(bytes));
        if (auto* registration = std::get_if<Registration>(&entry.body))
            view.runs_.push_back({std::move(*registration), std::nullopt});
        // the ledger has one open run at a time, so that a closing is the last registration's
        if (auto* closing = std::get_if<Closing>(&entry.body))
            view.runs_.back().closing = std::move(*closing);
    }
    return view;
}

std::optional<base::TimePoint> LedgerView::epoch_start() const {
    std::optional<base::TimePoint> last;
    for (const Run& run : runs_) {
        if (run.registration.epoch < epoch_)
            last = std::max(last.value_or(run.registration.at), run.registration.at);
    }
    return last;
}

std::optional<std::string_view> LedgerView::anchor() const {
    for (const Run& run : runs_) {
        if (run.registration.epoch == epoch_) return run.registration.reference_id;
    }
    return std::nullopt;
}

std::optional<std::string_view> LedgerView::plan_of(const PolicyPair& pair) const {
    // an open look continues the one before it; an open first look continues none
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
        if (run->registration.epoch != epoch_) return std::nullopt;
        if (!is_about(*run, pair)) continue;
        if (run->closing) {
            const bool usable = run->closing->verdict == Verdict::kNoSolutionFound &&
                                !run->closing->certificate.empty();
            return usable ? std::optional<std::string_view>(run->closing->certificate)
                          : std::nullopt;
        }
        if (run->registration.look == 0) return std::nullopt;
    }
    return std::nullopt;
}

const LedgerView::Run* LedgerView::answered_run(const PolicyPair& pair, base::TimePoint at,
                                                uint32_t first_epoch) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) {
        return is_about(run, pair) && run.registration.at == at &&
               run.registration.epoch >= first_epoch && is_answered(run);
    });
    return found == runs_.end() ? nullptr : &*found;
}

std::optional<std::string_view> LedgerView::certificate_named(std::string_view name) const {
    for (const Run& run : runs_) {
        const bool has_one = run.closing && !run.closing->certificate.empty();
        if (has_one && certificate_name(run.registration) == name) return run.closing->certificate;
    }
    return std::nullopt;
}

const LedgerView::Run* LedgerView::closed_with(std::string_view certificate) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) {
        return run.closing && !certificate.empty() && run.closing->certificate == certificate;
    });
    return found == runs_.end() ? nullptr : &*found;
}

std::optional<std::string> LedgerView::name_of(std::string_view certificate) const {
    const Run* run = closed_with(certificate);
    return run ? std::optional(certificate_name(run->registration)) : std::nullopt;
}

}  // namespace rampart::certification
