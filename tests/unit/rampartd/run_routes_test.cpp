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
    EXPECT_EQ(runs(0).said("GET", "/v1/runs"), R"(200 {"runs":[],"next_cursor":null})");
    const auto one = retraining::encode(run);
    EXPECT_EQ(runs(2).said("GET", "/v1/runs"),
              R"(200 {"runs":[)" + one + ',' + one + R"(],"next_cursor":null})");
    EXPECT_EQ(runs(1).ask("GET", "/v1/runs", "", "wrong").status, 401);
}

TEST(RunRoutes, ListRunsInParts) {
    std::vector<retraining::RunRecord> all(1500);
    for (size_t i = 0; i < all.size(); ++i) all[i].ordinal = static_cast<uint32_t>(i + 1);
    http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
    RunRoutes([&]() -> base::Result<std::vector<retraining::RunRecord>> { return all; },
              [] { return base::Result<std::string>("{}"); })
        .add_to(router);
    const auto get = [&](const std::string& target) {
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(target, request));
        return router.handle(std::move(request));
    };
    const auto last = get("/v1/runs").body;
    EXPECT_TRUE(last.ends_with("\"next_cursor\":500}")) << last.substr(last.size() - 60);
    EXPECT_TRUE(last.starts_with("{\"runs\":[" + retraining::encode(all[500])));
    const auto first = get("/v1/runs?cursor=500").body;
    EXPECT_TRUE(first.ends_with(retraining::encode(all[499]) + "],\"next_cursor\":null}"));
    EXPECT_EQ(get("/v1/runs?limit=1").body,
              "{\"runs\":[" + retraining::encode(all[1499]) + "],\"next_cursor\":1499}");
    EXPECT_EQ(get("/v1/runs?limit=0").status, 400);
    EXPECT_EQ(get("/v1/runs?since=1").status, 400);
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
