#include "referrals.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

template <class... Args>
PublicResult refused(base::AnyReason reason, fmt::format_string<Args...> format, Args&&... args) {
    return {Verdict::kRefused, std::string(reason->word),
            fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace

void DrawWealth::add(const VaultRecord& r) {
    approvals.add(r.p, r.approved);
    referrals.add(r.p_refer, r.referral != ope::Referral::kNone);
}

double DrawWealth::log_wealth(const GateConfig& config) const {
    const double a = approvals.log_wealth();
    if (!config.referrals) return a;
    const double r = referrals.log_wealth(), most = std::max(a, r);
    return most + std::log((std::exp(a - most) + std::exp(r - most)) / 2);
}

void ReferralCheck::add(double p_refer, std::initializer_list<double> policies) {
    const auto refers = [](double p) { return p > 0; };
    if (p_refer == 1) {
        by_rule_ += std::any_of(policies.begin(), policies.end(), [](double p) { return p != 1; });
    } else if (!config_->referrals) {
        undeclared_ += p_refer > 0 || std::any_of(policies.begin(), policies.end(), refers);
    }
}

std::optional<PublicResult> ReferralCheck::fault() const {
    if (by_rule_ > 0) {
        return refused(Reason::kReferralByRule,
                       "on {} records a rule referred (probability 1), and candidate, reference or "
                       "anchor would not: rules stand before the policies, so they must refer "
                       "there, too",
                       by_rule_);
    }
    if (undeclared_ == 0) return std::nullopt;
    return refused(Reason::kReferralsNotDeclared,
                   "on {} records the log or a policy refers with a probability below 1: set "
                   "gate.referrals = true, so that ranges and the test of logged probabilities "
                   "allow for it",
                   undeclared_);
}

std::optional<PublicResult> referral_fault(const GateConfig& config,
                                           const ope::LoggedDecisions& d) {
    ReferralCheck check(config);
    for (size_t i = 0; i < d.referred.size(); ++i) {
        check.add(d.p_refer[i], {d.candidate_refer[i], d.reference_refer[i],
                                 d.anchor.empty() ? d.reference_refer[i] : d.anchor_refer[i]});
    }
    return check.fault();
}

}  // namespace rampart::certification
