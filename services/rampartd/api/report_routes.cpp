#include "services/rampartd/api/report_routes.hpp"

#include "rampart/http/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

std::vector<std::string> names_of(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const size_t end = std::min(text.find(';'), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

Result<ReportRequest> request_of(const http::Request& request) {
    ReportRequest asked;
    for (const auto& [name, value] : request.query) {
        if (value.empty())
            return base::make_error(protected_attributes::Reason::kMissingField,
                                    "$.{}: is empty: leave it out, or give a value", name);
        if (name == "from") {
            asked.from = value;
        } else if (name == "to") {
            asked.to = value;
        } else if (name == "reference") {
            asked.references = names_of(value);
        } else {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
        }
    }
    return asked;
}

}  // namespace

Result<http::Response> ReportRoutes::handle_report(const http::Request& request) const {
    RAMPART_TRY(const auto asked, request_of(request));
    if (busy_->exchange(true))
        return base::make_error(http::Reason::kAdministrativeBusy,
                                "another report is being made: ask again when it is done");
    const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> turn(
        busy_.get(), [](auto* busy) { busy->store(false); });  // where the report throws, too
    http::Response response;
    RAMPART_TRY(response.body, report_(asked));
    return response;
}

void ReportRoutes::add_to(http::Router& router) const {
    // Reads all decisions of the period: not in the lane of overrides. Counts
    // before and after one decision show its side and groups: for those who audit.
    router.add(
        "GET", "/v1/report", access::Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_report(r)); },
        http::Lane::kAdministrative);
}

}  // namespace rampart::rampartd
