#include "services/rampartd/api/candidate_routes.hpp"

#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using http::Access, http::Lane;

namespace {

/// What the query asks for, beside the proposal.
struct Asked {
    retraining::ProposalRequest request;
    bool file = false;  // the candidate's model file in the answer
};

Status read(const std::string& name, const std::string& text, Asked& asked) {
    auto& options = asked.request.options;
    for (auto [known, number] :
         {std::pair("step", &options.step), std::pair("approve_from", &options.approve_from),
          std::pair("approve_rate", &options.approve_rate)}) {
        if (name != known) continue;
        RAMPART_TRY(*number, real_of(name, text));
        return base::ok();
    }
    if (name == "plan") {
        RAMPART_TRY(const auto steps, number_of(name, text, 0, training::kMaxPlanSteps));
        options.plan_steps = static_cast<size_t>(steps);
    } else if (name == "submit") {
        RAMPART_TRY(asked.request.submit, yes_or_no(name, text));
    } else if (name == "file") {
        RAMPART_TRY(asked.file, yes_or_no(name, text));
    } else if (name == "new_epoch") {
        asked.request.new_epoch = text;
    } else if (name == "actor") {
        asked.request.proposed_by = text;
    } else {
        return base::make_error(protected_attributes::Reason::kUnknownField,
                                "the query's '{}' is not a known field", name);
    }
    return base::ok();
}

Result<Asked> asked_by(const http::Request& request) {
    Asked asked;
    for (const auto& [name, value] : request.query)
        RAMPART_RETURN_IF_ERROR(read(name, value, asked));
    if (asked.request.submit && asked.request.proposed_by.empty()) {
        return base::make_error(protected_attributes::Reason::kMissingField,
                                "who proposes a candidate is for certificate and audit log: add "
                                "actor=NAME to the query");
    }
    return asked;
}

}  // namespace

Result<http::Response> CandidateRoutes::handle_candidate(const http::Request& request) const {
    RAMPART_TRY(auto asked, asked_by(request));
    asked.request.model = request.body;
    RAMPART_TRY(const auto made, propose_(asked.request));
    http::Response response;
    response.body = retraining::encode(made, asked.file);
    return response;
}

void CandidateRoutes::add_to(http::Router& router) const {
    // waits for a training run, and takes as long as one
    router.add(
        "POST", "/v1/candidates", Access::kToken,
        [self = *this](const auto& r) { return respond(self.handle_candidate(r)); },
        Lane::kAdministrative);
}

}  // namespace rampart::rampartd
