#include "services/rampartd/api/review_routes.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/time_cursor.hpp"

namespace rampart::rampartd {

using base::Result;
using base::TimePoint;
using joiner::OpenReview;
using joiner::ReviewPlace;

namespace {

int64_t seconds_between(TimePoint from, TimePoint to) {
    constexpr int64_t kSecond = 1'000'000;
    return std::max<int64_t>(0, (to - from).micros() / kSecond);
}

Json to_json(const OpenReview& review, TimePoint now) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? Json(nullptr) : Json(text);
    };
    return Json::object({{"decision_id", review.decision.value()},
                         {"since", base::to_iso8601(review.since)},
                         {"age_seconds", seconds_between(review.since, now)},
                         {"referred", review.referred},
                         {"actor", or_null(review.actor)},
                         {"reason", or_null(review.reason)}});
}

/// Which reviews are asked for.
struct Page {
    size_t limit = kDefaultReviews;
    std::optional<ReviewPlace> after;
};

base::Status read_parameter(const std::string& name, const std::string& text, Page& page) {
    if (name == "limit") {
        RAMPART_TRY(const auto limit, number_of(name, text, 1, kMostReviews));
        page.limit = static_cast<size_t>(limit);
    } else if (name == "cursor") {
        RAMPART_TRY(auto place, read_time_cursor(text));
        page.after = ReviewPlace{place.time, std::move(place.id)};
    } else if (name != "state") {
        return base::make_error(protected_attributes::Reason::kUnknownField,
                                "is not a known parameter of the query");
    } else if (text != "open") {
        return base::make_error(base::Reason::kBadUsage,
                                "is '{}'; only open reviews are listed: say open",
                                text.substr(0, 40));
    }
    return base::ok();
}

Result<Page> parse_page(const std::map<std::string, std::string>& query) {
    Page page;
    for (const auto& [name, text] : query) {
        if (text.empty())
            return base::make_error(protected_attributes::Reason::kMissingField,
                                    "$.{}: is empty: leave it out, or give a value", name);
        const auto read = read_parameter(name, text, page);
        if (!read) return read.error().with_context(fmt::format("$.{}", name));
    }
    return page;
}

/// Returns the caller and whom it names, which is its word.
std::string actor_of(const http::Request& request, const Members& members) {
    return fmt::format("{}:{}", request.principal, members.at("actor"));
}

Result<domain::Action> answer_in(const Members& members) {
    const auto& text = members.at("action_taken");
    for (const auto action : {domain::Action::kApprove, domain::Action::kDecline})
        if (text == domain::to_string(action)) return action;
    return base::make_error(base::Reason::kBadUsage,
                            "$.action_taken: '{}' is not 'approve' or 'decline'",
                            text.substr(0, 40));
}

}  // namespace

Result<http::Response> ReviewRoutes::handle_open(const http::Request& request) const {
    const domain::DecisionId id(request.path_values.at("id"));
    RAMPART_TRY(const auto members, text_members(request.body, {"actor", "reason"}));
    const auto review = desk_.open(id, actor_of(request, members), members.at("reason"));
    if (!review) return failed_(review.error(), id);
    return json_response(Json::object({{"review", to_json(*review, clock_.now())}}));
}

Result<http::Response> ReviewRoutes::handle_answer(const http::Request& request) const {
    const domain::DecisionId id(request.path_values.at("id"));
    RAMPART_TRY(const auto members,
                text_members(request.body, {"action_taken", "actor", "reason"}));
    RAMPART_TRY(const auto action, answer_in(members));
    const auto taken = desk_.answer(id, action, actor_of(request, members), members.at("reason"));
    if (!taken) return failed_(taken.error(), id);
    return json_response(Json::object({{"override", Json::parsed(wire::to_json(*taken))}}));
}

Result<http::Response> ReviewRoutes::handle_list(const http::Request& request) const {
    RAMPART_TRY(const auto page, parse_page(request.query));
    RAMPART_TRY(const auto found, desk_.list(page.limit, page.after));
    const auto& [queue, reviews] = found;
    const TimePoint now = clock_.now();
    std::vector<Json> listed;
    for (const auto& one : reviews) listed.push_back(to_json(one, now));
    const bool more = reviews.size() == page.limit;
    return json_response(Json::object(
        {{"reviews", Json::array(listed)},
         {"open", queue.open},
         {"oldest_age_seconds",
          queue.oldest ? Json(seconds_between(*queue.oldest, now)) : Json(nullptr)},
         {"next_cursor",
          more ? Json(time_cursor(reviews.back().since, reviews.back().decision.value()))
               : Json(nullptr)}}));
}

void ReviewRoutes::add_to(http::Router& router) const {
    // all of them read the log to its end; who reports overrides opens and answers reviews
    router.add(
        "POST", "/v1/decisions/{id}/review", access::Scope::kReport,
        [self = *this](const auto& r) { return respond(self.handle_open(r)); }, http::Lane::kBulk);
    router.add(
        "POST", "/v1/decisions/{id}/review/answer", access::Scope::kReport,
        [self = *this](const auto& r) { return respond(self.handle_answer(r)); },
        http::Lane::kBulk);
    router.add(
        "GET", "/v1/reviews", access::Scope::kRead,
        [self = *this](const auto& r) { return respond(self.handle_list(r)); }, http::Lane::kBulk);
}

}  // namespace rampart::rampartd
