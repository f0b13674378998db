#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace rampart::http {

/// Bounds the requests that one caller may send each second, with a token bucket for each: as many
/// at once as in one second, at least one. Thread safe.
class RateLimit {
  public:
    using Time = std::chrono::steady_clock::time_point;
    /// Callers that are kept apart; beyond, those whose bucket is full are forgotten, and if there
    /// are none, the one that was not seen for longest.
    static constexpr size_t kMostCallers = 10'000;

    /// `per_second` <= 0: no limit.
    void open(double per_second) { per_second_ = per_second; }

    /// Takes a request of `caller`. nullopt: it may go on; otherwise the time until one may.
    std::optional<std::chrono::duration<double>> take(const std::string& caller, Time now);

  private:
    struct Bucket {
        double left = 0;
        Time seen;
    };
    double most() const;
    double left_at(const Bucket& bucket, Time now) const;
    void forget(Time now);

    double per_second_ = 0;
    std::mutex mutex_;
    std::map<std::string, Bucket> buckets_;
};

/// Returns the name under which an address is limited: an IPv6 address counts with all others of
/// its network of 64 bits, since one host may have them all.
std::string limited_address(std::string_view address);

}  // namespace rampart::http
