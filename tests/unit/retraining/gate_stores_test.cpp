#include "libs/retraining/src/gate_stores.hpp"

#include <gtest/gtest.h>

#include "support/small_node.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::retraining {
namespace {

using support::day;

/// Certificates of three pairs of policies lie in one registry: each pair has its own.
TEST(RegistryStore, CertificatesAreThoseOfThePairAlone) {
    support::SmallNode node;
    const auto key = base::SigningKey::generate();
    const auto store = gate_store_of(*node.registry, key);
    const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
    std::map<std::pair<std::string, std::string>, std::vector<base::Digest>> ids;
    for (const auto& [candidate, reference] :
         {std::pair(a, b), std::pair(b, a), std::pair(a, c), std::pair(a, b)}) {
        const auto run =
            registry::testing::run_gate(candidate, reference, key, store->ledger_entries().value());
        for (size_t i = 0; i < run.ledger.size(); ++i)
            ASSERT_TRUE(store->append_ledger_entries(i, std::span(&run.ledger[i], 1), day(1)));
        ids[{candidate, reference}].push_back(store->store_certificate(run.files, day(1)).value());
    }
    for (auto& [pair, wanted] : ids) {
        auto found = store->certificate_ids(pair.first, pair.second).value();
        std::sort(found.begin(), found.end());
        std::sort(wanted.begin(), wanted.end());
        EXPECT_EQ(found, wanted);
    }
    EXPECT_EQ(ids.at({a, b}).size(), 2u);
    EXPECT_TRUE(store->certificate_ids(c, a).value().empty());
    EXPECT_TRUE(store->certificate_ids(a, a).value().empty());
}

}  // namespace
}  // namespace rampart::retraining
