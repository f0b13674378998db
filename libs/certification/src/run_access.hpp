#pragma once

#include "rampart/certification/safety_test.hpp"

namespace rampart::certification {

/// The one place that builds a PreparedRun and looks inside it.
struct RunAccess {
    static PreparedRun make() { return PreparedRun(); }
    static RunPlan& plan(PreparedRun& run) { return run.plan_; }
    static ope::LoggedDecisions& vault(PreparedRun& run) { return run.vault_; }
    static std::vector<uint32_t>& source(PreparedRun& run) { return run.source_; }
    static auto& selection_values(PreparedRun& run) { return run.selection_values_; }
    static const auto& selection_values(const PreparedRun& run) { return run.selection_values_; }

    static base::Status check_ticket(const PreparedRun& run, const RunTicket& ticket) {
        const DeltaLedger::RunRequest request = run.request();
        const Registration& r = ticket.registration();
        if (r.plan == request.plan && r.candidate_id == request.candidate_id &&
            r.reference_id == request.reference_id && r.delta == run.plan().delta) {
            return base::ok();
        }
        return base::failed_precondition(
            "wrong_ticket",
            "the ticket is for candidate {} with plan {}, the run is of {} "
            "with plan {}: take a ticket for this run",
            r.candidate_id, r.plan.hex(), request.candidate_id, request.plan.hex());
    }

    /// The caller's impacts in the order of the pseudonyms.
    static base::Result<std::vector<double>> in_vault_order(const PreparedRun& run,
                                                            const std::vector<double>& impact) {
        if (impact.size() != run.source_.size()) {
            return base::invalid_argument("bad_shape", "{} impacts for {} vault records",
                                          impact.size(), run.source_.size());
        }
        std::vector<double> out;
        out.reserve(impact.size());
        for (const uint32_t from : run.source_) out.push_back(impact[from]);
        return out;
    }
};

}  // namespace rampart::certification
