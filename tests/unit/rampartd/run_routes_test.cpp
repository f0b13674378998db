#include "services/rampartd/api/run_routes.hpp"

#include <gtest/gtest.h>

#include "support/asking.hpp"

namespace rampart::rampartd {
namespace {

TEST(RunRoutes, ListRunsAsTheyAreStored) {
    retraining::RunRecord run;
    run.ordinal = 3;
    const auto runs = [&](size_t n) {
        return support::Asking(RunRoutes(
            [&, n]() -> base::Result<std::vector<retraining::RunRecord>> {
                return std::vector(n, run);
            },
            [] { return base::Result<std::string>("{}"); }));
    };
    EXPECT_EQ(runs(0).said("GET", "/v1/runs"), R"(200 {"runs":[]})");
    const auto one = retraining::encode(run);
    EXPECT_EQ(runs(2).said("GET", "/v1/runs"), R"(200 {"runs":[)" + one + ',' + one + "]}");
    EXPECT_EQ(runs(1).ask("GET", "/v1/runs", "", "wrong").status, 401);
}

TEST(RunRoutes, ShowTheMonitorsReport) {
    base::Result<std::string> report = std::string(R"({"looks":[]})");
    support::Asking api(RunRoutes(
        []() -> base::Result<std::vector<retraining::RunRecord>> {
            return base::Error{base::ErrorCode::kDataLoss, "bad_run", "damaged"};
        },
        [&] { return report; }));
    EXPECT_EQ(api.said("GET", "/v1/monitor"), R"(200 {"looks":[]})");
    report = base::Error{base::ErrorCode::kUnavailable, "log_stopped", "wait"};
    EXPECT_EQ(api.said("GET", "/v1/monitor"), "503 log_stopped");
    EXPECT_EQ(api.said("GET", "/v1/runs"), "500 bad_run");
}

}  // namespace
}  // namespace rampart::rampartd
