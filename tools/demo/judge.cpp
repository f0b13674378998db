#include "tools/demo/judge.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/decision/encode.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::demo {
namespace {

using base::Result;
using base::Status;

constexpr const char* kEverybody = "everybody";

/// An applicant with the true outcome.
struct Person {
    std::vector<float> row;
    std::optional<size_t> cell;
    std::vector<uint32_t> groups;
    std::optional<double> impact;  // impact of an approval; nullopt: not known
    bool vault = false;
    base::TimePoint matured_at;
};

class Judge {
  public:
    Judge(const loan_stream::Stream& stream, const std::vector<domain::Decision>& decisions,
          rampartd::Node& node)
        : stream_(stream),
          decisions_(decisions),
          node_(node),
          product_(node.settings().product),
          catalog_(node.settings().catalog) {}

    Result<Report> report() {
        RAMPART_RETURN_IF_ERROR(read_people());
        report_.stream = stream_.name;
        report_.rows = static_cast<long>(stream_.applicants.size());
        report_.groups = catalog_.groups();
        report_.impact_units = product_.impact.units;
        report_.impact_lo = product_.impact.lo;
        report_.impact_hi = product_.impact.hi;
        for (const auto& recipe : node_.settings().training.recipes)
            report_.learner += (report_.learner.empty() ? "" : ", ") + recipe.learner;
        report_.delta_epoch = node_.settings().training.gate.config.delta_epoch;
        count_months();
        RAMPART_RETURN_IF_ERROR(add_runs());
        RAMPART_RETURN_IF_ERROR(add_policies());
        RAMPART_RETURN_IF_ERROR(add_ledger());
        add_joiner();
        RAMPART_TRY(const auto hash, node_.state_hash());
        report_.state_hash = hash.hex();
        return std::move(report_);
    }

  private:
    Status read_people() {
        for (const auto& applicant : stream_.applicants) {
            Person person;
            const auto& application = applicant.application;
            RAMPART_TRY(person.row,
                        decision::encode_row(application, node_.settings().schema.features()));
            RAMPART_TRY(const auto membership,
                        catalog_.membership({application.person, application.event_time,
                                             applicant.protected_attributes}));
            if (membership.cell) person.cell = *membership.cell;
            person.groups = membership.groups;
            if (applicant.label) {
                person.impact = domain::impact_of_approval(
                    product_.impact, *applicant.label ? 1.0 : 0.0, std::nullopt);
            }
            person.vault = training_set::in_vault(node_.keys().split, application.person);
            person.matured_at = product_.label.maturity(application.event_time);
            people_.push_back(std::move(person));
        }
        return base::ok();
    }

    void count(GroupMonth& month, size_t i) const {
        const auto& decision = decisions_[i];
        const auto& person = people_[i];
        const bool approved = decision.action == domain::Action::kApprove;
        month.applications += 1;
        month.approved += approved ? 1 : 0;
        month.explored += decision.explored ? 1 : 0;
        if (approved && stream_.applicants[i].label) {
            month.approved_known += 1;
            month.defaults += *stream_.applicants[i].label ? 0 : 1;
        }
        if (!approved || person.impact) {
            month.impact_known += 1;
            month.impact += approved ? *person.impact : product_.impact.declined;
        }
    }

    void count_months() {
        for (size_t i = 0; i < decisions_.size(); ++i) {
            const auto name = base::month_of(decisions_[i].application.event_time);
            if (report_.months.empty() || report_.months.back().month != name)
                report_.months.push_back({name, {}, {}});
            auto& month = report_.months.back();
            count(month.by_group[kEverybody], i);
            for (const auto group : people_[i].groups)
                count(month.by_group[catalog_.groups()[group]], i);
            month.decisions_by_policy[decisions_[i].policy.value()] += 1;
        }
    }

    /// Returns the mean of `gain(i)` over all applicants, and over each group, for
    /// applicants with `takes(i)`.
    template <class Takes, class Gain>
    std::map<std::string, double> means(Takes takes, Gain gain) const {
        std::map<std::string, std::pair<double, double>> sums;
        for (size_t i = 0; i < people_.size(); ++i) {
            if (!people_[i].impact || !takes(i)) continue;
            const double value = gain(i);
            const auto add = [&](const std::string& name) {
                auto& [sum, n] = sums[name];
                sum += value;
                n += 1;
            };
            add(kEverybody);
            for (const auto group : people_[i].groups) add(catalog_.groups()[group]);
        }
        std::map<std::string, double> out;
        for (const auto& [name, sum] : sums) out[name] = sum.first / sum.second;
        return out;
    }

    /// Returns the true mean impact per applicant if the policy had decided about all people of the
    /// vault, whose data no learner has used.
    std::map<std::string, double> value_of(const model::Policy& policy) const {
        return means(
            [&](size_t i) {
                return people_[i].vault && (people_[i].cell || !policy.group_aware());
            },
            [&](size_t i) {
                const double p = policy.evaluate(people_[i].row, people_[i].cell).approve;
                return p * *people_[i].impact + (1 - p) * product_.impact.declined;
            });
    }

    /// Returns the mean probability with which the policy would approve the same people.
    std::map<std::string, double> approved_by(const model::Policy& policy) const {
        return means(
            [&](size_t i) {
                return people_[i].vault && (people_[i].cell || !policy.group_aware());
            },
            [&](size_t i) { return policy.evaluate(people_[i].row, people_[i].cell).approve; });
    }

    /// What the candidate truly changed for the people whose records the gate used.
    Result<std::map<std::string, double>> true_gains(const retraining::RunRecord& run) const {
        RAMPART_TRY(const auto candidate,
                    node_.registry().load_model(domain::PolicyId(run.candidate)));
        RAMPART_TRY(const auto reference,
                    node_.registry().load_model(domain::PolicyId(run.reference)));
        const bool by_cell = candidate.policy.group_aware() || reference.policy.group_aware();
        return means(
            [&](size_t i) {
                return people_[i].vault && people_[i].matured_at <= run.at &&
                       (people_[i].cell || !by_cell);
            },
            [&](size_t i) {
                const double change =
                    candidate.policy.evaluate(people_[i].row, people_[i].cell).approve -
                    reference.policy.evaluate(people_[i].row, people_[i].cell).approve;
                return change * (*people_[i].impact - product_.impact.declined);
            });
    }

    Status add_groups(const retraining::RunRecord& run,
                      const certification::Certificate& certificate, GateRun& out) const {
        RAMPART_TRY(const auto gains, true_gains(run));
        const double margin = certificate.plan.config.margin;
        bool right = true, known = true;
        for (size_t g = 0; g < certificate.results.size(); ++g) {
            const auto& result = certificate.results[g];
            const auto& plan = certificate.plan.groups[g];
            GateGroup group;
            group.name = result.name;
            group.units = static_cast<long>(plan.units);
            group.estimate = result.bound.mean_gain;
            group.lower_bound = result.bound.lower_betting;
            group.t_lower_bound = result.bound.lower_t;
            group.log_wealth = result.bound.log_wealth;
            group.log_wealth_needed = std::log(1 / certificate.plan.delta);
            group.passed = result.passed;
            if (const auto it = gains.find(result.name); it != gains.end()) {
                group.true_gain = it->second;
                right = right && it->second >= -margin;
            } else {
                known = false;
            }
            out.groups.push_back(std::move(group));
        }
        if (certificate.verdict == certification::Verdict::kCertified && (known || !right))
            out.right = right;
        return base::ok();
    }

    Status add_certificate(const retraining::RunRecord& run, GateRun& out) const {
        // Not by read_figures(): what people propose to this store later would then be tested on
        // later records only, and a replay of public data has no secret outcomes.
        const auto& registry = node_.registry();
        RAMPART_TRY(const auto names, registry::CertificateNames::read(registry));
        const auto id = names.find(run.certificate);
        // a run that could not be finished has a name and no certificate
        if (!id && id.error().is(registry::Reason::kUnknownCertificate)) return base::ok();
        if (!id) return id.error();
        RAMPART_TRY(const auto file, registry.certificate_file(*id));
        RAMPART_TRY(const auto certificate,
                    certification::read_certificate(file, node_.keys().signing.public_key()));
        out.certificate_file = id->hex() + ".cert";
        if (certificate.results.empty()) return base::ok();
        out.delta = certificate.plan.delta;
        return add_groups(run, certificate, out);
    }

    Status add_runs() {
        RAMPART_TRY(const auto runs, node_.trainer().runs());
        for (const auto& run : runs) {
            GateRun out;
            out.run = static_cast<int>(run.ordinal);
            out.time = base::to_iso8601(run.at);
            out.verdict = certification::to_string(run.verdict);
            out.detail = run.message;
            out.candidate = run.candidate;
            out.reference = run.reference;
            if (!run.certificate.empty()) RAMPART_RETURN_IF_ERROR(add_certificate(run, out));
            if (out.verdict == "CERTIFIED") report_.certificates += 1;
            if (out.right.value_or(false)) report_.certificates_right += 1;
            report_.gate_runs.push_back(std::move(out));
        }
        return base::ok();
    }

    std::string name_of(const std::string& policy) const {
        for (const auto& run : report_.gate_runs) {
            if (run.candidate == policy) return fmt::format("run {}", run.run);
        }
        return "bootstrap";
    }

    Status add_policies() {
        const auto promotions = node_.registry().promotions();
        for (size_t i = 0; i < promotions.size(); ++i) {
            RAMPART_TRY(const auto loaded, node_.registry().load_model(promotions[i].policy));
            PolicyReport policy;
            policy.id = promotions[i].policy.value();
            policy.name = name_of(policy.id);
            policy.certified = promotions[i].certified();
            policy.links = loaded.policy.links().size();
            const auto& provenance = loaded.policy.provenance();
            if (const auto it = provenance.find("learner"); it != provenance.end())
                policy.learner = it->second;
            policy.live_from = base::to_iso8601(i == 0 ? stream_.start : promotions[i].at);
            if (i + 1 < promotions.size()) policy.live_to = base::to_iso8601(promotions[i + 1].at);
            policy.value = value_of(loaded.policy);
            report_.approved_final = approved_by(loaded.policy);
            if (i == 0) report_.approved_first = report_.approved_final;
            report_.policies.push_back(std::move(policy));
        }
        report_.value_first = report_.policies.front().value;
        report_.value_final = report_.policies.back().value;
        report_.final_not_below_first = std::all_of(
            report_.value_first.begin(), report_.value_first.end(), [&](const auto& entry) {
                const auto it = report_.value_final.find(entry.first);
                return it != report_.value_final.end() && it->second >= entry.second;
            });
        return base::ok();
    }

    Status add_ledger() {
        RAMPART_TRY(const auto entries, node_.registry().ledger_entries());
        for (const auto& bytes : entries) {
            RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
            if (const auto* run = std::get_if<certification::Registration>(&entry.body)) {
                report_.ledger.push_back({static_cast<int>(run->epoch), static_cast<int>(run->run),
                                          run->delta,
                                          run->spent_before + (run->look == 0 ? run->delta : 0),
                                          base::to_iso8601(run->at), run->candidate_id, "open",
                                          base::sha256(bytes).hex()});
            } else if (const auto* closing = std::get_if<certification::Closing>(&entry.body)) {
                report_.ledger.back().verdict = certification::to_string(closing->verdict);
            }
        }
        return base::ok();
    }

    void add_joiner() {
        const auto c = node_.joiner().counts();
        report_.joiner = {
            {"decisions", c.decisions},
            {"outcomes", c.outcomes},
            {"duplicate outcomes", c.duplicate_outcomes},
            {"corrections", c.corrections},
            {"late outcomes", c.late_outcomes},
            {"matured", c.matured},
            {"unmatched outcomes", c.unmatched},
            {"overdue (no outcome came)", c.overdue},
            {"quarantined", c.undecodable + c.conflicting_decisions + c.conflicting_outcomes}};
    }

    const loan_stream::Stream& stream_;
    const std::vector<domain::Decision>& decisions_;
    rampartd::Node& node_;
    const domain::Product& product_;
    const protected_attributes::AttributeCatalog& catalog_;
    std::vector<Person> people_;
    Report report_;
};

}  // namespace

Result<Report> judge(const loan_stream::Stream& stream,
                     const std::vector<domain::Decision>& decisions, rampartd::Node& node) {
    return Judge(stream, decisions, node).report();
}

}  // namespace rampart::demo
