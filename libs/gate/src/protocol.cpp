#include "rampart/gate/protocol.hpp"

#include <algorithm>

#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/ledger_view.hpp"

namespace rampart::gate {

using base::Result;
using base::Status;
using base::TimePoint;
using certification::DeltaLedger;

Result<DeltaLedger> Protocol::read_ledger() const {
    RAMPART_TRY(const auto entries, store_.ledger_entries());
    return DeltaLedger::open(entries);
}

/// Stores the entry and, in the same write, the epoch in front of it that is not stored yet.
Status Protocol::write_entry(DeltaLedger& ledger, const std::string& entry, TimePoint t) const {
    RAMPART_TRY(const auto stored, store_.ledger_entries());
    std::vector<std::string> added(
        ledger.entries().begin() +
            static_cast<ptrdiff_t>(std::min(stored.size(), ledger.entries().size())),
        ledger.entries().end());
    const size_t position = ledger.entries().size() - added.size();
    added.push_back(entry);
    RAMPART_RETURN_IF_ERROR(store_.append_ledger_entries(position, added, t));
    return ledger.append(entry);
}

Status Protocol::abandon_open_run(DeltaLedger& ledger, std::string_view why, TimePoint t) const {
    RAMPART_TRY(const auto closing, ledger.next_closing(certification::Verdict::kNoSolutionFound,
                                                        "", std::string(why), t));
    return write_entry(ledger, closing, t);
}

Result<Answer> Protocol::refuse(const TestInputs& inputs, const certification::PublicResult& result,
                                TimePoint t) const {
    // who applies again may follow from what was drawn, and a refusal may be read by everyone
    auto identity = inputs.identity;
    certification::forget_counts(identity);
    RAMPART_TRY(const auto files,
                certification::seal_refusal(inputs.config, identity, result, t, signing_key_));
    RAMPART_TRY(const auto id, store_.store_certificate(files, t));
    return Answer{result, id.hex(), id.hex()};
}

/// Closes the open run with its certificate where a crash came between the two; nullopt: no run is
/// open, or no certificate of it is stored. By whatever settings and software it would be tested
/// now: a verdict that is signed is the run's.
Result<std::optional<Answer>> Protocol::close_with_stored(DeltaLedger& ledger, TimePoint t) const {
    if (!ledger.open_run()) return std::optional<Answer>();
    const auto run = *ledger.open_run();
    const auto entry = base::sha256(ledger.open_entry());
    RAMPART_TRY(const auto ids, store_.certificate_ids(run.candidate_id, run.reference_id));
    for (const auto& id : ids) {
        RAMPART_TRY(const auto file, store_.certificate_file(id));
        const auto read = certification::read_certificate(file, signing_key_.public_key());
        if (!read || !read->ledger || read->ledger->entry != entry) continue;
        RAMPART_TRY(const auto evidence, store_.evidence_file(id));
        RAMPART_RETURN_IF_ERROR(store_.store_certificate({file, evidence}, t));
        RAMPART_TRY(const auto closing, ledger.next_closing(read->verdict, id.hex(), "", t));
        RAMPART_RETURN_IF_ERROR(write_entry(ledger, closing, t));
        return std::optional(
            Answer{{read->verdict, "", ""}, id.hex(), certification::certificate_name(run)});
    }
    return std::optional<Answer>();
}

/// Returns the time by the machine's clock, but not before that of the charge; nullopt where the
/// charge has none.
std::optional<TimePoint> Protocol::issue_time(const certification::RunTicket& ticket) const {
    const auto charged = ticket.registration().wall_clock;
    if (!charged || wall_clock_ == nullptr) return charged;
    return std::max(*charged, wall_clock_->now());
}

/// Stores the charge of a run, with the ends of the decision log as it is now.
Status Protocol::charge(const DeltaLedger::RunRequest& request, DeltaLedger& ledger,
                        TimePoint t) const {
    const auto now = wall_clock_ ? std::optional(wall_clock_->now()) : std::nullopt;
    std::vector<certification::LogEnd> log;
    if (log_ends_) {
        RAMPART_TRY(log, log_ends_(ledger.log()));
    }
    RAMPART_TRY(const auto entry, ledger.next_registration(request, t, now, std::move(log)));
    return write_entry(ledger, entry, t);
}

/// Charges the run, unless it is charged already, reads the vault's impacts, tests, and closes.
Result<Answer> Protocol::run_test(const certification::PreparedRun& prepared,
                                  const TestInputs& inputs, const ReadOutcomes& read_outcomes,
                                  DeltaLedger& ledger, TimePoint t) const {
    const auto request = prepared.request();
    if (!ledger.open_run()) RAMPART_RETURN_IF_ERROR(charge(request, ledger, t));
    RAMPART_TRY(const auto ticket, ledger.ticket(request));
    const auto name = certification::certificate_name(ticket.registration());
    // only now, with the charge on the disk
    const auto outcomes = read_outcomes(ticket);
    const auto sealed = certification::run(prepared, ticket, outcomes.impact, outcomes.label);
    if (!sealed) {
        if (!training::is_about_data(sealed.error())) return sealed.error();
        // why is in the ledger: it depends on the vault, so that an answer may not have it
        const auto why =
            fmt::format("{}{}", certification::kEndedByOutcomes, sealed.error().message);
        RAMPART_RETURN_IF_ERROR(abandon_open_run(ledger, why, t));
        return Answer{{certification::Verdict::kNoSolutionFound, "", ""}, "", name};
    }
    RAMPART_TRY(const auto files,
                certification::seal(prepared,
                                    {ticket, *sealed, t, t, signing_key_, issue_time(ticket),
                                     inputs.identity.software},
                                    outcomes.impact, outcomes.label));
    RAMPART_TRY(const auto id, store_.store_certificate(files, t));
    RAMPART_TRY(const auto closing, ledger.next_closing(sealed->verdict, id.hex(), "", t));
    RAMPART_RETURN_IF_ERROR(write_entry(ledger, closing, t));
    return Answer{sealed->published(), id.hex(), name};
}

/// Returns the precheck of a run that `software` registers, or has registered.
Result<certification::PrecheckResult> Protocol::check(const TestInputs& inputs,
                                                      const std::string& software,
                                                      const DeltaLedger& ledger) const {
    auto identity = inputs.identity;
    identity.software = software;
    return certification::precheck({inputs.config, identity, ledger, evidence_key_,
                                    inputs.selection, inputs.earlier ? &*inputs.earlier : nullptr},
                                   inputs.decisions);
}

Result<Answer> Protocol::test(const TestInputs& inputs, const ReadOutcomes& outcomes,
                              DeltaLedger& ledger, TimePoint t, bool asked_for_epoch) const {
    const std::string& present = inputs.identity.software;
    RAMPART_TRY(auto checked, check(inputs, present, ledger));
    const auto is_open_run = [&] {
        return checked.prepared && ledger.ticket(checked.prepared->request()).has_value();
    };
    const auto open = ledger.open_run();
    if (open && !is_open_run() && !open->software.empty() && open->software != present) {
        // this program may be another one than that of the charge, and come to the same plan
        RAMPART_TRY(checked, check(inputs, open->software, ledger));
    }
    const bool same =
        open &&
        (is_open_run() || (open->candidate_id == inputs.identity.candidate_id &&
                           open->reference_id == inputs.identity.reference_id && open->at == t));
    RAMPART_TRY(auto closed, close_with_stored(ledger, t));
    if (closed && same) return std::move(*closed);
    if (closed) {
        RAMPART_TRY(checked, check(inputs, present, ledger));
    }
    if (ledger.open_run() && !is_open_run()) {
        // A run that crashed and can't be finished as it was registered. Its charge stays; this one
        // is a new run.
        RAMPART_RETURN_IF_ERROR(abandon_open_run(
            ledger, "abandoned: settings or data are not those it was registered for", t));
        RAMPART_TRY(checked, check(inputs, present, ledger));
    }
    if (!checked.prepared) {
        if (asked_for_epoch) checked.result.message += "; no new epoch was opened";
        return refuse(inputs, checked.result, t);
    }
    return run_test(*checked.prepared, inputs, outcomes, ledger, t);
}

}  // namespace rampart::gate
