#include "services/rampartd/api/erasure_jobs.hpp"

#include <boost/json.hpp>

#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using data_retention::ErasureReport;
namespace json = boost::json;

namespace {

base::Error bad_record(std::string_view why) {
    return base::make_error(runtime::Reason::kBadJobRecord,
                            "what an interrupted erasure has kept cannot be read: {}", why);
}

/// Reads what erasure_answer() wrote, but for what remains.
Result<ErasureReport> read_kept(std::string_view text) {
    boost::system::error_code failure;
    const auto document = json::parse(text, failure);
    if (failure) return bad_record(failure.message());
    ErasureReport report;
    try {
        report.quarantined = document.at("quarantined").to_number<size_t>();
        report.attributes = document.at("protected_attributes").as_bool();
        report.keys = document.at("keys_destroyed").to_number<size_t>();
        report.in_clear = document.at("in_clear").to_number<size_t>();
        for (const auto& one : document.at("decisions").as_array()) {
            joiner::PersonDecision decision{};
            decision.decision = domain::DecisionId(std::string(one.at("decision_id").as_string()));
            RAMPART_TRY(decision.decided_at,
                        base::parse_iso8601(std::string(one.at("decided_at").as_string())));
            report.decisions.push_back(decision);
        }
    } catch (const std::exception& e) {
        return bad_record(e.what());
    }
    return report;
}

/// Reads what an erasure is asked for by, with the further members.
Result<AskedErasure> read_asked(std::string_view body, std::vector<MemberSpec> specs) {
    constexpr auto kText = MemberSpec::Kind::kText;
    specs.insert(specs.end(), {{"person_id", kText, false},
                               {"application_id", kText, false},
                               "reason",
                               {"dry_run", MemberSpec::Kind::kFlag}});
    RAMPART_TRY(const auto members, text_members(body, specs));
    const bool by_application = members.contains("application_id");
    if (by_application == members.contains("person_id")) {
        return base::make_error(by_application ? protected_attributes::Reason::kUnknownField
                                               : protected_attributes::Reason::kMissingField,
                                "$.person_id: give either person_id or application_id");
    }
    AskedErasure asked;
    if (const auto actor = members.find("actor"); actor != members.end())
        asked.actor = actor->second;
    asked.dry_run = members.at("dry_run") == "true";
    const std::string name = by_application ? "application_id" : "person_id";
    (by_application ? asked.application : asked.person) = members.at(name);
    RAMPART_RETURN_IF_ERROR(domain::check_id(name, members.at(name)));
    RAMPART_RETURN_IF_ERROR(check_reason(members));
    asked.reason = members.at("reason");
    return asked;
}

}  // namespace

Result<AskedErasure> read_erasure(const http::Request& request) {
    RAMPART_TRY(auto asked, read_asked(request.body, {}));
    asked.actor = request.principal;
    return asked;
}

Result<AskedErasure> read_erasure_job(std::string_view text) {
    std::string today(text);
    // what earlier releases kept for false
    constexpr std::string_view kOld = R"("dry_run":"no"})";
    if (today.ends_with(kOld))
        today.replace(today.size() - kOld.size(), kOld.size(), R"("dry_run":false})");
    return read_asked(today, {"actor"});
}

std::string to_text(const AskedErasure& asked) {
    const bool by_application = !asked.application.empty();
    return Json::object({{by_application ? "application_id" : "person_id",
                          by_application ? asked.application : asked.person},
                         {"actor", asked.actor},
                         {"reason", asked.reason},
                         {"dry_run", asked.dry_run}})
        .text();
}

std::string erasure_answer(const ErasureReport& report, bool dry_run) {
    std::vector<Json> decisions;
    for (const auto& one : report.decisions) {
        decisions.push_back(Json::object({{"decision_id", one.decision.value()},
                                          {"decided_at", base::to_iso8601(one.decided_at)}}));
    }
    const std::vector<Json> remains(report.remains.begin(), report.remains.end());
    return Json::object({{"erased", !dry_run},
                         {"decisions", Json::array(decisions)},
                         {"quarantined", report.quarantined},
                         {"protected_attributes", report.attributes},
                         {"keys_destroyed", report.keys},
                         {"in_clear", report.in_clear},
                         {"remains", Json::array(remains)}})
        .text();
}

Result<std::string> ErasureWork::operator()(runtime::JobTask& task) const {
    RAMPART_TRY(auto asked, read_erasure_job(task.request()));
    if (!asked.application.empty()) {
        RAMPART_TRY(const auto person, person_behind_(domain::ApplicationId(asked.application)));
        asked.person = person.value();
        asked.application.clear();
        // once the erasure has begun, the application leads to no person any more
        RAMPART_RETURN_IF_ERROR(task.rewrite(to_text(asked)));
    }
    std::optional<ErasureReport> before;
    if (!task.kept().empty()) {
        RAMPART_TRY(before, read_kept(task.kept()));
    }
    uint64_t steps = before ? 1 : 0;
    const auto keep = [&](const ErasureReport& report) -> Status {
        // what was not read of the log, as the process is to end, is not erased yet
        if (task.stopping())
            return base::make_error(Reason::kStopping, "this process is about to end");
        steps = std::min(steps + 1, kSteps - 1);
        return task.keep(erasure_answer(report, false), steps);
    };
    RAMPART_TRY(const auto report, erase_(asked, std::move(before), keep));
    return erasure_answer(report, false);
}

}  // namespace rampart::rampartd
