#include "tools/demo/driver.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "tools/demo/reasons.hpp"

namespace rampart::demo {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;

constexpr size_t kBatch = 250;
constexpr auto kRetryPause = std::chrono::milliseconds(20);

/// Returns the service's error, from its error document.
base::Error service_error(const http::Response& response) {
    boost::system::error_code failure;
    const auto document = boost::json::parse(response.body, failure);
    std::string reason(reason_info(Reason::kHttpError).word),
        message = response.body.substr(0, 300);
    if (!failure && document.is_object()) {
        if (const auto* error = document.as_object().if_contains("error");
            error != nullptr && error->is_object()) {
            const auto text = [&](const char* name, std::string& out) {
                const auto* value = error->as_object().if_contains(name);
                if (value != nullptr && value->is_string()) out = std::string(value->get_string());
            };
            text("reason", reason);
            text("message", message);
        }
    }
    return base::Error{base::ErrorCode::kFailedPrecondition, reason,
                       fmt::format("the service answered {}: {}", response.status, message)};
}

/// Returns the 1st, 8th, 15th and 22nd of each month in (start, end], and the end.
std::vector<TimePoint> ticks_between(TimePoint start, TimePoint end) {
    std::vector<TimePoint> ticks;
    TimePoint month = base::parse_iso8601(base::month_of(start) + "-01").value();
    for (; month <= end; month = base::add_months(month, 1)) {
        for (const int day : {0, 7, 14, 21}) {
            const TimePoint tick = month + base::Duration::days(day);
            if (tick > start && tick < end) ticks.push_back(tick);
        }
    }
    ticks.push_back(end);
    return ticks;
}

}  // namespace

Session::Session(std::filesystem::path endpoint_file, std::string token, base::Duration patience)
    : endpoint_file_(std::move(endpoint_file)), token_(std::move(token)), patience_(patience) {}

Result<http::Response> Session::try_post(std::string_view target, const std::string& body) {
    if (!client_) {
        RAMPART_TRY(auto endpoint, base::read_file(endpoint_file_, 256));
        while (!endpoint.empty() && endpoint.back() == '\n') endpoint.pop_back();
        http::ClientOptions options;
        options.timeout = base::Duration::seconds(600);  // a tick may start a training run
        options.token = token_;
        RAMPART_TRY(client_, http::Client::create(endpoint, options));
    }
    return client_->post(target, body);
}

Result<std::string> Session::post(std::string_view target, const std::string& body) {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
        auto response = try_post(target, body);
        if (response && response->status < 300) return std::move(response->body);
        if (response && response->status != 503) return service_error(*response);
        if (!response) client_.reset();
        const auto waited = std::chrono::steady_clock::now() - start;
        if (std::chrono::duration_cast<std::chrono::microseconds>(waited).count() >
            patience_.micros()) {
            return response ? service_error(*response) : Result<std::string>(response.error());
        }
        std::this_thread::sleep_for(kRetryPause);
    }
}

Driver::Driver(const loan_stream::Stream& stream, std::string measure, Session session)
    : stream_(stream), measure_(std::move(measure)), session_(std::move(session)) {}

Status Driver::send_batch(size_t begin, size_t end) {
    std::string attributes;
    std::vector<domain::Application> applications;
    for (size_t i = begin; i < end; ++i) {
        const auto& applicant = stream_.applicants[i];
        attributes += protected_attributes::to_json({applicant.application.person,
                                                     applicant.application.event_time,
                                                     applicant.protected_attributes}) +
                      "\n";
        applications.push_back(applicant.application);
    }
    RAMPART_RETURN_IF_ERROR(session_.post("/v1/protected-attributes", attributes));
    RAMPART_TRY(const auto answer,
                session_.post("/v1/decisions",
                              wire::to_json(std::span<const domain::Application>(applications))));
    RAMPART_TRY(auto decisions, wire::decisions_from_json(answer));
    if (decisions.size() != applications.size()) {
        return base::make_error(Reason::kBadAnswer, "{} decisions for {} applications",
                                decisions.size(), applications.size());
    }
    for (size_t i = 0; i < decisions.size(); ++i) {
        if (decisions[i].action == domain::Action::kApprove) {
            for (const auto& report : stream_.applicants[begin + i].reports) {
                pending_.emplace(report.observed_at, PendingReport{begin + i, report});
            }
        }
        decisions_.push_back(std::move(decisions[i]));
    }
    return base::ok();
}

Status Driver::send_applications(TimePoint until) {
    const auto& applicants = stream_.applicants;
    size_t last = decisions_.size();
    while (last < applicants.size() && applicants[last].application.event_time <= until) ++last;
    while (decisions_.size() < last) {
        const size_t begin = decisions_.size();
        RAMPART_RETURN_IF_ERROR(send_batch(begin, std::min(begin + kBatch, last)));
    }
    return base::ok();
}

Status Driver::send_outcomes(TimePoint until) {
    std::vector<domain::Outcome> outcomes;
    auto it = pending_.begin();
    for (; it != pending_.end() && it->first <= until; ++it) {
        const auto& [applicant, report] = it->second;
        outcomes.push_back({decisions_[applicant].id, measure_, report.revision, report.value,
                            report.observed_at});
    }
    pending_.erase(pending_.begin(), it);
    for (size_t begin = 0; begin < outcomes.size(); begin += kBatch) {
        const auto part = std::span<const domain::Outcome>(outcomes).subspan(
            begin, std::min(kBatch, outcomes.size() - begin));
        RAMPART_RETURN_IF_ERROR(session_.post("/v1/outcomes", wire::to_json(part)));
    }
    return base::ok();
}

Status Driver::run(const Progress& progress) {
    const auto ticks = ticks_between(stream_.start, stream_.end);
    for (size_t i = 0; i < ticks.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(send_applications(ticks[i]));
        RAMPART_RETURN_IF_ERROR(send_outcomes(ticks[i]));
        RAMPART_RETURN_IF_ERROR(session_.post(
            "/v1/clock", fmt::format("{{\"now\":\"{}\"}}", base::to_iso8601(ticks[i]))));
        progress(ticks[i], static_cast<double>(i + 1) / static_cast<double>(ticks.size()));
    }
    return base::ok();
}

}  // namespace rampart::demo
