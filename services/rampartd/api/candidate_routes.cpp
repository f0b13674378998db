#include "services/rampartd/api/candidate_routes.hpp"

#include <limits>
#include <tuple>

#include "rampart/base/bytes.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using base::Status;
using http::Lane;

namespace {

/// What the query asks for, beside the proposal.
struct Asked {
    retraining::ProposalRequest request;
    bool file = false;  // the candidate's model file in the answer
};

constexpr double kNoBound = std::numeric_limits<double>::infinity();

Status read(const std::string& name, const std::string& text, Asked& asked) {
    auto& options = asked.request.options;
    for (auto [known, number, below] : {std::tuple("step", &options.step, kNoBound),
                                        std::tuple("approve_from", &options.approve_from, 1.0),
                                        std::tuple("approve_rate", &options.approve_rate, 1.0)}) {
        if (name != known) continue;
        RAMPART_TRY(*number, real_of(name, text));
        if (**number > 0 && **number < below) return base::ok();
        return base::make_error(base::Reason::kBadNumber, "$.{}: '{}' is not above 0{}", name,
                                text.substr(0, 32), below == kNoBound ? "" : " and below 1");
    }
    if (name == "plan") {
        RAMPART_TRY(const auto steps, number_of(name, text, 0, training::kMaxPlanSteps));
        options.plan_steps = static_cast<size_t>(steps);
    } else if (name == "submit") {
        RAMPART_TRY(asked.request.submit, flag_of(name, text));
    } else if (name == "file") {
        RAMPART_TRY(asked.file, flag_of(name, text));
    } else if (name == "new_epoch") {
        asked.request.new_epoch = text;
    } else {
        return base::make_error(protected_attributes::Reason::kUnknownField,
                                "$.{}: is not a known parameter of the query", name);
    }
    return base::ok();
}

using Query = std::map<std::string, std::string>;

Result<Asked> asked_by(const Query& query, std::string_view principal) {
    Asked asked;
    for (const auto& [name, value] : query) RAMPART_RETURN_IF_ERROR(read(name, value, asked));
    asked.request.proposed_by = principal;
    return asked;
}

Result<Asked> read_work(std::string_view text) {
    base::ByteReader reader(text);
    Query query;
    RAMPART_TRY(const auto principal, reader.field());
    RAMPART_TRY(const auto count, reader.u32());
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(const auto name, reader.field());
        RAMPART_TRY(const auto value, reader.field());
        query.emplace(name, value);
    }
    RAMPART_TRY(auto asked, asked_by(query, principal));
    RAMPART_TRY(const auto model, reader.field());
    asked.request.model = model;
    return asked;
}

}  // namespace

std::string job_text(const http::Request& request) {
    std::string out;
    base::append_field(out, request.principal);
    base::append_u32(out, static_cast<uint32_t>(request.query.size()));
    for (const auto& [name, value] : request.query) {
        base::append_field(out, name);
        base::append_field(out, value);
    }
    base::append_field(out, request.body);
    return out;
}

Result<std::string> CandidateWork::operator()(runtime::JobTask& task) const {
    RAMPART_TRY(const auto asked, read_work(task.request()));
    if (asked.request.submit && !task.first_time()) {
        return base::make_error(Reason::kJobInterrupted,
                                "the service ended, or a backup was taken that is served now, "
                                "before this candidate was submitted to its end; a run that had "
                                "begun goes on under its number");
    }
    RAMPART_TRY(const auto made, propose_(asked.request));
    return retraining::encode(made, asked.file);
}

Result<http::Response> CandidateRoutes::handle_candidate(const http::Request& request) const {
    RAMPART_RETURN_IF_ERROR(asked_by(request.query, request.principal).map([](const auto&) {}));
    if (request.body.empty()) {
        return base::make_error(protected_attributes::Reason::kMissingField,
                                "the body is empty: send a model file");
    }
    return jobs_.answer(request, kCandidate, job_text(request), 1);
}

void CandidateRoutes::add_to(http::Router& router) const {
    router.add(
        "POST", "/v1/candidates", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_candidate(r)); },
        Lane::kAdministrative);
}

}  // namespace rampart::rampartd
