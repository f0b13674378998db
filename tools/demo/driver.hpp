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

/// Client session with a running `rampart serve` that survives a kill and restart of the service:
/// an unanswered request is sent again (every request may be repeated). The address is read from
/// the endpoint file for each new connection.
class Session {
  public:
    Session(std::filesystem::path endpoint_file, std::string token, base::Duration patience);
    /// Returns the body of a 2xx answer. Fails with the service's own error, from its error
    /// document; unavailable if the service was away for longer than the patience.
    base::Result<std::string> post(std::string_view target, const std::string& body);

  private:
    base::Result<http::Response> try_post(std::string_view target, const std::string& body);
    std::filesystem::path endpoint_file_;
    std::string token_;
    base::Duration patience_;
    std::optional<http::Client> client_;
};

/// Replays a stream of applicants against the service: applications in order of
/// event time, outcomes of approved ones when they are observed, and the clock
/// advanced four times a month.
class Driver {
  public:
    /// Called after each tick: event time so far, completed share of the span.
    using Progress = std::function<void(base::TimePoint, double)>;

    Driver(const loan_stream::Stream& stream, std::string measure, Session session);
    base::Status run(const Progress& progress);

    /// decisions()[i] belongs to stream.applicants[i].
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
