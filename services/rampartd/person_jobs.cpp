#include "services/rampartd/person_jobs.hpp"

#include <algorithm>

#include "rampart/runtime/job_record.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/rampartd/api/erasure_jobs.hpp"
#include "services/rampartd/api/privacy_routes.hpp"

namespace rampart::rampartd {

using base::Result;
using data_retention::HeldJob;
using data_retention::NamesOfPerson;

namespace {

/// Whether a text has one of the person's ids between quotation marks, as results (JSON) and
/// messages have it.
bool has_name(const std::string& text, const NamesOfPerson& names) {
    const auto is_in = [&](const std::string& name) {
        return text.find('"' + name + '"') != std::string::npos ||
               text.find('\'' + name + '\'') != std::string::npos;
    };
    return std::any_of(names.decisions.begin(), names.decisions.end(), is_in) ||
           std::any_of(names.applications.begin(), names.applications.end(), is_in);
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
        if (has_name(job.result, names)) one.result = job.result;
        if (job.error && has_name(job.error->message, names)) one.error = job.error->message;
        if (!one.request.empty() || !one.result.empty() || !one.error.empty())
            found.push_back(std::move(one));
    }
    return found;
}

}  // namespace rampart::rampartd
