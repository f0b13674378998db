#include "services/rampartd/api/job_routes.hpp"

#include <algorithm>
#include <charconv>

#include "services/decision_service/routes.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Duration;
using base::Result;
using http::Lane;
using runtime::JobPhase, runtime::JobRecord;

namespace {

constexpr size_t kMostListed = 100;
const std::string kJobs = "/v1/jobs";

Json time(const std::optional<base::TimePoint>& at) {
    return at ? Json(base::to_iso8601(*at)) : Json(nullptr);
}

Json to_json(const std::optional<base::Error>& error) {
    if (!error) return nullptr;
    return Json::object({{"code", base::to_string(error->code)},
                         {"reason", error->reason},
                         {"message", error->message}});
}

std::vector<Json::Member> members_of(const JobRecord& job) {
    return {{"id", job.id},
            {"kind", job.kind},
            {"state", runtime::to_string(job.phase)},
            {"done", job.done},
            {"total", job.total},
            {"times_begun", job.begun},
            {"asked_at", base::to_iso8601(job.asked_at)},
            {"begun_at", time(job.begun_at)},
            {"ended_at", time(job.ended_at)},
            {"error", to_json(job.error)}};
}

http::Response envelope(const JobRecord& job) {
    auto members = members_of(job);
    members.emplace_back("result", job.result.empty() ? Json(nullptr) : Json::parsed(job.result));
    return json_response(Json::object({{"job", Json::object(members)}}));
}

/// Returns the next element of a list that commas divide, in small letters and without spaces.
std::string next_element(std::string_view& rest) {
    const auto element = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), element.size() + 1));
    std::string out;
    for (const char c : element)
        if (c != ' ' && c != '\t' && c != '"')
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
}

}  // namespace

Duration wait_of(const http::Request& request, Duration otherwise) {
    constexpr std::string_view kWait = "wait=";
    auto wait = otherwise;
    bool said = false;
    for (auto rest = request.header("Prefer"); !rest.empty();) {
        const auto element = next_element(rest);
        if (element == "respond-async" && !said) wait = Duration();
        if (said || !element.starts_with(kWait)) continue;
        int64_t seconds = 0;
        const char* end = element.data() + element.size();
        const auto [last, failure] = std::from_chars(element.data() + kWait.size(), end, seconds);
        if (failure != std::errc() || last != end || seconds < 0) continue;
        wait = std::min(kLongestWait, Duration::seconds(std::min<int64_t>(seconds, 3600)));
        said = true;  // the first one counts
    }
    return wait;
}

http::Response JobAnswers::answer(
    const http::Request& request, const std::string& kind, std::string work, uint64_t total,
    const std::function<http::Response(const base::Error&)>& failed) const {
    const auto wait = wait_of(request, wait_);
    const auto asked = jobs_.submit(kind, std::move(work), total);
    if (!asked) return http::error_response(asked.error());
    auto job = jobs_.wait(asked->id, wait);
    if (!job) job = asked;  // it ended, and is forgotten already
    if (job->phase == JobPhase::kFailed)
        return failed ? failed(*job->error) : decision_service::error_answer(*job->error);
    http::Response response;
    if (job->phase == JobPhase::kDone) {
        response.body = job->result;
    } else {
        response = envelope(*job);
        response.status = 202;
    }
    response.headers.push_back({"Location", kJobs + "/" + job->id});
    return response;
}

http::Response JobRoutes::handle_jobs() const {
    std::vector<Json> jobs;
    for (const auto& job : jobs_.list(kMostListed)) jobs.push_back(Json::object(members_of(job)));
    return json_response(Json::object({{"jobs", Json::array(jobs)}}));
}

Result<http::Response> JobRoutes::handle_job(const http::Request& request) const {
    return jobs_.find(request.path_values.at("id")).map(envelope);
}

void JobRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", kJobs, Scope::kRead, [self = *this](const auto&) { return self.handle_jobs(); },
        Lane::kBulk);
    router.add(
        "GET", "/v1/jobs/{id}", Scope::kRead,
        [self = *this](const auto& r) { return respond(self.handle_job(r)); }, Lane::kBulk);
}

}  // namespace rampart::rampartd
