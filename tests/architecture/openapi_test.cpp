#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/decision_service/decision_service.hpp"
#include "source_tree.hpp"

namespace rampart::architecture {
namespace {

using Routes = std::map<std::string, bool>;  // "GET /v1/policy" -> whether it wants the token

/// The operations of the document: it is written with one path a line, two spaces in.
Routes documented() {
    Routes routes;
    std::string path, operation;
    bool in_paths = false;
    for (const auto& line : lines_of(read_source("schemas/http/openapi.yaml"))) {
        if (line.starts_with("paths:")) in_paths = true;
        if (!in_paths) continue;
        if (line.starts_with("  /")) path = line.substr(2, line.size() - 3);
        for (const char* method : {"get", "post", "put", "delete", "patch", "head"}) {
            if (line == "    " + std::string(method) + ":") {
                operation = method;
                std::transform(operation.begin(), operation.end(), operation.begin(), ::toupper);
                operation += " " + path;
                routes[operation] = false;
            }
        }
        if (line == "      security: [{token: []}]") routes[operation] = true;
    }
    return routes;
}

Routes served() {
    const auto folder =
        fs::path(testing::TempDir()) / ("openapi" + base::to_hex(base::random_bytes(8)));
    fs::create_directories(folder);
    Routes routes;
    {
        const auto log = streaming_local::LocalLog::open(folder / "log").value();
        for (const char* topic : {"decisions", "outcomes"}) {
            EXPECT_TRUE(log->create_topic(topic, {}));
        }
        const runtime::ManualClock clock{{}};
        runtime::Metrics metrics;
        runtime::Health health;
        decision_service::DecisionServiceOptions options;
        options.index_path = folder / "index";
        options.product.name = "p";
        options.product.label = {"repaid", 0, 1, 6, {}};
        options.product.impact = {"u", -1, 1, std::nullopt, 1, -1, 0};
        const auto service =
            decision_service::DecisionService::open(options, {*log, *log, clock, metrics, health})
                .value();
        http::Router router;
        service->add_routes(router);
        for (const auto& route : router.routes()) {
            routes[route.method + " " + route.pattern] = route.access == http::Access::kToken;
        }
    }
    fs::remove_all(folder);
    return routes;
}

TEST(OpenApi, DescribesTheRoutesThatAreServedAndNoOther) {
    EXPECT_FALSE(documented().empty());
    EXPECT_EQ(documented(), served());
}

}  // namespace
}  // namespace rampart::architecture
