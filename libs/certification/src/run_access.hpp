#pragma once

#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {

/// Access to the private parts of a PreparedRun, for its construction and tests.
struct RunAccess {
    static PreparedRun make() { return PreparedRun(); }
    static RunPlan& plan(PreparedRun& run) { return run.plan_; }
    static std::optional<MemoryVault>& vault(PreparedRun& run) { return run.vault_; }
    static std::optional<EarlierLook>& earlier(PreparedRun& run) { return run.earlier_; }
    static const std::optional<EarlierLook>& earlier(const PreparedRun& run) {
        return run.earlier_;
    }
    static std::vector<GroupForecast>& constraint_forecast(PreparedRun& run) {
        return run.constraint_forecast_;
    }
    static const std::vector<GroupForecast>& constraint_forecast(const PreparedRun& run) {
        return run.constraint_forecast_;
    }
    static auto& selection_values(PreparedRun& run) { return run.selection_values_; }
    static const auto& selection_values(const PreparedRun& run) { return run.selection_values_; }

    static base::Status check_ticket(const PreparedRun& run, const RunTicket& ticket) {
        const DeltaLedger::RunRequest request = run.request();
        const Registration& r = ticket.registration();
        if (r.plan == request.plan && r.candidate_id == request.candidate_id &&
            r.reference_id == request.reference_id && r.delta == run.plan().delta) {
            return base::ok();
        }
        return base::make_error(Reason::kWrongTicket,
                                "the ticket is for candidate {} with plan {}, the run is of {} "
                                "with plan {}: take a ticket for this run",
                                r.candidate_id, r.plan.hex(), request.candidate_id,
                                request.plan.hex());
    }

    /// Returns the vault that precheck was given in memory, with its outcomes.
    static base::Result<MemoryVault> feedback(const PreparedRun& run,
                                              std::span<const double> impact,
                                              std::span<const double> label) {
        if (run.vault_) return run.vault_->with_impacts(impact, label);
        return base::make_error(
            Reason::kNotInMemory,
            "the vault was not checked in memory: give its feedback as a source");
    }
};

}  // namespace rampart::certification
