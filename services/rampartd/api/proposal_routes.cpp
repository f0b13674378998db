#include "services/rampartd/api/proposal_routes.hpp"

#include <charconv>

#include "rampart/registry/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;
using registry::PromotionProposal;

namespace {

constexpr size_t kMostListed = 1000;

/// Returns the number in the path; what is none is the number of no proposal.
uint64_t number_of(const http::Request& request) {
    const auto& text = request.path_values.at("id");
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, number);
    return failure == std::errc() && last == end ? number : 0;
}

Result<registry::Judgement> judgement_of(const Members& members, const std::string& principal) {
    const auto digest = base::Digest::from_hex(members.at("digest"));
    if (!digest) return digest.error().with_context("$.digest");
    return registry::Judgement{*digest, principal, members.at("comment"), {}, {}};
}

http::Response response_of(const PromotionProposal& proposal) {
    return json_response(Json::object({{"proposal", Json::parsed(to_json(proposal))}}));
}

}  // namespace

Result<http::Response> ProposalRoutes::handle_list() const {
    RAMPART_RETURN_IF_ERROR(deps_.check_trains());
    RAMPART_TRY(const auto all, deps_.registry.proposals(deps_.clock.now()));
    std::vector<Json> out;
    for (auto it = all.rbegin(); it != all.rend() && out.size() < kMostListed; ++it)
        out.push_back(Json::parsed(to_json(*it)));
    return json_response(Json::object({{"proposals", Json::array(out)}}));
}

Result<http::Response> ProposalRoutes::handle_one(const http::Request& request) const {
    RAMPART_RETURN_IF_ERROR(deps_.check_trains());
    RAMPART_TRY(const auto all, deps_.registry.proposals(deps_.clock.now()));
    const auto number = number_of(request);
    if (number > 0 && number <= all.size()) return response_of(all[number - 1]);
    return base::make_error(registry::Reason::kUnknownProposal, "there is no proposal '{}'",
                            request.path_values.at("id").substr(0, 32));
}

Result<http::Response> ProposalRoutes::handle_approval(const http::Request& request) const {
    const MemberSpec switch_at("switch_at", MemberSpec::Kind::kText, false);
    RAMPART_TRY(const auto members, text_members(request.body, {"digest", "comment", switch_at}));
    RAMPART_TRY(auto judgement, judgement_of(members, request.principal));
    if (const auto time = members.find(switch_at.name); time != members.end()) {
        const auto read = base::parse_iso8601(time->second);
        if (!read) return read.error().with_context("$.switch_at");
        judgement.switch_at = *read;
    }
    return deps_.approve(number_of(request), std::move(judgement)).map(response_of);
}

Result<http::Response> ProposalRoutes::handle_rejection(const http::Request& request) const {
    RAMPART_TRY(const auto members, text_members(request.body, {"digest", "comment"}));
    RAMPART_TRY(auto judgement, judgement_of(members, request.principal));
    return deps_.reject(number_of(request), std::move(judgement)).map(response_of);
}

void ProposalRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/proposals", Scope::kRead,
               [self = *this](const auto&) { return respond(self.handle_list()); });
    router.add("GET", "/v1/proposals/{id}", Scope::kRead,
               [self = *this](const auto& r) { return respond(self.handle_one(r)); });
    // reads the evidence of the certificate again
    router.add(
        "POST", "/v1/proposals/{id}/approve", Scope::kApprove,
        [self = *this](const auto& r) { return respond(self.handle_approval(r)); },
        Lane::kAdministrative);
    router.add("POST", "/v1/proposals/{id}/reject", Scope::kApprove,
               [self = *this](const auto& r) { return respond(self.handle_rejection(r)); });
}

}  // namespace rampart::rampartd
