#include "services/rampartd/api/certificate_routes.hpp"

#include <gtest/gtest.h>

#include "support/asking.hpp"
#include "support/small_stores.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::rampartd {
namespace {

class CertificateRoutesTest : public testing::Test {
  protected:
    CertificateRoutesTest() {
        auto& registry = *stores_.registry;
        run_ = registry::testing::run_gate(std::string(64, 'a'), std::string(64, 'b'), key_);
        for (size_t i = 0; i < run_.ledger.size(); ++i) {
            EXPECT_TRUE(registry.append_ledger_entries(i, std::vector<std::string>{run_.ledger[i]},
                                                       support::day(1), "gate"));
        }
        EXPECT_TRUE(registry.store_certificate(
            {run_.files.certificate, run_.files.evidence, key_.public_key()}, support::day(1),
            "gate"));
    }
    http::Response get(const std::string& path, bool audit) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        CertificateRoutes({stores_.service.clock, *stores_.registry, audit}).add_to(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        EXPECT_TRUE(http::parse_target(path, request));
        return router.handle(std::move(request));
    }
    size_t entries() const { return stores_.registry->audit_entries()->size(); }

    support::SmallStores stores_;
    base::SigningKey key_ = base::SigningKey::generate();
    registry::testing::GateRun run_;
};

const std::string kPath = "/v1/certificates/e1r1", kWho = "?reason=validation";

TEST_F(CertificateRoutesTest, WithoutAuditNothingIsShownAndNoNameIsConfirmed) {
    const size_t before = entries();
    const auto known = get(kPath + kWho, false), unknown = get("/v1/certificates/e9r9", false);
    EXPECT_EQ(known.status, 403);
    EXPECT_NE(known.body.find("audit_required"), std::string::npos) << known.body;
    EXPECT_EQ(known.body, unknown.body);
    EXPECT_EQ(get(kPath + "/evidence" + kWho, false).body, known.body);
    EXPECT_EQ(entries(), before);
}

TEST_F(CertificateRoutesTest, WithAuditTheFilesAreShownAndEachReadingIsLogged) {
    const size_t before = entries();
    const auto certificate = get(kPath + kWho, true);
    EXPECT_EQ(certificate.status, 200);
    EXPECT_EQ(certificate.body, run_.files.certificate);
    EXPECT_EQ(get(kPath + "/evidence" + kWho, true).body, run_.files.evidence);
    EXPECT_EQ(entries(), before + 2);
    EXPECT_EQ(stores_.audited().action, "read_figures");
    EXPECT_EQ(stores_.audited().actor, "anna");
    EXPECT_EQ(stores_.audited().details.at("reason"), "validation");
}

TEST_F(CertificateRoutesTest, WhoReadsAndWhyHasToBeSaid) {
    const size_t before = entries();
    for (const char* query : {"", "?reason=", "?actor=anna&reason=validation"})
        EXPECT_EQ(get(kPath + query, true).status, 400) << query;
    EXPECT_EQ(get(kPath + kWho + "&x=1", true).status, 400);
    EXPECT_EQ(get("/v1/certificates/e9r9" + kWho, true).status, 404);
    EXPECT_EQ(entries(), before);
}

}  // namespace
}  // namespace rampart::rampartd
