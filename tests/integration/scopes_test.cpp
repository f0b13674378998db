// Who may do what on a node: every route with every scope, and tokens from the command line to the
// running process.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "rampart/access/authenticator.hpp"
#include "rampart/access/principals.hpp"
#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/provider_key.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

/// Knows a principal for each scope, whose token is the scope's name.
class ByScope final : public access::Authenticator {
  public:
    base::Result<access::Principal> identify(const access::Caller& caller) const override {
        if (caller.token.empty())
            return base::make_error(access::Reason::kUnauthenticated, "there is no token");
        RAMPART_TRY(const auto scopes, access::Scopes::parse({std::string(caller.token)}));
        return access::Principal{std::string(caller.token), scopes};
    }
};

class Scopes : public testing::Test {
  protected:
    Scopes()
        : folder_(fs::path(testing::TempDir()) / ("scopes" + base::to_hex(base::random_bytes(8)))) {
        const auto stream =
            loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream, 1)
                .value();
    }
    ~Scopes() override { fs::remove_all(folder_); }

    test_support::Ran rampart(const std::string& arguments) {
        return test_support::run_program(fmt::format("{}/rampart {} --config {}",
                                                     test_support::bin_dir(), arguments,
                                                     workspace_.config.string()));
    }

    demo::ServiceProcess start() {
        auto process =
            demo::ServiceProcess::start(test_support::bin_dir() + "/rampart", workspace_.config,
                                        workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }

    fs::path folder_;
    demo::Workspace workspace_;
};

/// The scope of each route; none: open to all.
const std::map<std::string, std::string> kMatrix{
    {"GET /healthz", ""},
    {"GET /readyz", ""},
    {"GET /metrics", ""},
    {"GET /v1/policy", ""},
    {"GET /console", ""},
    {"GET /console/", ""},
    {"GET /console/{file}", ""},
    {"POST /v1/session", ""},    // with a token
    {"GET /v1/session", ""},     // with the cookie
    {"DELETE /v1/session", ""},  // with cookie and write key
    {"GET /v1/decisions", "audit"},
    {"POST /v1/decisions", "decide"},
    {"GET /v1/decisions/{id}", "read"},
    {"GET /v1/decisions/{id}/notice", "read"},
    {"GET /v1/decisions/{id}/explanation", "read"},
    {"POST /v1/decisions/{id}/review", "report"},
    {"POST /v1/decisions/{id}/review/answer", "report"},
    {"GET /v1/reviews", "read"},
    {"POST /v1/outcomes", "report"},
    {"POST /v1/overrides", "report"},
    {"POST /v1/protected-attributes", "protect"},
    {"GET /v1/jobs", "read"},
    {"GET /v1/jobs/{id}", "read"},
    {"POST /v1/clock", "operate"},
    {"POST /v1/clock/accept", "operate"},
    {"GET /v1/models", "read"},
    {"GET /v1/policies/at", "read"},
    {"GET /v1/audit", "audit"},
    {"GET /v1/events", "read"},
    {"GET /v1/assignments", "read"},
    {"POST /v1/assignments", "operate"},
    {"DELETE /v1/assignments/{id}", "operate"},
    {"GET /v1/proposals", "read"},
    {"GET /v1/proposals/{id}", "read"},
    {"POST /v1/proposals/{id}/approve", "approve"},
    {"POST /v1/proposals/{id}/reject", "approve"},
    {"GET /v1/stops", "read"},
    {"POST /v1/stops/{name}", "operate"},
    {"DELETE /v1/stops/{name}", "operate"},
    {"POST /v1/rollback", "operate"},
    {"POST /v1/candidates", "operate"},
    {"GET /v1/certificates/{name}", "audit"},
    {"GET /v1/certificates/{name}/evidence", "audit"},
    {"GET /v1/partitions", "read"},
    {"POST /v1/partitions/resume", "operate"},
    {"GET /v1/quarantine", "audit"},
    {"POST /v1/quarantine/replay", "operate"},
    {"POST /v1/quarantine/drop", "operate"},
    {"POST /v1/erasures", "erase"},
    {"GET /v1/holds", "read"},
    {"POST /v1/holds", "erase"},
    {"POST /v1/holds/remove", "erase"},
    {"GET /v1/unmatched", "read"},
    {"GET /v1/status", "read"},
    {"GET /v1/monitor", "read"},
    {"GET /v1/report", "audit"},
    {"GET /v1/runs", "read"},
    {"GET /v1/tokens", "grant"},
    {"POST /v1/tokens", "grant"},
    {"POST /v1/tokens/{name}/rotate", "grant"},
    {"DELETE /v1/tokens/{name}", "grant"},
};

TEST_F(Scopes, EveryRouteTakesItsOwnScopeAndNoOther) {
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    http::Router router(std::make_shared<ByScope>());
    node->add_routes(router);
    std::set<std::string> seen;
    for (const auto& route : router.routes()) {
        const auto name = route.method + " " + route.pattern;
        seen.insert(name);
        ASSERT_TRUE(kMatrix.contains(name)) << name << " is in no line of the table";
        const auto& wanted = kMatrix.at(name);
        const auto status = [&](const std::string& token) {
            http::Request head;
            head.method = route.method;
            head.path = route.pattern;  // a name in braces is a value, too
            if (!token.empty()) head.headers = {{"Authorization", "Bearer " + token}};
            const auto plan = router.plan(head);
            return plan.refusal ? plan.refusal->status : 200;
        };
        EXPECT_EQ(status(""), wanted.empty() ? 200 : 401) << name;
        for (const auto& scope : access::kScopes)
            EXPECT_EQ(status(std::string(scope.text)),
                      wanted.empty() || wanted == scope.text ? 200 : 403)
                << name << " with " << scope.text;
    }
    EXPECT_EQ(seen.size(), kMatrix.size());
}

TEST_F(Scopes, TokensAreMadeReplacedAndRevokedWhileTheNodeServes) {
    auto process = start();
    const auto endpoint = base::read_file(workspace_.endpoint_file, 200).value();
    const auto asks = [&](const std::string& token, const std::string& path) {
        return http::Client::create(endpoint.substr(0, endpoint.find('\n')), {.token = token})
            .value()
            .get(path)
            .value()
            .status;
    };
    const auto becomes = [&](const std::string& token, const std::string& path, int status) {
        for (int i = 0; i < 600 && asks(token, path) != status; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return asks(token, path);
    };
    const auto out = (folder_ / "reader").string();
    const auto read = [&] {
        auto token = base::read_file(out, 200).value();
        token.pop_back();
        return token;
    };
    const auto made = rampart("token create reader --scope read --out " + out);
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const auto first = read();
    EXPECT_EQ(made.output.find(first), std::string::npos);
    EXPECT_EQ(becomes(first, "/v1/status", 200), 200);
    EXPECT_EQ(asks(first, "/v1/quarantine"), 403);
    ASSERT_EQ(rampart("token rotate reader --out " + out).exit_code, 0);
    EXPECT_EQ(becomes(read(), "/v1/status", 200), 200);
    EXPECT_EQ(becomes(first, "/v1/status", 401), 401);
    const auto listed = rampart("token list");
    EXPECT_NE(listed.output.find("reader"), std::string::npos) << listed.output;
    EXPECT_EQ(listed.output.find(read()), std::string::npos);
    ASSERT_EQ(rampart("token revoke reader").exit_code, 0);
    EXPECT_EQ(becomes(read(), "/v1/status", 401), 401);
    EXPECT_EQ(rampart("token revoke reader").exit_code, 2);
    ASSERT_TRUE(process.stop());
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    size_t changes = 0;
    const auto entries = node->registry().audit_entries().value();
    for (const auto& entry : entries)
        changes += entry.action == "principals_changed" && entry.actor == "file";
    EXPECT_GE(changes, 3u);
}

TEST_F(Scopes, ACommandUsesTheTokenThatTheEnvironmentNames) {
    auto process = start();
    const auto file = (folder_ / "eraser").string();
    ASSERT_EQ(rampart("token create eraser --scope erase --out " + file).exit_code, 0);
    const auto as_eraser = [&](const std::string& arguments) {
        return test_support::run_program(
            fmt::format("RAMPART_TOKEN_FILE={} {}/rampart {} --config {}", file,
                        test_support::bin_dir(), arguments, workspace_.config.string()));
    };
    auto held = as_eraser("hold add --person p1 --matter m --reason r");
    for (int i = 0; i < 600 && held.exit_code != 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        held = as_eraser("hold add --person p1 --matter m --reason r");
    }
    EXPECT_EQ(held.exit_code, 0) << held.output;
    const auto refused = as_eraser("status");
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_NE(refused.output.find("needs the scope 'read'"), std::string::npos) << refused.output;
    ASSERT_TRUE(process.stop());
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    bool placed = false;
    const auto entries = node->registry().audit_entries().value();
    for (const auto& entry : entries)
        placed =
            placed || (entry.actor == "eraser" && entry.action.find("hold") != std::string::npos);
    EXPECT_TRUE(placed) << "the actor is the principal";
}

TEST_F(Scopes, ACallerOfTheIdentityProviderActsUnderItsNameAndScopes) {
    const auto key = test_support::ProviderKey::ec("one");
    const auto keys = [&](const test_support::ProviderKey& which) {
        ASSERT_TRUE(base::write_file_atomically(folder_ / "jwks.json",
                                                fmt::format(R"({{"keys":[{}]}})", which.jwk())));
    };
    keys(key);
    auto config = base::read_file(workspace_.config, 1 << 20).value();
    config +=
        "\n[http.oidc]\nissuer = \"https://login\"\naudience = \"rampart\"\nkeys_file = "
        "\"jwks.json\"\n";
    ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
    auto process = start();
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    const auto claims =
        fmt::format(R"({{"iss":"https://login","aud":"rampart","sub":"anna","iat":{},"exp":{},)"
                    R"("scope":"rampart:read rampart:erase"}})",
                    now, now + 600);
    const auto asking = [&](const std::string& token) {
        auto endpoint = base::read_file(workspace_.endpoint_file, 256).value();
        endpoint.pop_back();
        return http::Client::create(endpoint, {.token = token}).value();
    };
    auto anna = asking(key.token(claims));
    EXPECT_EQ(anna.get("/v1/status").value().status, 200);
    EXPECT_EQ(anna.post("/v1/decisions", "{}").value().status, 403);
    const auto held = anna.post("/v1/holds", R"({"person_id":"p-1","matter":"m","reason":"r"})");
    EXPECT_EQ(held.value().status, 200) << held.value().body;
    const auto other = test_support::ProviderKey::ec("one");
    EXPECT_EQ(asking(other.token(claims)).get("/v1/status").value().status, 401);
    // the provider has changed its keys
    keys(other);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (asking(other.token(claims)).get("/v1/status").value().status != 200) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(anna.get("/v1/status").value().status, 401);
    EXPECT_EQ(asking(workspace_.token).get("/v1/status").value().status, 200);
    ASSERT_TRUE(process.stop());
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    size_t holds = 0, changes = 0;
    const auto entries = node->registry().audit_entries().value();
    for (const auto& entry : entries) {
        holds += entry.action.find("hold") != std::string::npos && entry.actor == "oidc:anna";
        changes += entry.action == "provider_keys_changed";
    }
    EXPECT_EQ(holds, 1u);
    EXPECT_EQ(changes, 1u);
}

}  // namespace
}  // namespace rampart::rampartd
