#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/http/client.hpp"
#include "rampart/loan_stream/stream.hpp"

namespace rampart::demo {

/// Talks to a running `rampart serve`, and goes on when it was killed and started again: a request
/// without an answer is sent again (every request may be repeated). The address is read from the
/// endpoint file anew for each connection.
class Session {
  public:
    Session(std::filesystem::path endpoint_file, std::string token, base::Duration patience);
    /// The body of a 2xx answer. Errors: the service's own, by its error document; unavailable when
    /// it stayed away for longer than the patience.
    base::Result<std::string> post(std::string_view target, const std::string& body);

  private:
    base::Result<http::Response> try_post(std::string_view target, const std::string& body);
    std::filesystem::path endpoint_file_;
    std::string token_;
    base::Duration patience_;
    std::optional<http::Client> client_;
};

/// Replays a stream of applicants against the service, as the world would: applications in order of
/// event time, outcomes of approved ones when they are observed, and the clock forward four times a
/// month.
class Driver {
  public:
    /// Called after each tick: event time so far, share of the span done.
    using Progress = std::function<void(base::TimePoint, double)>;

    Driver(const loan_stream::Stream& stream, std::string measure, Session session);
    base::Status run(const Progress& progress);

    /// decisions()[i] is about stream.applicants[i].
    const std::vector<domain::Decision>& decisions() const { return decisions_; }

  private:
    struct PendingReport {
        size_t applicant;
        loan_stream::Report report;
    };
    base::Status send_applications(base::TimePoint until);
    base::Status send_batch(size_t begin, size_t end);
    base::Status send_outcomes(base::TimePoint until);

    const loan_stream::Stream& stream_;
    std::string measure_;
    Session session_;
    std::vector<domain::Decision> decisions_;
    std::multimap<base::TimePoint, PendingReport> pending_;
};

}  // namespace rampart::demo
