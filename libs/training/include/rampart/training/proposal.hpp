#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training/brought_model.hpp"
#include "rampart/training/candidate.hpp"
#include "rampart/training/parameter_search.hpp"
#include "rampart/training/recipe.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Where and how far a brought model is to change decisions.
struct ProposalOptions {
    std::optional<double> step{};          // largest kappa, in (0, recipe.kappa]; nullopt: that
    std::optional<double> approve_from{};  // P(favourable) from which to approve, in (0, 1)
    std::optional<double> approve_rate{};  // share of the applicants to approve, in (0, 1)
    size_t plan_steps = 0;                 // steps to plan, 0 … kMaxPlanSteps; 0: no plan
};
inline constexpr size_t kMaxPlanSteps = 32;
/// Mean |P - P(model)| from which on the model's own decisions count as reached.
inline constexpr double kReached = 0.01;

/// What a proposal is made from.
struct ProposalInputs {
    const training_set::DevelopmentSet& development;
    const domain::Impact& impact;
    const model::Policy& champion;  // the policy in charge
    std::string champion_id;
    const model::Policy& model;  // as `rampart train`, `import` or `postprocess` wrote it
    std::string model_id;        // SHA-256 of its file
    const Recipe& recipe;        // ramp, exploration, step, length of chains, search
    bool group_aware = false;    // the deployment allows thresholds by group
    const GateForecastInputs& gate;
    base::ThreadPool* pool = nullptr;
    ProposalOptions options{};
};

/// What a candidate would change of the development set's first decisions of each person.
struct GroupChange {
    std::string name;
    size_t persons = 0;
    double approved_before = 0, approved_after = 0;  // mean P(approve)
    std::optional<double> chance{};  // that the gate's bound passes; nullopt: no forecast
};
struct Change {
    size_t persons = 0;
    double changed = 0, raised = 0;              // shares whose P(approve) changes, and rises
    double mean_change = 0, largest_change = 0;  // |P(approve) - before|
    double approved_before = 0, approved_after = 0;
    double distance = 0;              // mean |P(approve) - P(model's own decisions)|
    std::vector<GroupChange> groups;  // those of the set, in its order
    std::optional<double> chance{};   // that all groups pass
    std::string no_forecast{};        // why there is none; empty: there is one
};

/// One step of a plan, if each before it were promoted and the data stayed the same.
struct PlannedStep {
    double changed = 0, mean_change = 0;  // against the step before
    double distance = 0;                  // left to the model's own decisions
    std::optional<double> chance{};
};

struct Proposal {
    Candidate candidate;
    Change change;
    std::vector<PlannedStep> plan;
    bool reached = false;  // the plan ends within kReached of the model's own decisions
};

/// Puts a model that was made elsewhere as a link on the champion, clipped to the trust region:
///   1. its score on the deployment's features: bring()
///   2. a score without a rule of its own (P(favourable) with the default threshold 0.5) gets the
///      scheduled trainer's: expected impact, and a ramp about the break-even; one with another
///      threshold keeps that as operating point; options.approve_from and approve_rate name
///      another. Ramps, thresholds by group, mixtures and drawn scores decide by their own rule
///   3. ramp (of a score) and step are chosen so that the gate is likely to pass, as the trainer
///      chooses (search_grid), unless recipe.selection is "none"
///   4. exploration and trust region of the recipe; a chain of max_links is distilled first
/// and says what that would change, and how likely the gate is to pass. Reads the development set
/// alone. The forecast is too high where the model has learnt from the same persons. Deterministic.
/// Errors: bring()'s; invalid_argument "bad_proposal": an option out of its range;
/// "not_with_learner": an operating point for a model that decides by its own rule;
/// failed_precondition "no_development_rows"; decision::ReasonCodes' for a model whose declines
/// cannot be explained; distil()'s.
base::Result<Proposal> propose(const ProposalInputs& inputs);

}  // namespace rampart::training
