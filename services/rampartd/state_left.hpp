#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"
#include "services/rampartd/log_settings.hpp"

namespace rampart::rampartd {

/// Refuses a store with databases of partitions that this node does not open, whole, set aside or
/// half deleted or moved: the joined state of one that it does not join, the index of one that it
/// does not decide. No erasure would reach the persons in them. With the embedded log a node opens
/// all. Changes nothing.
///
/// Fails with failed_precondition "state_left", naming the first; unavailable "io_error": what
/// cannot be looked at may have persons, too.
base::Status check_nothing_left(const std::filesystem::path& store, const LogSettings& log);

/// Refuses a node that does not erase persons (role train) with an erasure that was accepted and
/// has not ended: in the register, or as a job. Nothing would go on with it. Changes nothing; the
/// register may be open nowhere.
///
/// Fails with failed_precondition "erasure_left"; data_loss "bad_job_record": a job that cannot be
/// read may be one; those of privacy::read_register and runtime::read_jobs.
base::Status check_no_erasure_left(const std::filesystem::path& store, const Roles& roles);

}  // namespace rampart::rampartd
