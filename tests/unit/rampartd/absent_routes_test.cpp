#include "services/rampartd/api/absent_routes.hpp"

#include <gtest/gtest.h>

#include "services/rampartd/api/run_routes.hpp"
#include "support/asking.hpp"

namespace rampart::rampartd {
namespace {

const RunRoutes kRuns(
    []() -> base::Result<std::vector<retraining::RunRecord>> {
        return std::vector<retraining::RunRecord>();
    },
    [] { return base::Result<std::string>("{}"); });

/// The routes as a node with these roles has them.
struct Routes {
    Roles roles;
    void add_to(http::Router& router) const { add_for_role(kRuns, roles, Role::kTrain, router); }
};

TEST(AbsentRoutes, RefuseByNameAndHaveTheScopesOfThoseThatAnswer) {
    const Routes here{Roles()}, elsewhere{parse_roles("decide,join").value()};
    http::Router with, without;
    here.add_to(with);
    elsewhere.add_to(without);
    const auto routes = with.routes(), refusals = without.routes();
    ASSERT_EQ(routes.size(), refusals.size());
    for (size_t i = 0; i < routes.size(); ++i) {
        EXPECT_EQ(refusals[i].method, routes[i].method);
        EXPECT_EQ(refusals[i].pattern, routes[i].pattern);
        EXPECT_EQ(refusals[i].access, routes[i].access);
    }
    support::Asking answers(here), refuses(elsewhere);
    EXPECT_EQ(answers.said("GET", "/v1/monitor"), "200 {}");
    EXPECT_EQ(refuses.said("GET", "/v1/monitor"), "409 role_not_here");
    EXPECT_NE(refuses.ask("GET", "/v1/runs").body.find("its roles are decide,join"),
              std::string::npos);
    EXPECT_EQ(refuses.ask("GET", "/v1/runs", "", "wrong").status, 401);
}

}  // namespace
}  // namespace rampart::rampartd
