#include "rampart/decision/decider.hpp"

#include <bit>

#include "rampart/base/reasons.hpp"
#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/decision/reasons.hpp"

namespace rampart::decision {

using base::Result;
using base::Status;
using domain::Action;
using domain::Decision;

PolicyInForce::PolicyInForce(std::shared_ptr<const model::LoadedPolicy> loaded, bool certified,
                             ReasonCodes reasons)
    : loaded_(std::move(loaded)), certified_(certified), reasons_(std::move(reasons)) {}

Result<std::shared_ptr<const PolicyInForce>> PolicyInForce::create(
    std::shared_ptr<const model::LoadedPolicy> loaded, bool certified) {
    if (!certified && loaded->policy.last_learned() != nullptr) {
        return base::make_error(
            Reason::kUncertifiedPolicy,
            "policy {} is learned and has no certificate; only a bootstrap policy decides without",
            loaded->id);
    }
    RAMPART_TRY(auto reasons, ReasonCodes::create(loaded->policy));
    return std::shared_ptr<const PolicyInForce>(
        new PolicyInForce(std::move(loaded), certified, std::move(reasons)));
}

namespace {

Status check_input(const model::Policy& policy, std::span<const float> row,
                   std::optional<size_t> group) {
    if (row.size() != policy.schema().size()) {
        return base::make_error(Reason::kBadRow, "the row has {} values for {} features",
                                row.size(), policy.schema().size());
    }
    if (!policy.group_aware()) return base::ok();
    if (!group) {
        return base::make_error(Reason::kGroupUnknown,
                                "the policy reads the applicant's group, which is not known");
    }
    if (*group >= policy.group_names().size()) {
        return base::make_error(base::Reason::kBadGroup, "group {} of {}", *group,
                                policy.group_names().size());
    }
    return base::ok();
}

/// What a decision is made from. Without a cool-off it is drawn by its id.
struct Inputs {
    const PolicyInForce& policy;
    const domain::Application& application;
    std::span<const float> row;
    std::optional<size_t> group;
    const DrawKey& key;
    std::optional<CoolOff> cool_off;
    bool explore_allowed;
    base::TimePoint now;
};

Result<Decision> decide_from(const Inputs& in) {
    const auto& [policy, application, row, group, key, cool_off, explore_allowed, now] = in;
    RAMPART_RETURN_IF_ERROR(check_input(policy.policy(), row, group));
    const auto output = policy.policy().evaluate(row, group);
    Decision decision;
    decision.id = domain::decision_id_of(application.id);
    decision.application = application;
    decision.decided_at = now;
    decision.policy = policy.id();
    decision.certified = policy.certified();
    decision.score = output.score;
    decision.p_exploit = output.exploit;
    decision.p_approve = explore_allowed ? output.approve : output.exploit;
    decision.draw_key_id = key.id;
    if (cool_off) {
        decision.draw_window = draw_window(key, application.person, *cool_off, now);
        decision.draw = window_draw(key, application.person, *decision.draw_window);
    } else {
        decision.draw = draw_by_id(key, decision.id);
    }
    if (policy.policy().draws_score()) {
        decision.score = model::drawn_score(policy.policy().scores(row, group), decision.draw);
    }
    decision.exploration_spent = !explore_allowed;
    decision.action = domain::drawn_action(decision.draw, decision.p_approve, decision.p_refer);
    decision.propensity =
        domain::probability_of(decision.action, decision.p_approve, decision.p_refer);
    const bool approved = decision.action == Action::kApprove;
    decision.explored = approved && decision.draw >= decision.p_exploit;
    if (decision.action == Action::kDecline)
        decision.reasons = chance_codes(output, decision.p_approve, decision.draw);
    return decision;
}

}  // namespace

Result<Decision> decide(const PolicyInForce& policy, const domain::Application& application,
                        std::span<const float> row, std::optional<size_t> group, const DrawKey& key,
                        const CoolOff& cool_off, bool explore_allowed, base::TimePoint now) {
    return decide_from({policy, application, row, group, key, cool_off, explore_allowed, now});
}

void refer_to_people(Decision& decision) {
    decision.p_approve = 0;
    decision.p_refer = 1;
    decision.action = Action::kRefer;
    decision.propensity = domain::probability_of(Action::kRefer, 0, 1);
    decision.explored = decision.exploration_spent = false;
    decision.reasons.clear();
}

namespace {

/// Whether people decided about all when it was made.
bool was_referred_to_people(const Decision& decision) {
    return decision.p_approve == 0 && decision.p_refer == 1;
}

bool same_bits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

base::Error mismatch(const Decision& decision, std::string_view field, double recorded,
                     double replayed) {
    return base::make_error(Reason::kReplayMismatch,
                            "decision {}: {} is recorded as {} and replays as {}", decision.id,
                            field, recorded, replayed);
}

}  // namespace

Status replay(const Decision& decision, const PolicyInForce& policy, const DrawKey& key,
              std::optional<size_t> group, const dataset::ServedSchema& served) {
    if (decision.policy != policy.id()) {
        return base::make_error(base::Reason::kOtherPolicy,
                                "decision {} was made by policy {}, not {}", decision.id,
                                decision.policy, policy.id());
    }
    if (decision.draw_key_id != key.id) {
        return base::make_error(base::Reason::kOtherKey,
                                "decision {} was drawn with key {}, not {}", decision.id,
                                decision.draw_key_id, key.id);
    }
    RAMPART_TRY(const auto row, encode_row(decision.application, policy.policy().schema(), served));
    RAMPART_RETURN_IF_ERROR(check_input(policy.policy(), row, group));
    const auto output = policy.policy().evaluate(row, group);
    const bool explored =
        !decision.exploration_spent && same_bits(decision.p_approve, output.approve);
    std::optional<CoolOff> cool_off;
    if (const auto& window = decision.draw_window) {
        cool_off = CoolOff{window->product, window->cool_off_days};
    }
    RAMPART_TRY(Decision again, decide_from({policy, decision.application, row, group, key,
                                             cool_off, explored, decision.decided_at}));
    again.exploration_spent = decision.exploration_spent;  // earlier releases did not say so
    again.arm = decision.arm;                              // which policy, not what it decided
    again.request_id = decision.request_id;                // who asked, not what was decided
    if (was_referred_to_people(decision)) refer_to_people(again);
    if (again.action == Action::kDecline && names_features(decision.reasons))
        again.reasons = policy.reasons().explain(row, output, again.p_approve, again.draw);
    const struct {
        std::string_view field;
        double recorded, replayed;
    } numbers[] = {
        {"score", decision.score, again.score},
        {"p_exploit", decision.p_exploit, again.p_exploit},
        {"p_approve", decision.p_approve, again.p_approve},
        {"p_refer", decision.p_refer, again.p_refer},
        {"draw", decision.draw, again.draw},
        {"propensity", decision.propensity, again.propensity},
    };
    for (const auto& [field, recorded, replayed] : numbers) {
        if (!same_bits(recorded, replayed)) return mismatch(decision, field, recorded, replayed);
    }
    // the rest: id, window, action, explored, reasons, certified
    if (again != decision) {
        return base::make_error(
            Reason::kReplayMismatch,
            "decision {}: id, window, action, reasons or flags replay differently", decision.id);
    }
    return base::ok();
}

}  // namespace rampart::decision
