#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/http/request.hpp"

namespace rampart::http {

inline constexpr size_t kMaxRequestId = 128;

/// Returns the id that a client or a proxy gave a request: the header X-Request-Id, 1 to
/// kMaxRequestId of [A-Za-z0-9._:/+=-]; otherwise the trace id of the header traceparent (W3C Trace
/// Context: 32 hex digits, not all 0). nullopt: there is none, or none of that form.
std::optional<std::string> given_request_id(const std::vector<Header>& headers);

/// Makes ids for requests without one: no two of a process are alike, nor, but by a chance of
/// 2^-64, of two processes. Thread safe.
class RequestIds {
  public:
    RequestIds();
    std::string next();

  private:
    const std::string prefix_;
    std::atomic<uint64_t> count_{0};
};

}  // namespace rampart::http
