#include "services/rampartd/decision_search.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/wire/decision_json.hpp"
#include "services/rampartd/time_cursor.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

constexpr auto kAfterLast = base::kLastTime + base::Duration::micros(1);

Result<domain::Action> action_of(std::string_view text) {
    for (const auto action :
         {domain::Action::kApprove, domain::Action::kDecline, domain::Action::kRefer})
        if (text == domain::to_string(action)) return action;
    return base::make_error(base::Reason::kBadUsage, "is not approve, decline or refer");
}

/// Returns whether the newest come first.
Result<bool> order_of(std::string_view text) {
    if (text == "newest" || text == "oldest") return text == "newest";
    return base::make_error(base::Reason::kBadUsage, "is not newest or oldest");
}

Result<size_t> limit_of(std::string_view text) {
    size_t value = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure == std::errc() && last == end && value >= 1 && value <= kMostDecisions)
        return value;
    return base::make_error(base::Reason::kBadNumber, "is not a whole number from 1 to {}",
                            kMostDecisions);
}

/// Reads one parameter.
Status read_parameter(const std::string& name, const std::string& text, DecisionSearch& search) {
    if (name == "person" || name == "application" || name == "policy" || name == "reason") {
        RAMPART_RETURN_IF_ERROR(domain::check_id(name, text));
        (name == "person"        ? search.person
         : name == "application" ? search.application
         : name == "policy"      ? search.policy
                                 : search.reason) = text;
    } else if (name == "action") {
        RAMPART_TRY(search.action, action_of(text));
    } else if (name == "from") {
        RAMPART_TRY(search.from, base::parse_iso8601(text));
    } else if (name == "to") {
        RAMPART_TRY(search.to, base::parse_iso8601(text));
    } else if (name == "order") {
        RAMPART_TRY(search.newest_first, order_of(text));
    } else if (name == "limit") {
        RAMPART_TRY(search.limit, limit_of(text));
    } else if (name == "cursor") {
        RAMPART_TRY(auto place, read_time_cursor(text));
        search.after = DecisionPlace{place.time, std::move(place.id)};
    } else {
        return base::make_error(protected_attributes::Reason::kUnknownField,
                                "is not a known parameter of the query");
    }
    return base::ok();
}

/// Collects a page.
class Collector {
  public:
    Collector(const joiner::OutcomeJoiner& joiner, const DecisionSearch& search)
        : joiner_(joiner), search_(search) {}

    bool is_full() const {
        return page_.decisions.size() == search_.limit || bytes_ >= search_.page_bytes ||
               page_.looked_at == search_.most_looked_at;
    }
    /// Looks at the decision of a place, which come in their order. `may_fit`: its head does.
    Status look(DecisionPlace place, bool may_fit) {
        if (search_.after && !comes_after(place, *search_.after)) return base::ok();
        ++page_.looked_at;
        if (may_fit) {
            RAMPART_TRY(auto decision, joiner_.find_decision(domain::DecisionId(place.id)));
            if (decision && fits(*decision)) {
                page_.decisions.push_back(wire::to_json(*decision));
                bytes_ += page_.decisions.back().size();
            }
        }
        if (is_full()) page_.next = std::move(place);
        return base::ok();
    }
    DecisionPage take() { return std::move(page_); }

  private:
    bool comes_after(const DecisionPlace& place, const DecisionPlace& other) const {
        return search_.newest_first ? place < other : place > other;
    }
    bool fits(const domain::Decision& one) const {
        const auto& application = one.application;
        const auto is = [](const std::string& wanted, const std::string& text) {
            return wanted.empty() || wanted == text;
        };
        return is(search_.person, application.person.value()) &&
               is(search_.application, application.id.value()) &&
               is(search_.policy, one.policy.value()) &&
               (!search_.action || one.action == *search_.action) &&
               (search_.reason.empty() || std::find(one.reasons.begin(), one.reasons.end(),
                                                    search_.reason) != one.reasons.end()) &&
               (!search_.from || application.event_time >= *search_.from) &&
               (!search_.to || application.event_time < *search_.to);
    }

    const joiner::OutcomeJoiner& joiner_;
    const DecisionSearch& search_;
    DecisionPage page_;
    size_t bytes_ = 0;  // what its decisions have
};

Status look_at_person(const joiner::OutcomeJoiner& joiner, const DecisionSearch& search,
                      Collector& page) {
    const domain::PersonId id(search.person);
    RAMPART_TRY(const auto found, joiner.decisions_of({&id, 1}));
    std::vector<DecisionPlace> places;
    for (const auto& one : found) places.push_back({one.event_time, one.decision.value()});
    std::sort(places.begin(), places.end());
    if (search.newest_first) std::reverse(places.begin(), places.end());
    for (auto& place : places) {
        if (page.is_full()) break;
        RAMPART_RETURN_IF_ERROR(page.look(std::move(place), true));
    }
    return base::ok();
}

Status look_at_all(const joiner::OutcomeJoiner& joiner, const DecisionSearch& search,
                   Collector& page) {
    const auto look = [&](const joiner::DecisionRow& row) -> Status {
        const bool may_fit = (search.policy.empty() || row.policy == search.policy) &&
                             (!search.action || row.action == *search.action);
        RAMPART_RETURN_IF_ERROR(page.look({row.event_time, std::string(row.id)}, may_fit));
        // ends the reading; is no failure
        if (page.is_full()) return base::make_error(base::Reason::kBadUsage, "page is full");
        return base::ok();
    };
    const auto first = DecisionPlace{search.from.value_or(base::kFirstTime), ""};
    const auto end = DecisionPlace{search.to.value_or(kAfterLast), ""};
    const auto& after = search.after;
    const auto& begin = !search.newest_first && after && *after > first ? *after : first;
    const auto& until = search.newest_first && after && *after < end ? *after : end;
    const auto part = joiner::RowPart::kHead;
    const auto status =
        search.newest_first
            ? joiner.rows_back(begin.event_time, until.event_time, part, look, until.id)
            : joiner.rows(begin.event_time, until.event_time, part, look, begin.id);
    return page.is_full() ? base::ok() : status;
}

}  // namespace

Result<DecisionSearch> parse_decision_search(const std::map<std::string, std::string>& query) {
    DecisionSearch search;
    for (const auto& [name, text] : query) {
        if (text.empty())
            return base::make_error(protected_attributes::Reason::kMissingField,
                                    "$.{}: is empty: leave it out, or give a value", name);
        const auto read = read_parameter(name, text, search);
        if (!read) return read.error().with_context(fmt::format("$.{}", name));
    }
    if (search.from && search.to && *search.to <= *search.from)
        return base::make_error(base::Reason::kBadTime, "$.to: does not lie after from");
    return search;
}

Result<DecisionPage> find_decisions(const joiner::OutcomeJoiner& joiner,
                                    const DecisionSearch& search) {
    Collector page(joiner, search);
    if (!search.application.empty()) {
        const auto id = domain::decision_id_of(domain::ApplicationId(search.application));
        RAMPART_TRY(const auto decision, joiner.find_decision(id));
        if (decision)
            RAMPART_RETURN_IF_ERROR(
                page.look({decision->application.event_time, id.value()}, true));
    } else if (!search.person.empty()) {
        RAMPART_RETURN_IF_ERROR(look_at_person(joiner, search, page));
    } else {
        RAMPART_RETURN_IF_ERROR(look_at_all(joiner, search, page));
    }
    return page.take();
}

std::map<std::string, std::string> filters_of(const DecisionSearch& search) {
    std::map<std::string, std::string> filters;
    const auto add = [&](const char* name, const std::string& text) {
        if (!text.empty()) filters[name] = text;
    };
    add("policy", search.policy);
    add("reason", search.reason);
    if (search.action) filters["action"] = domain::to_string(*search.action);
    if (search.from) filters["from"] = base::to_iso8601(*search.from);
    if (search.to) filters["to"] = base::to_iso8601(*search.to);
    return filters;
}

std::string cursor_of(const DecisionPlace& place) {
    return time_cursor(place.event_time, place.id);
}

}  // namespace rampart::rampartd
