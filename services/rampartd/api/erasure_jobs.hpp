#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/data_retention/erasure.hpp"
#include "rampart/http/request.hpp"
#include "rampart/runtime/job_queue.hpp"

namespace rampart::rampartd {

/// An erasure as it is asked for: by the person's id or by that of an application.
struct AskedErasure {
    std::string person, application;  // one of them is empty
    std::string actor, reason;
    bool dry_run = false;
};
/// Reads POST /v1/erasures; the actor is the principal who calls. Errors as of text_members(), and
/// invalid_argument "bad_id", "reason_missing".
base::Result<AskedErasure> read_erasure(const http::Request& request);
/// What a job keeps of it, and back.
base::Result<AskedErasure> read_erasure_job(std::string_view text);
std::string to_text(const AskedErasure& asked);

/// What POST /v1/erasures answers.
std::string erasure_answer(const data_retention::ErasureReport& report, bool dry_run);

/// The work of jobs that erase a person. Their record has the person's id until the erasure ends.
class ErasureWork {
  public:
    using Report = data_retention::ErasureReport;
    using Keep = std::function<base::Status(const Report&)>;
    /// As Node::erase; `before` and `keep` as in data_retention::ErasureRequest and ErasureDeps.
    using Erase = std::function<base::Result<Report>(
        const AskedErasure& asked, std::optional<Report> before, const Keep& keep)>;
    /// Whose application it is.
    using PersonBehind =
        std::function<base::Result<domain::PersonId>(const domain::ApplicationId& application)>;

    /// Steps of an erasure: found, gone from the files, ended.
    static constexpr uint64_t kSteps = 3;

    ErasureWork(Erase erase, PersonBehind person_behind)
        : erase_(std::move(erase)), person_behind_(std::move(person_behind)) {}
    base::Result<std::string> operator()(runtime::JobTask& task) const;

  private:
    Erase erase_;
    PersonBehind person_behind_;
};

}  // namespace rampart::rampartd
