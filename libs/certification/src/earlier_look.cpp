#include "earlier_look.hpp"

#include "evidence.hpp"
#include "measure.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/reasons.hpp"
#include "verify.hpp"

namespace rampart::certification {
namespace {

using base::Result;
using base::Status;

std::pair<Pseudonym, Pseudonym> place_of(const VaultRecord& r) { return {r.unit, r.id}; }

/// Returns whether the record says the same as then.
bool same(const GateConfig& config, const VaultRecord& then, const VaultRecord& now,
          Compare compare) {
    if (compare == Compare::kDecisions) {
        return then.p == now.p && then.p_refer == now.p_refer &&
               then.candidate_refer == now.candidate_refer &&
               then.reference_refer == now.reference_refer &&
               then.anchor_refer == now.anchor_refer && then.candidate == now.candidate &&
               then.reference == now.reference && then.anchor == now.anchor &&
               then.groups == now.groups;
    }
    const bool counts = then.has_impact && outcome_expected(config, then);
    // an answer that was missing counted the worst and may have come
    const bool referral =
        then.unanswered() ? now.referral != ope::Referral::kNone : then.referral == now.referral;
    return referral && then.approved == now.approved && then.overridden == now.overridden &&
           (!counts || then.impact == now.impact);  // NaN is not
}

}  // namespace

Result<EarlierLook> earlier_look(const Certificate& certificate, std::string_view evidence) {
    RAMPART_TRY(auto records, read_records(certificate, evidence));
    return EarlierLook{certificate.plan, std::move(records)};
}

Status check_inclusion(const EarlierLook& earlier, const VaultSource& vault, Compare compare) {
    size_t kept = 0;
    auto next = earlier.records.begin();
    const auto end = earlier.records.end();
    RAMPART_RETURN_IF_ERROR(vault.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& now : block) {  // both ascend: one walk along them
            while (next != end && place_of(*next) < place_of(now)) ++next;
            if (next == end || place_of(*next) != place_of(now)) continue;
            kept += same(earlier.plan.config, *next, now, compare);
        }
        return base::ok();
    }));
    if (kept == earlier.records.size()) return base::ok();
    return base::make_error(
        Reason::kEarlierRecordsChanged,
        "{} of the {} records of the look before are gone or not as they were: a further look "
        "needs all of them",
        earlier.records.size() - kept, earlier.records.size());
}

}  // namespace rampart::certification
