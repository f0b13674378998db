#pragma once

#include <filesystem>
#include <vector>

#include "rampart/data_retention/person_record.hpp"

namespace rampart::rampartd {

inline constexpr const char* kOverrideJobs = "override";  // kind of jobs with POST /v1/overrides

/// Returns the jobs of a folder that are about a person, each with what of it is: erasures of the
/// person, overrides of the person's decisions without those of others, and what has ended with a
/// decision of the person named in its result or error. Errors: runtime::read_jobs's; data_loss
/// "bad_job_record": a file, or a request or result in it, cannot be read.
base::Result<std::vector<data_retention::HeldJob>> jobs_of(
    const std::filesystem::path& folder, const data_retention::NamesOfPerson& names);

}  // namespace rampart::rampartd
