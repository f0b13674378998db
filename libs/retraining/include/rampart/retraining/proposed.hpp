#pragma once

#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/retraining/run_store.hpp"
#include "rampart/training/proposal.hpp"

/// A candidate that people propose: a model from elsewhere, put on the champion.
namespace rampart::retraining {

/// A model from elsewhere that is to become a candidate.
struct ProposalRequest {
    std::string model{};  // content of its model file
    training::ProposalOptions options{};
    bool submit = false;        // take the candidate to the gate; else only say what it would do
    std::string new_epoch{};    // as TrainingLoop::certify's
    std::string proposed_by{};  // a person; with submit not empty
};

/// What became of it.
struct Proposed {
    training::Proposal proposal;
    domain::PolicyId champion;  // the policy in charge, on which the candidate is put
    base::TimePoint at;         // as known then
    std::string file;           // the candidate's model file
    domain::PolicyId id;        // the file's; registered if there is a run
    std::optional<RunRecord> run;
};

/// Returns one JSON document for people and programs: what the candidate would change, by group and
/// in all, the forecast, the plan, and the run. Nothing in it is of the vault but the verdict.
/// `with_file`: also the candidate's model file, in base64.
std::string encode(const Proposed& made, bool with_file);

}  // namespace rampart::retraining
