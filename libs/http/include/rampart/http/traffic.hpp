#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rampart/base/clock.hpp"
#include "rampart/base/histogram.hpp"

namespace rampart::http {

/// How the route of a request that no route matches is named.
inline constexpr std::string_view kOtherRoute = "other";
/// Returns the method if it is one of HTTP's common ones, otherwise "other": names of few.
std::string_view known_method(std::string_view method);

/// A request and its response.
struct Answered {
    std::string route;   // a pattern of the router, or kOtherRoute
    std::string method;  // as of known_method()
    int status = 0;
    double seconds = 0;  // from the first byte of the request until the response was written
    uint64_t request_bytes = 0, response_bytes = 0;  // the bodies
};

/// Why a TLS handshake failed: other than the rest is, for example, a client that trusts another
/// authority, or that went away.
enum class HandshakeFailure { kTimeout, kPlainHttp, kVersion, kClientCertificate, kOther };
inline constexpr std::array<std::string_view, 5> kHandshakeFailures{
    "timeout", "plain_http", "version", "client_certificate", "other"};

/// What servers have answered. Thread safe; a request takes one short lock.
class Traffic {
  public:
    struct Connections {
        uint64_t accepted = 0, refused = 0, accept_failures = 0,
                 made_room = 0;  // since it was made
        uint64_t open = 0;       // now
    };
    /// The requests of one route and method.
    struct OfRoute {
        std::map<int, uint64_t> by_status;
        uint64_t request_bytes = 0, response_bytes = 0;
        std::shared_ptr<base::Histogram> seconds;
    };
    using Visitor = std::function<void(std::string_view route, std::string_view method,
                                       const OfRoute& requests)>;

    void answered(const Answered& one);
    void opened();            // a connection
    void closed();            // one that was opened
    void refused();           // one beyond the limit
    void failed_to_accept();  // one
    void made_room();         // a connection that waited was closed for a new one
    void queued();            // a request that waits for its group
    void taken(size_t n);     // waiting requests, into a group
    void full();              // a request that may not wait, as others wait for too long
    void handshake_failed(HandshakeFailure why);    // the connection's, once opened
    void loaded_certificate(base::TimePoint ends);  // the server's, at the start or anew
    void refused_certificate();                     // the one before stays in use

    Connections connections() const;
    /// Returns how many requests wait for their group.
    size_t waiting() const { return waiting_; }
    /// Returns how many requests were refused as others waited for too long.
    uint64_t wait_refusals() const { return wait_refusals_; }
    uint64_t handshake_failures(HandshakeFailure why) const {
        return handshake_failures_[static_cast<size_t>(why)];
    }
    /// Returns when the server's certificate ends; nullopt: no TLS.
    std::optional<base::TimePoint> certificate_ends() const;
    /// Returns whether the certificate files were good when they were last read.
    bool certificate_loaded() const { return certificate_loaded_; }
    /// Calls it with each route and method that has had a request, in their order; on a copy, so
    /// that requests do not wait.
    void visit(const Visitor& visit) const;

  private:
    std::atomic<uint64_t> opened_{0}, closed_{0}, refused_{0}, accept_failures_{0}, made_room_{0};
    std::atomic<uint64_t> wait_refusals_{0};
    std::atomic<size_t> waiting_{0};
    std::array<std::atomic<uint64_t>, kHandshakeFailures.size()> handshake_failures_{};
    std::atomic<int64_t> certificate_ends_{0};  // microseconds; 0: no TLS
    std::atomic<bool> certificate_loaded_{false};
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, OfRoute> routes_;
};

}  // namespace rampart::http
