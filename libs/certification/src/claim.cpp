#include "rampart/base/digest.hpp"
#include "rampart/base/significant.hpp"
#include "wording.hpp"

namespace rampart::certification {
namespace {

using base::Toward;

/// How a claim writes numbers and names: rounded, so that no more is claimed than was proven, and
/// digests by their first digits. Older certificates have all digits.
class Words {
  public:
    explicit Words(const Certificate& c) : all_digits_(!c.figures) {}

    std::string number(double x, Toward weaker) const {
        return all_digits_ ? fmt::format("{}", x) : base::significant(x, 4, weaker);
    }
    std::string confidence(double delta) const {
        return all_digits_ ? fmt::format("1 - {}", delta)
                           : fmt::format("{} %", number(100 * (1 - delta), Toward::kDown));
    }
    std::string id(const std::string& id) const {
        const bool digest = id.size() == 64 && base::from_hex(id);
        return digest && !all_digits_ ? id.substr(0, 12) : id;
    }

  private:
    bool all_digits_;
};

std::string group_names(const RunPlan& plan) {
    std::string names;
    for (const GroupPlan& group : plan.groups) {
        if (group.against == Against::kAnchor) continue;
        if (!names.empty()) names += ", ";
        names += group.name;
    }
    return names;
}

std::string better_than(const GateConfig& config, const Words& words) {
    const std::string units = config.impact_units.empty() ? "units" : config.impact_units;
    if (config.margin == 0) return "no lower than";
    if (config.margin > 0)
        return fmt::format("lower by less than {} {} than",
                           words.number(config.margin, Toward::kUp), units);
    return fmt::format("higher by more than {} {} than",
                       words.number(-config.margin, Toward::kDown), units);
}

/// Returns the error probability of the claim. A candidate that was made from answers has the
/// epoch's: its own charge is that of one history among many. Older certificates name the charge.
double confidence_of(const RunPlan& plan) {
    return plan.config.records_per_person > 0 ? plan.config.delta_epoch : plan.delta;
}

/// Returns the records that are counted at the worst, by their reasons; empty: there are none.
std::string set_aside(const RunPlan& plan) {
    std::vector<std::string> parts;
    const auto add = [&](size_t records, std::string_view of) {
        if (records > 0) parts.push_back(fmt::format("{} {}", records, of));
    };
    add(plan.erased - plan.unexplained - plan.unreadable, "of erased persons");
    add(plan.unexplained, "of another schema file");
    add(plan.unreadable, "that cannot be read");
    if (parts.empty()) return "";
    return fmt::format(" and {}, counted at the worst,", fmt::join(parts, " and "));
}

/// Returns what is claimed besides the groups' tests.
std::string constraints_of(const RunPlan& plan) {
    const bool people = plan.config.records_per_person > 0 && !of_population(plan);
    std::string out;
    for (const ConstraintPlan& constraint : plan.constraint_plans) {
        out += !out.empty() ? "; "
               : people     ? ", and over these people, on average, the constraints hold: "
                            : ", and over people like these, on average, the constraints hold: ";
        out += fmt::format("{} ({})", constraint.name, constraint.expression);
    }
    return out;
}

std::string run_of(const LedgerReference& l, const Words& words) {
    return fmt::format("run {} of {} in epoch {}, error budget {}{}", l.registration.run,
                       l.epoch.runs, l.epoch.epoch, words.number(l.epoch.delta_epoch, Toward::kUp),
                       l.registration.look == 0
                           ? ""
                           : fmt::format(", look {} with the same bets", l.registration.look + 1));
}

}  // namespace

bool of_population(const RunPlan& plan) {
    return plan.config.records_per_person > 0 && plan.identity.read_before == 0;
}

std::string claim_of(const Certificate& c) {
    const RunIdentity& id = c.plan.identity;
    const Words words(c);
    if (!c.ledger) {
        return fmt::format("Nothing is claimed of candidate {}: no test was run ({}).",
                           id.candidate_id, c.message);
    }
    const std::string candidate = words.id(id.candidate_id), run = run_of(*c.ledger, words);
    if (c.verdict != Verdict::kCertified) {
        return fmt::format(
            "Nothing is claimed of candidate {}: at least one group{} did not pass ({}).",
            candidate, c.plan.constraint_plans.empty() ? "" : " or constraint", run);
    }
    const std::string better = better_than(c.plan.config, words);
    return fmt::format(
        "With confidence {} ({}), in each of the groups {} the average impact that candidate {} "
        "would have had on the {} vault decisions{} from {} to {} is {} {}{}{}{}.",
        words.confidence(confidence_of(c.plan)), run, group_names(c.plan), candidate,
        c.evidence_records, set_aside(c.plan), base::to_iso8601(id.period_from),
        base::to_iso8601(id.period_to), better,
        c.plan.config.at_least ? words.number(*c.plan.config.at_least, Toward::kDown)
                               : fmt::format("that of reference {}", words.id(id.reference_id)),
        id.anchor_id.empty()
            ? ""
            : fmt::format(", and {} that of anchor {}", better, words.id(id.anchor_id)),
        of_population(c.plan)
            ? ", and so it is on average over the population that these persons were drawn from"
            : "",
        constraints_of(c.plan));
}

}  // namespace rampart::certification
