#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/retraining/proposed.hpp"
#include "services/rampartd/api/job_routes.hpp"

namespace rampart::rampartd {

/// The work of jobs that put a model on the champion, and with submit=yes take it to the gate.
class CandidateWork {
  public:
    /// As Node::propose.
    using Propose =
        std::function<base::Result<retraining::Proposed>(const retraining::ProposalRequest&)>;

    explicit CandidateWork(Propose propose) : propose_(std::move(propose)) {}
    /// failed_precondition "job_interrupted": a process ended while the candidate was submitted. A
    /// second submission would be the next step, for another charge, so that it is not repeated.
    base::Result<std::string> operator()(runtime::JobTask& task) const;

  private:
    Propose propose_;
};

/// Returns query and model of a request as the record of its job has them.
std::string job_text(const http::Request& request);

/// POST /v1/candidates: a job. The router keeps a copy.
class CandidateRoutes {
  public:
    explicit CandidateRoutes(JobAnswers jobs) : jobs_(jobs) {}
    static constexpr const char* kCandidate = "candidate";  // kind of its jobs
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_candidate(const http::Request& request) const;

    JobAnswers jobs_;
};

}  // namespace rampart::rampartd
