#include "rampart/training/proposal.hpp"

#include <algorithm>
#include <cmath>

#include "gate_objective.hpp"
#include "link_features.hpp"
#include "next_link.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/training/gate_inputs.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using base::Status;
using training_set::DevelopmentSet;

constexpr double kUnchanged = 1e-9;  // rounding of P(approve)

Status check(const ProposalInputs& in) {
    const auto& o = in.options;
    const auto outside = [](const std::optional<double>& x, double hi, bool closed) {
        return x && !(*x > 0 && (closed ? *x <= hi : *x < hi));
    };
    const auto bad = [](std::string_view what, double value, std::string_view allowed) {
        return base::make_error(Reason::kBadProposal, "{} is {}; allowed is {}", what, value,
                                allowed);
    };
    if (outside(o.step, in.recipe.kappa, true)) {
        return bad("the step", *o.step,
                   fmt::format("(0, {}], the trust region of training.kappa", in.recipe.kappa));
    }
    if (outside(o.approve_from, 1, false))
        return bad("approve from P", *o.approve_from, "a probability in (0, 1)");
    if (outside(o.approve_rate, 1, false))
        return bad("the share to approve", *o.approve_rate, "a share in (0, 1)");
    if (o.approve_from && o.approve_rate) {
        return base::make_error(Reason::kBadProposal,
                                "approve from P = {} and the share to approve {} are two operating "
                                "points; give one of them",
                                *o.approve_from, *o.approve_rate);
    }
    if (o.plan_steps > kMaxPlanSteps) {
        return bad("the number of steps to plan", static_cast<double>(o.plan_steps),
                   fmt::format("0 to {}", kMaxPlanSteps));
    }
    if (!in.development.rows.empty()) return base::ok();
    return base::make_error(Reason::kNoDevelopmentRows,
                            "no decision of the development set had matured by {}, so that nothing "
                            "can be said of what the model would change",
                            base::to_iso8601(in.development.as_known_at));
}

/// Returns whether a ramp may be put on the link's score.
bool is_score(const model::LearnedLink& link) {
    return link.members.empty() && link.adjustments.empty() &&
           link.scale.kind == model::ScoreScale::Kind::kLogOdds;
}

/// Returns the P(favourable) from which the link approves by a step of its own; nullopt: it has
/// another rule.
std::optional<double> step_of(const model::LearnedLink& link) {
    const auto& ramp = link.ramp;
    if (!is_score(link) || ramp.gamma != 0 || ramp.group_aware() || !ramp.slopes.empty() ||
        !(link.score_slope > 0))
        return std::nullopt;
    return (ramp.thresholds.front() - link.score_intercept) / link.score_slope;
}

Result<model::Policy> alone(const DevelopmentSet& development, model::LearnedLink link) {
    const bool aware = link.group_aware();
    return model::Policy::create(development.schema, {std::move(link)},
                                 aware ? development.cell_names : std::vector<std::string>(), {});
}

/// Returns what the policy says of every row: its output, or nothing where it needs a cell that the
/// row does not have.
std::vector<std::optional<model::PolicyOutput>> outputs_of(const DevelopmentSet& development,
                                                           const model::Policy& policy) {
    std::vector<std::optional<model::PolicyOutput>> out;
    for (size_t i = 0; i < development.rows.size(); ++i) {
        const auto& cell = development.rows[i].cell;
        if (policy.group_aware() && !cell) {
            out.emplace_back();
            continue;
        }
        out.emplace_back(policy.evaluate(development.features_of(i),
                                         cell ? std::optional<size_t>(*cell) : std::nullopt));
    }
    return out;
}

/// Returns P(approve) of the given rows as the gate compares: without exploration where the day's
/// was spent, and 0 where a rule referred. The policy can decide all of them.
std::vector<double> approvals_on(const DevelopmentSet& development, const model::Policy& policy,
                                 const std::vector<size_t>& rows) {
    const auto outputs = outputs_of(development, policy);
    std::vector<double> out;
    for (const size_t i : rows) {
        const auto& row = development.rows[i];
        const auto& one = *outputs[i];
        out.push_back(row.p_refer == 1 ? 0 : row.exploration_spent ? one.exploit : one.approve);
    }
    return out;
}

/// Forecasts the gate's test of a change on the rows that it reads.
class GateForecast {
  public:
    GateForecast(const ProposalInputs& in, const model::Policy& candidate)
        : in_(in), rows_(gate_rows(in.development, candidate, in.champion)) {
        const auto& config = in.gate.config;
        if (config.at_least || config.max_weight) {
            why_none_ = "gate.at_least and gate.max_weight do not compare record by record";
            return;
        }
        auto feedback = selection_feedback(in.development, candidate, in.champion);
        if (feedback)
            feedback_ = std::move(*feedback);
        else
            why_none_ = feedback.error().message;
    }

    const std::vector<size_t>& rows() const { return rows_; }
    const std::string& why_none() const { return why_none_; }

    /// Returns what is predicted of P(approve) `after`, compared with `before`, both by rows();
    /// nullopt: nothing can be predicted.
    std::optional<candidate_selection::Prediction> of(const std::vector<double>& before,
                                                      const std::vector<double>& after) {
        if (!feedback_) return std::nullopt;
        feedback_->decisions.reference = before;
        const auto objective = objective_of(*feedback_, in_.gate, in_.recipe.selection_power);
        if (!objective) {
            why_none_ = objective.error().message;
            return std::nullopt;
        }
        auto prediction = objective->predict(after);
        if (!std::isnan(prediction.chance)) return prediction;
        why_none_ = "no chance can be computed from so few outcomes";
        return std::nullopt;
    }

  private:
    const ProposalInputs& in_;
    std::vector<size_t> rows_;
    std::optional<ope::LoggedFeedback> feedback_;
    std::string why_none_;
};

/// Returns P(approve) by a link that wants q, around the links before it.
double clipped(double q, double s, double kappa) {
    const double reach = kappa * std::min(s, 1 - s);
    return std::clamp(q, std::max(0.0, s - reach), std::min(1.0, s + reach));
}

std::vector<double> clipped(const std::vector<double>& q, const std::vector<double>& s,
                            double kappa) {
    std::vector<double> out;
    for (size_t i = 0; i < q.size(); ++i) out.push_back(clipped(q[i], s[i], kappa));
    return out;
}

double mean_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return a.empty() ? 0 : sum / static_cast<double>(a.size());
}

/// Makes the next link out of the brought one.
class NextLink {
  public:
    NextLink(const ProposalInputs& in, model::LearnedLink link, const LinksBefore& before,
             std::map<std::string, std::string>& figures)
        : in_(in), link_(std::move(link)), before_(before), figures_(figures) {}

    Result<model::LearnedLink> make() {
        const auto step = step_of(link_);
        const bool asked = in_.options.approve_from || in_.options.approve_rate;
        if (asked && !is_score(link_)) {
            return base::make_error(
                Reason::kNotWithLearner,
                "the model decides by a rule of its own (a mixture, a drawn score or a rule "
                "without "
                "the group), on which no operating point can be put; leave out approve from P and "
                "the share to approve");
        }
        LinkParameters p{0, gamma_of(in_.recipe), in_.recipe.exploration.epsilon,
                         in_.options.step.value_or(in_.recipe.kappa)};
        link_.exploration = {in_.recipe.exploration.mode, p.epsilon};
        link_.exploit_chain = true;
        if (step || asked) {
            RAMPART_TRY(p, on_score(*(step ? step : std::optional(0.5)), p));
        } else {
            figures_["rule"] = "the model's own";
            RAMPART_TRY(p.kappa, step_for_own_rule(p.kappa));
        }
        link_.kappa = p.kappa;
        figures_["step"] = fmt::format("{:.4f}", p.kappa);
        return link_;
    }

  private:
    /// Scales the score to expected impact and puts a ramp on it. `from`: the model's threshold.
    Result<LinkParameters> on_score(double from, LinkParameters p) {
        RAMPART_TRY(const auto map, score_map(in_.development, in_.impact));
        link_.ramp = {};  // thresholds by group go; the score does not depend on them
        link_.strata.reset();
        RAMPART_TRY(const auto policy, alone(in_.development, link_));
        const auto outputs = outputs_of(in_.development, policy);
        const auto value = [&](double x) {
            return std::clamp(map.slope * x + map.intercept, -1.0, 1.0);
        };
        double point = std::abs(from - 0.5) < kUnchanged ? map.break_even() : from;
        if (in_.options.approve_from) point = *in_.options.approve_from;
        if (in_.options.approve_rate) {
            RAMPART_TRY(point, point_of_rate(outputs, *in_.options.approve_rate));
        }
        const double threshold = value(point);
        p.threshold = std::abs(threshold) < kUnchanged ? 0 : threshold;
        figures_["rule"] = fmt::format("a ramp on the score, half approved at P = {:.4f}", point);
        SearchRows rows;
        for (const auto& one : outputs)
            rows.score.push_back(one ? value(one->score) : std::nan(""));
        RAMPART_TRY(p, searched(std::move(rows), p));
        link_.score_slope = map.slope;
        link_.score_intercept = map.intercept;
        link_.ramp = {p.gamma, 0.5, {p.threshold}, {1.0}};
        return p;
    }

    /// Returns the P(favourable) from which on about the given share of first decisions lies.
    Result<double> point_of_rate(const std::vector<std::optional<model::PolicyOutput>>& outputs,
                                 double rate) const {
        std::vector<double> scores;
        for (size_t i = 0; i < outputs.size(); ++i) {
            const auto& row = in_.development.rows[i];
            if (outputs[i] && !row.repeat && row.ordinal < kRecordsPerPerson)
                scores.push_back(outputs[i]->score);
        }
        if (scores.empty()) {
            return base::make_error(Reason::kNoDevelopmentRows,
                                    "the groups of no decision of the development set are known, "
                                    "and the model needs them");
        }
        std::sort(scores.rbegin(), scores.rend());
        const auto wanted =
            static_cast<size_t>(std::lround(rate * static_cast<double>(scores.size())));
        return scores[std::clamp<size_t>(wanted, 1, scores.size()) - 1];
    }

    /// Chooses width and step by the grid, where the recipe searches and something is predicted.
    Result<LinkParameters> searched(SearchRows rows, LinkParameters begin) {
        if (in_.recipe.selection == Selection::kNone) return begin;
        rows.reference = approvals_of(in_.development, in_.champion);
        rows.before = rows.reference;
        if (before_.distilled) {
            RAMPART_TRY(const auto student,
                        model::Policy::create(in_.development.schema, before_.links, {}, {}));
            rows.before = approvals_of(in_.development, student);
        }
        const auto found = search_grid({.development = in_.development,
                                        .rows = rows,
                                        .champion = in_.champion,
                                        .begin = begin,
                                        .exploration = in_.recipe.exploration.mode,
                                        .gate = in_.gate,
                                        .limits = {.power = in_.recipe.selection_power}});
        if (!found) {
            figures_["selection"] = fmt::format("as given: {}", found.error().message);
            return begin;
        }
        figures_["selection"] = fmt::format("grid, {} evaluations", found->evaluations);
        figures_["gamma"] = fmt::format("{:.4f}", found->parameters.gamma);
        return found->parameters;
    }

    /// Takes the step, or half of it, with the higher expected certified gain.
    Result<double> step_for_own_rule(double step) {
        if (in_.recipe.selection == Selection::kNone) return step;
        RAMPART_TRY(const auto policy, alone(in_.development, link_));
        GateForecast forecast(in_, policy);
        const auto champion = approvals_on(in_.development, in_.champion, forecast.rows());
        const auto target = approvals_on(in_.development, policy, forecast.rows());
        const auto expected = [&](double kappa) {
            const auto one = forecast.of(champion, clipped(target, champion, kappa));
            return one ? one->chance * -one->loss : 0;
        };
        const double whole = expected(step), half = expected(step / 2);
        figures_["selection"] = forecast.why_none().empty()
                                    ? "the step or half of it"
                                    : fmt::format("as given: {}", forecast.why_none());
        return half > std::max(0.0, whole) ? step / 2 : step;
    }

    const ProposalInputs& in_;
    model::LearnedLink link_;
    const LinksBefore& before_;
    std::map<std::string, std::string>& figures_;
};

/// Returns what the candidate is made from, for people.
std::map<std::string, std::string> provenance_of(
    const ProposalInputs& in, const std::map<std::string, std::string>& figures) {
    std::map<std::string, std::string> out{
        {"model", in.model_id},
        {"parent", in.champion_id},
        {"as_known_at", base::to_iso8601(in.development.as_known_at)},
        {"development_set", in.development.digest.hex()}};
    for (const auto& [name, value] : figures) out["proposal." + name] = value;
    for (const auto& [name, value] : in.model.provenance()) {
        const auto key = "model." + name;
        if (key.size() <= base::limits::kMaxNameBytes) out[key] = value;
    }
    return out;
}

/// Returns the model's state, but for what is about another table: its split and, with other
/// features, the fair metric.
model::PolicyState state_of(const ProposalInputs& in, bool same_schema) {
    model::PolicyState state = in.model.state();
    state.reasons = {model::ReasonMethod::kShapley, reference_row(in.development)};
    state.training.reset();
    if (!same_schema) state.fair_metric.clear();
    return state;
}

Change change_of(const ProposalInputs& in, GateForecast& forecast,
                 const std::vector<double>& before, const std::vector<double>& after,
                 const std::vector<double>& target) {
    const auto& rows = forecast.rows();
    Change change;
    change.persons = rows.size();
    for (const auto& name : in.development.group_names) change.groups.push_back({.name = name});
    for (size_t k = 0; k < rows.size(); ++k) {
        const double d = after[k] - before[k];
        change.changed += std::abs(d) > kUnchanged;
        change.raised += d > kUnchanged;
        change.largest_change = std::max(change.largest_change, std::abs(d));
        change.approved_before += before[k];
        change.approved_after += after[k];
        for (const uint32_t g : in.development.rows[rows[k]].groups) {
            auto& group = change.groups[g];
            ++group.persons;
            group.approved_before += before[k];
            group.approved_after += after[k];
        }
    }
    const auto per = [](double& sum, size_t n) {
        if (n > 0) sum /= static_cast<double>(n);
    };
    for (double* sum :
         {&change.changed, &change.raised, &change.approved_before, &change.approved_after})
        per(*sum, rows.size());
    change.mean_change = mean_distance(before, after);
    change.distance = mean_distance(after, target);
    const auto prediction = forecast.of(before, after);
    if (prediction) change.chance = prediction->chance;
    for (size_t g = 0; g < change.groups.size(); ++g) {
        auto& group = change.groups[g];
        per(group.approved_before, group.persons);
        per(group.approved_after, group.persons);
        if (prediction) group.chance = prediction->bounds[g].chance;
    }
    change.no_forecast = prediction ? "" : forecast.why_none();
    return change;
}

/// Goes step by step towards the model's own decisions; the first step is `after`.
void plan(const ProposalInputs& in, double kappa, GateForecast& forecast,
          std::vector<double> before, std::vector<double> after, const std::vector<double>& target,
          Proposal& out) {
    while (out.plan.size() < in.options.plan_steps && !out.reached) {
        PlannedStep step;
        for (size_t k = 0; k < after.size(); ++k)
            step.changed += std::abs(after[k] - before[k]) > kUnchanged;
        step.changed /= std::max(1.0, static_cast<double>(after.size()));
        step.mean_change = mean_distance(before, after);
        step.distance = mean_distance(after, target);
        if (const auto prediction = forecast.of(before, after)) step.chance = prediction->chance;
        out.plan.push_back(step);
        out.reached = step.distance <= kReached;
        if (step.mean_change <= kUnchanged) return;
        before = std::move(after);
        after = clipped(target, before, kappa);
    }
}

}  // namespace

Result<Proposal> propose(const ProposalInputs& in) {
    RAMPART_RETURN_IF_ERROR(check(in));
    const DevelopmentSet& development = in.development;
    RAMPART_TRY(auto brought,
                bring(in.model, {development.schema, development.cell_names, in.group_aware}));
    RAMPART_TRY(auto before, links_before(development, in.champion, in.recipe, in.pool));
    std::map<std::string, std::string> figures{{"distilled", before.distilled ? "yes" : "no"}};
    RAMPART_TRY(auto link, NextLink(in, std::move(brought.link), before, figures).make());
    RAMPART_RETURN_IF_ERROR(check_not_retired(link, development));
    RAMPART_TRY(const auto own, alone(development, link));
    const double kappa = link.kappa;
    const bool aware = own.group_aware() || (!before.distilled && in.champion.group_aware());
    auto links = before.links;
    links.emplace_back(std::move(link));
    RAMPART_TRY(auto policy, model::Policy::create(
                                 development.schema, std::move(links),
                                 aware ? development.cell_names : std::vector<std::string>(),
                                 provenance_of(in, figures), state_of(in, brought.same_schema)));
    RAMPART_RETURN_IF_ERROR(decision::check_explained(policy));
    Proposal out{{std::move(policy), std::move(figures), before.distilled}, {}, {}, false};
    GateForecast forecast(in, out.candidate.policy);
    const auto champion = approvals_on(development, in.champion, forecast.rows());
    const auto after = approvals_on(development, out.candidate.policy, forecast.rows());
    const auto target = approvals_on(development, own, forecast.rows());
    out.change = change_of(in, forecast, champion, after, target);
    plan(in, kappa, forecast, champion, after, target, out);
    return out;
}

}  // namespace rampart::training
