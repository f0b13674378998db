#include "services/rampartd/api/unmatched_routes.hpp"

#include <algorithm>
#include <array>

#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;
using base::TimePoint;

namespace {

/// How long examples have been without a value, or reports without their decision.
Json by_age(TimePoint now, const std::vector<TimePoint>& since) {
    constexpr int kDays[] = {30, 90, 180, 365};
    std::array<size_t, std::size(kDays) + 1> counts{};
    for (const TimePoint time : since) {
        size_t bin = 0;
        while (bin < std::size(kDays) && now - time > base::Duration::days(kDays[bin])) ++bin;
        ++counts[bin];
    }
    std::vector<Json> out;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
        const auto upto = bin < std::size(kDays) ? Json(kDays[bin]) : Json(nullptr);
        out.push_back(Json::object({{"up_to_days", upto}, {"count", counts[bin]}}));
    }
    return Json::array(out);
}

}  // namespace

Result<http::Response> UnmatchedRoutes::handle_unmatched() const {
    constexpr size_t kMaxListed = 1000;
    RAMPART_TRY(const auto unmatched, joiner_.list_unmatched(kMaxListed));
    RAMPART_TRY(const auto overdue, joiner_.list_overdue(kMaxListed));
    const auto counts = joiner_.counts();
    const TimePoint now = joiner_.clock().value_or(clock_.now());
    std::vector<Json> waiting, owed;
    std::vector<TimePoint> reported, matured;
    for (const auto& one : unmatched) {
        TimePoint first = now;
        for (const auto& outcome : one.outcomes) first = std::min(first, outcome.observed_at);
        for (const auto& taken : one.overrides) first = std::min(first, taken.at);
        reported.push_back(first);
        waiting.push_back(Json::object({{"decision_id", one.decision.value()},
                                        {"outcomes", one.outcomes.size()},
                                        {"overrides", one.overrides.size()},
                                        {"since", base::to_iso8601(first)}}));
    }
    for (const auto& one : overdue) {
        matured.push_back(one.matured_at);
        owed.push_back(Json::object({{"decision_id", one.decision.value()},
                                     {"measure", one.measure},
                                     {"since", base::to_iso8601(one.matured_at)}}));
    }
    return json_response(Json::object({{"as_of", base::to_iso8601(now)},
                                       {"unmatched_reports", counts.unmatched},
                                       {"overdue_examples", counts.overdue},
                                       {"unmatched", Json::array(waiting)},
                                       {"unmatched_by_age", by_age(now, reported)},
                                       {"overdue", Json::array(owed)},
                                       {"overdue_by_age", by_age(now, matured)},
                                       {"listed_at_most", kMaxListed}}));
}

void UnmatchedRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", "/v1/unmatched", access::Scope::kRead,
        [self = *this](const auto&) { return respond(self.handle_unmatched()); },
        http::Lane::kBulk);
}

}  // namespace rampart::rampartd
