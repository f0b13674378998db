#include "rampart/http/traffic.hpp"

#include <algorithm>
#include <array>

namespace rampart::http {

std::string_view known_method(std::string_view method) {
    constexpr std::array<std::string_view, 7> kKnown{"GET",    "HEAD",  "POST",   "PUT",
                                                     "DELETE", "PATCH", "OPTIONS"};
    const auto found = std::find(kKnown.begin(), kKnown.end(), method);
    return found == kKnown.end() ? std::string_view("other") : *found;
}

void Traffic::answered(const Answered& one) {
    const std::lock_guard lock(mutex_);
    auto& route = routes_[{one.route, one.method}];
    if (!route.seconds) route.seconds = std::make_shared<base::Histogram>(base::latency_bounds());
    ++route.by_status[one.status];
    route.request_bytes += one.request_bytes;
    route.response_bytes += one.response_bytes;
    route.seconds->observe(one.seconds);
}

void Traffic::opened() { ++opened_; }
void Traffic::closed() { ++closed_; }
void Traffic::refused() { ++refused_; }
void Traffic::failed_to_accept() { ++accept_failures_; }
void Traffic::made_room() { ++made_room_; }
void Traffic::queued() { ++waiting_; }
void Traffic::taken(size_t n) { waiting_ -= n; }
void Traffic::full() { ++wait_refusals_; }

void Traffic::handshake_failed(HandshakeFailure why) {
    ++handshake_failures_[static_cast<size_t>(why)];
}

void Traffic::loaded_certificate(base::TimePoint ends) {
    certificate_ends_ = ends.micros();
    certificate_loaded_ = true;
}

void Traffic::refused_certificate() { certificate_loaded_ = false; }

std::optional<base::TimePoint> Traffic::certificate_ends() const {
    const int64_t micros = certificate_ends_;
    if (micros == 0) return std::nullopt;
    return base::TimePoint::from_micros(micros);
}

Traffic::Connections Traffic::connections() const {
    Connections all;
    const uint64_t closed = closed_;  // first: not more than were opened
    all.accepted = opened_;
    all.open = all.accepted - closed;
    all.refused = refused_;
    all.accept_failures = accept_failures_;
    all.made_room = made_room_;
    return all;
}

void Traffic::visit(const Visitor& visit) const {
    std::map<std::pair<std::string, std::string>, OfRoute> routes;
    {
        const std::lock_guard lock(mutex_);
        routes = routes_;
    }
    for (const auto& [key, requests] : routes) visit(key.first, key.second, requests);
}

}  // namespace rampart::http
