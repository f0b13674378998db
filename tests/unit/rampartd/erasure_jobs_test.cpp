#include "services/rampartd/api/erasure_jobs.hpp"

#include <gtest/gtest.h>

#include "support/working_jobs.hpp"

namespace rampart::rampartd {
namespace {

using data_retention::ErasureReport;

const std::string kKind = "erasure";

ErasureReport report() {
    ErasureReport one;
    one.decisions.push_back({});
    one.decisions[0].decision = domain::DecisionId("d-1");
    one.decisions[0].decided_at = base::TimePoint::from_micros(1'234'567);
    one.quarantined = 2;
    one.attributes = true;
    one.keys = 3;
    one.in_clear = 4;
    return one;
}

std::string refusal(const std::string& body) {
    http::Request request;
    request.body = body;
    request.principal = "anna";
    const auto asked = read_erasure(request);
    return asked ? asked->actor : asked.error().reason;
}

TEST(Erasures, AreReadAsTheyAreWritten) {
    for (const char* body : {R"({"person_id":"p","actor":"o","reason":"r","dry_run":false})",
                             R"({"application_id":"a","actor":"o","reason":"r","dry_run":true})"}) {
        const auto asked = read_erasure_job(body);
        ASSERT_TRUE(asked) << asked.error().message;
        EXPECT_EQ(to_text(*asked), body);
    }
    EXPECT_EQ(refusal(R"({"person_id":"","reason":"r","dry_run":false})"), "bad_id");
    EXPECT_EQ(refusal(R"({"person_id":"p","reason":"","dry_run":false})"), "reason_missing");
    EXPECT_EQ(refusal(R"({"person_id":"p","actor":"o","reason":"r","dry_run":false})"),
              "unknown_field")
        << "the actor is who calls";
}

TEST(Erasures, AreOfOnePersonByOneOfTwoNames) {
    const auto refused = [](const std::string& members) {
        return refusal(R"({"reason":"r","dry_run":true)" + members + "}");
    };
    EXPECT_EQ(refused(R"(,"person_id":"p")"), "anna");
    EXPECT_EQ(refused(""), "missing_field");
    EXPECT_EQ(refused(R"(,"person_id":"p","application_id":"a")"), "unknown_field");
    EXPECT_EQ(refused(R"(,"person_id":"p","person_id":"q")"), "duplicate_member");
}

TEST(Erasures, JobsOfEarlierReleasesAreRead) {
    const auto asked =
        read_erasure_job(R"({"person_id":"p","actor":"o","reason":"r","dry_run":"no"})");
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_EQ(to_text(*asked), R"({"person_id":"p","actor":"o","reason":"r","dry_run":false})");
}

/// A record of a job that ran when its process ended.
runtime::JobRecord interrupted(const AskedErasure& asked, const std::string& kept) {
    runtime::JobRecord job;
    job.id = "00ff";
    job.kind = kKind;
    job.serial = 1;
    job.phase = runtime::JobPhase::kRunning;
    job.total = ErasureWork::kSteps;
    job.begun = 1;
    job.asked_at = runtime::SystemClock().now();
    job.request = to_text(asked);
    job.kept = kept;
    return job;
}

TEST(Erasures, AnInterruptedOneGoesOnWithWhatItKept) {
    std::vector<std::string> before;
    const auto erase = [&](const AskedErasure& asked, std::optional<ErasureReport> had,
                           const ErasureWork::Keep& keep) -> base::Result<ErasureReport> {
        EXPECT_EQ(asked.person, "p");
        before.push_back(had ? erasure_answer(*had, false) : "nothing");
        RAMPART_RETURN_IF_ERROR(keep(report()));
        return report();
    };
    const auto unknown = [](const auto&) -> base::Result<domain::PersonId> {
        return base::Error{base::ErrorCode::kNotFound, "unknown_application", "x"};
    };
    const AskedErasure asked{"p", "", "o", "r"};
    for (const auto& kept : {erasure_answer(report(), false), std::string()}) {
        support::WorkingJobs jobs(kKind, ErasureWork(erase, unknown), {interrupted(asked, kept)});
        const auto job = jobs.queue().wait("00ff", base::Duration::seconds(60)).value();
        EXPECT_EQ(job.result, erasure_answer(report(), false));
        EXPECT_EQ(job.begun, 2u);
    }
    EXPECT_EQ(before, (std::vector<std::string>{erasure_answer(report(), false), "nothing"}));
    support::WorkingJobs jobs(kKind, ErasureWork(erase, unknown),
                              {interrupted(asked, "{\"decisions\":3}")});
    EXPECT_EQ(jobs.queue().wait("00ff", base::Duration::seconds(60))->error->reason,
              "bad_job_record");
    EXPECT_EQ(before.size(), 2u) << "nothing is done by what cannot be read";
}

TEST(Erasures, OfAnApplicationIsOfItsPersonFromItsBeginOn) {
    std::vector<std::string> persons;
    int behind = 0;
    const auto erase = [&](const AskedErasure& asked, auto,
                           const ErasureWork::Keep&) -> base::Result<ErasureReport> {
        persons.push_back(asked.person + asked.application);
        return report();
    };
    const auto person_behind =
        [&](const domain::ApplicationId& id) -> base::Result<domain::PersonId> {
        EXPECT_EQ(id.value(), "a");
        ++behind;
        return domain::PersonId("p-1");
    };
    support::WorkingJobs jobs(kKind, ErasureWork(erase, person_behind));
    const auto job = jobs.queue().submit(kKind, to_text({"", "a", "o", "r"}), 3).value();
    EXPECT_TRUE(jobs.queue().wait(job.id, base::Duration::seconds(60))->ended());
    EXPECT_EQ(persons, std::vector<std::string>{"p-1"});
    EXPECT_EQ(behind, 1);
}

}  // namespace
}  // namespace rampart::rampartd
