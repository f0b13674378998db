#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdio>

#include "rampart/base/digest.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/decision_service/routes.hpp"
#include "services/rampartd/node.hpp"
#include "source_tree.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::architecture {
namespace {

namespace json = boost::json;

using Routes = std::map<std::string, std::string>;  // "GET /v1/status" -> scope; empty: for all

struct Documented {
    Routes all;
    Routes decision_service;  // those without `x-served-by: rampartd`
};

/// Reads the document: Python's parser of YAML (python3-yaml) writes it as JSON.
json::value read_document() {
    const std::string command =
        "python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))' "
        "'" +
        test_support::source_dir() + "/schemas/http/openapi.yaml'";
    FILE* pipe = ::popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    std::string text;
    char buffer[65536];
    for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        text.append(buffer, n);
    EXPECT_EQ(::pclose(pipe), 0);
    return json::parse(text);
}

Documented documented() {
    Documented document;
    std::set<std::string> ids;
    const auto whole = read_document();
    for (const auto& [path, item] : whole.at("paths").as_object()) {
        for (const auto& [method, operation] : item.as_object()) {
            std::string name(method);
            std::transform(name.begin(), name.end(), name.begin(), ::toupper);
            name += " " + std::string(path);
            const auto& members = operation.as_object();
            const auto& security = members.at("security").as_array();  // empty: for all
            document.all[name] =
                security.empty()
                    ? ""
                    : std::string(security.at(0).at("token").as_array().at(0).as_string());
            if (!members.contains("x-served-by"))
                document.decision_service[name] = document.all[name];
            EXPECT_TRUE(ids.insert(std::string(members.at("operationId").as_string())).second)
                << name;
        }
    }
    return document;
}

fs::path temporary_folder() {
    return fs::path(testing::TempDir()) / ("openapi" + base::to_hex(base::random_bytes(8)));
}

void add_routes_of(const http::Router& router, Routes& routes) {
    for (const auto& route : router.routes()) {
        routes[route.method + " " + route.pattern] =
            route.access ? std::string(access::to_string(*route.access)) : "";
    }
}

Routes served_by_the_whole() {
    const auto folder = temporary_folder();
    const auto stream =
        loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value();
    const auto workspace =
        demo::prepare_workspace(folder, test_support::source_dir() + "/ops/config", stream, 1)
            .value();
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

TEST(OpenApi, NamesAllScopesAndEachIsNeededBySomeRoute) {
    const auto schema = read_document().at("components").at("schemas").at("Scopes").as_object();
    std::set<std::string> unused;
    for (const auto& scope : schema.at("items").at("enum").as_array())
        unused.insert(std::string(scope.as_string()));
    EXPECT_EQ(unused.size(), access::kScopes.size());
    for (const auto& [route, scope] : documented().all) unused.erase(scope);
    EXPECT_EQ(unused, std::set<std::string>{});
}

TEST(OpenApi, DescribesWhatAMisdirectedRequestIsAnsweredWith) {
    const auto components = read_document().at("components");
    const auto response = decision_service::error_answer(
        base::make_error(decision_log::Reason::kNotOwner, "elsewhere"), "https://n.example:8443");
    const auto& schema = components.at("schemas").at("Problem").at("properties").as_object();
    const auto problem = json::parse(response.body).as_object();
    EXPECT_TRUE(problem.contains("owner"));
    for (const auto& member : problem) EXPECT_TRUE(schema.contains(member.key())) << member.key();
    const auto& headers = components.at("responses").at("Misdirected").at("headers").as_object();
    EXPECT_EQ(headers.size(), response.headers.size());
    for (const auto& header : response.headers)
        EXPECT_TRUE(headers.contains(header.name)) << header.name;
}

}  // namespace
}  // namespace rampart::architecture
