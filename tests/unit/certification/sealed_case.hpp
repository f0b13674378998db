#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "rampart/certification/certificate_file.hpp"
#include "support/gate_scenario.hpp"

namespace rampart::certification {

/// A run of two groups whose vault has missing outcomes and persons with two records, and its
/// certificate; ranges are fixed beforehand.
struct SealedCase {
    GateConfig config = test::lender_config();
    RunIdentity identity = test::lender_identity();
    ope::LoggedFeedback selection, vault;
    base::SigningKey key = base::SigningKey::generate();
    RunPlan plan;
    SealedResult result;
    SealedCertificate sealed;

    explicit SealedCase(double skill, const std::function<void(SealedCase&)>& change = {},
                        size_t records = 400, uint64_t seed = 11) {
        base::Random random(seed);
        selection = test::simulate({.records = 1000, .skill = skill, .prefix = "c"}, random);
        vault = test::simulate(
            {.records = records, .skill = skill, .missing = 0.03, .records_per_person = 2}, random);
        config.max_missing_rate = 0.2;
        config.records_per_person = 2;
        if (change) change(*this);
        DeltaLedger ledger = test::ledger_for(config);
        const auto checked =
            precheck({config, identity, ledger, test::kPseudonymKey, selection}, vault.decisions);
        EXPECT_TRUE(checked && checked->prepared)
            << (checked ? checked->result.message : checked.error().message);
        if (!checked || !checked->prepared) return;
        const base::TimePoint at = *base::parse_iso8601("2005-07-01");
        const auto request = checked->prepared->request();
        EXPECT_TRUE(ledger.append(*ledger.next_registration(request, at)));
        const RunTicket ticket = *ledger.ticket(request);
        plan = checked->prepared->plan();
        result = *run(*checked->prepared, ticket, vault.impact, vault.label);
        auto made =
            seal(*checked->prepared, {ticket, result, at, at, key}, vault.impact, vault.label);
        EXPECT_TRUE(made) << (made ? "" : made.error().message);
        if (made) sealed = std::move(*made);
    }

    Certificate certificate() const {
        auto read = verify(sealed.certificate, sealed.evidence, key.public_key());
        EXPECT_TRUE(read) << (read ? "" : read.error().message);
        return read ? *read : Certificate{};
    }
    ValidationFigures figures() const { return certificate().figures.value(); }

    /// Returns the vault as the run read it, with impacts.
    MemoryVault feedback() const {
        return *MemoryVault::from(vault.decisions, test::kPseudonymKey)
                    ->with_impacts(vault.impact, vault.label);
    }

    std::string payload() const {
        const std::string mark = "\"payload\":\"";
        const size_t from = sealed.certificate.find(mark) + mark.size();
        return base::from_base64(
                   sealed.certificate.substr(from, sealed.certificate.find('"', from) - from))
            .value();
    }
    /// Returns why a certificate with that text, signed by the same key, is not valid; empty: it
    /// is.
    std::string refusal(const std::string& text) const {
        const std::string type = "application/vnd.rampart.certificate+json";
        const std::string signature =
            key.sign(fmt::format("DSSEv1 {} {} {} {}", type.size(), type, text.size(), text));
        const auto envelope = fmt::format(
            R"({{"payloadType":"{}","payload":"{}","signatures":[{{"keyid":"{}","sig":"{}"}}]}})",
            type, base::to_base64(text), key.public_key().id(), base::to_base64(signature));
        const auto read = verify(envelope, sealed.evidence, key.public_key());
        return read ? "" : read.error().message;
    }
};

}  // namespace rampart::certification
