#pragma once

#include <functional>
#include <string>

#include "rampart/http/router.hpp"
#include "rampart/runtime/job_queue.hpp"

namespace rampart::rampartd {

/// How long a request waits for its job, by its header Prefer (RFC 7240): "wait=N" says how many
/// seconds, up to kLongestWait; "respond-async" alone, none; without either, or where it cannot be
/// read, `otherwise`.
base::Duration wait_of(const http::Request& request, base::Duration otherwise);
inline constexpr base::Duration kLongestWait = base::Duration::seconds(60);

/// Answers requests that may take long: by a job, for which the caller waits a while.
class JobAnswers {
  public:
    /// `wait`: for callers that do not say.
    JobAnswers(runtime::JobQueue& jobs, base::Duration wait) : jobs_(jobs), wait_(wait) {}

    /// Accepts the job, and answers with its result or, by `failed` or decision_service's
    /// error_answer(), with its error as if there were no job, if it ends in time; else 202 with
    /// the job and Location. Where too many wait: 503.
    http::Response answer(
        const http::Request& request, const std::string& kind, std::string work, uint64_t total,
        const std::function<http::Response(const base::Error&)>& failed = {}) const;

  private:
    runtime::JobQueue& jobs_;
    const base::Duration wait_;
};

/// GET /v1/jobs: the latest 100; GET /v1/jobs/{id}: one, with its result.
class JobRoutes {
  public:
    explicit JobRoutes(const runtime::JobQueue& jobs) : jobs_(jobs) {}
    void add_to(http::Router& router) const;

  private:
    http::Response handle_jobs() const;
    base::Result<http::Response> handle_job(const http::Request& request) const;

    const runtime::JobQueue& jobs_;
};

}  // namespace rampart::rampartd
