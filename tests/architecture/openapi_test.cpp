#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/decision_service/routes.hpp"
#include "services/rampartd/node.hpp"
#include "source_tree.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::architecture {
namespace {

using Routes = std::map<std::string, bool>;  // "GET /v1/policy" -> whether it wants the token

struct Documented {
    Routes all;
    Routes decision_service;  // those without `x-served-by: rampartd`
};

/// The operations of the document: it is written with one path a line, two spaces in.
Documented documented() {
    Documented document;
    Routes& routes = document.all;
    std::string path, operation;
    std::set<std::string> of_the_whole;
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
        if (line == "      x-served-by: rampartd") of_the_whole.insert(operation);
    }
    for (const auto& [name, token] : routes) {
        if (!of_the_whole.contains(name)) document.decision_service[name] = token;
    }
    return document;
}

fs::path temporary_folder() {
    return fs::path(testing::TempDir()) / ("openapi" + base::to_hex(base::random_bytes(8)));
}

void add_routes_of(const http::Router& router, Routes& routes) {
    for (const auto& route : router.routes()) {
        routes[route.method + " " + route.pattern] = route.access.has_value();
    }
}

Routes served_by_the_whole() {
    const auto folder = temporary_folder();
    const auto stream =
        loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value();
    const auto workspace =
        demo::prepare_workspace(folder, RAMPART_SOURCE_DIR "/ops/config", stream, 1).value();
    Routes routes;
    {
        const auto node =
            rampartd::Node::open(rampartd::load_settings(workspace.config).value()).value();
        http::Router router;
        node->add_routes(router);
        add_routes_of(router, routes);
    }
    fs::remove_all(folder);
    return routes;
}

Routes served() {
    const auto folder = temporary_folder();
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
        serving::DecisionServiceOptions options;
        options.log.folder = folder / "partitions";
        options.product.name = "p";
        options.product.label = {"repaid", 0, 1, 6, {}};
        options.product.impact = {"u", -1, 1, std::nullopt, 1, -1, 0};
        const auto service =
            serving::DecisionService::open(options, {*log, *log, clock, metrics, health}).value();
        http::Router router;
        decision_service::DecisionRoutes(*service).add_to(router);
        decision_service::StatusRoutes(health, metrics).add_to(router);
        add_routes_of(router, routes);
    }
    fs::remove_all(folder);
    return routes;
}

TEST(OpenApi, DescribesTheRoutesThatAreServedAndNoOther) {
    const auto document = documented();
    EXPECT_FALSE(document.all.empty());
    EXPECT_EQ(document.decision_service, served());
    EXPECT_EQ(document.all, served_by_the_whole());
}

}  // namespace
}  // namespace rampart::architecture
