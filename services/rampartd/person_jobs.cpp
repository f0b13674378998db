#include "services/rampartd/person_jobs.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "rampart/runtime/job_record.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/rampartd/api/erasure_jobs.hpp"
#include "services/rampartd/api/privacy_routes.hpp"

namespace rampart::rampartd {

namespace json = boost::json;
using base::Result;
using data_retention::HeldJob;
using data_retention::NamesOfPerson;

namespace {

/// Whether the value has a member "decision_id", however deep, that is one of the person's.
bool has_decision(const json::value& value, const NamesOfPerson& names) {
    if (const auto* object = value.if_object()) {
        for (const auto& [name, member] : *object) {
            const auto* id = name == "decision_id" ? member.if_string() : nullptr;
            if (id != nullptr && names.decisions.contains(std::string(*id))) return true;
            if (has_decision(member, names)) return true;
        }
    } else if (const auto* array = value.if_array()) {
        return std::any_of(array->begin(), array->end(),
                           [&](const auto& one) { return has_decision(one, names); });
    }
    return false;
}

/// Whether a job's result names a decision of the person.
Result<bool> has_decision(const runtime::JobRecord& job, const NamesOfPerson& names) {
    if (job.result.empty()) return false;
    boost::system::error_code failure;
    const auto result = json::parse(job.result, failure);
    if (failure)
        return base::make_error(runtime::Reason::kBadJobRecord, "job {}: its result is no JSON: {}",
                                job.id, failure.message());
    return has_decision(result, names);
}

/// Whether a message names a decision of the person, as all errors write that.
bool names_decision(const std::string& message, const NamesOfPerson& names) {
    return std::any_of(names.decisions.begin(), names.decisions.end(), [&](const auto& id) {
        return message.find(fmt::format("decision '{}'", id)) != std::string::npos;
    });
}

/// Returns what of the request is about the person; empty: nothing.
Result<std::string> request_of(const runtime::JobRecord& job, const NamesOfPerson& names) {
    if (job.kind == PrivacyRoutes::kErasure) {
        RAMPART_TRY(const auto asked, read_erasure_job(job.request));
        const bool mine =
            asked.person == names.person.value() || names.applications.contains(asked.application);
        return mine ? job.request : std::string();
    }
    if (job.kind != kOverrideJobs) return std::string();  // a model has no person in it
    RAMPART_TRY(auto asked, wire::overrides_from_json(job.request));
    std::erase_if(asked.overrides, [&](const auto& taken) {
        return !names.decisions.contains(taken.decision.value());
    });
    return asked.overrides.empty() ? std::string() : wire::to_json(asked.overrides);
}

}  // namespace

Result<std::vector<HeldJob>> jobs_of(const std::filesystem::path& folder,
                                     const NamesOfPerson& names) {
    RAMPART_TRY(const auto jobs, runtime::read_jobs(folder));
    if (!jobs.unreadable.empty()) {
        const auto& [id, error] = jobs.unreadable.front();
        return error.with_context("job " + id);
    }
    std::vector<HeldJob> found;
    for (const auto& job : jobs.records) {
        HeldJob one{job.id, job.kind, std::string(runtime::to_string(job.phase)), job.asked_at};
        if (!job.ended()) {
            auto request = request_of(job, names);
            if (!request)
                return base::make_error(runtime::Reason::kBadJobRecord, "job {}: {}", job.id,
                                        request.error().message);
            one.request = *std::move(request);
            // what an erasure has kept is about its person
            if (!one.request.empty() && job.kind == PrivacyRoutes::kErasure) one.kept = job.kept;
        }
        RAMPART_TRY(const bool mine, has_decision(job, names));
        if (mine) one.result = job.result;
        if (job.error && names_decision(job.error->message, names)) one.error = job.error->message;
        if (!one.request.empty() || !one.result.empty() || !one.error.empty())
            found.push_back(std::move(one));
    }
    return found;
}

}  // namespace rampart::rampartd
