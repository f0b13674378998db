// A signing key that is changed: what it signed verifies for ever, and it signs nothing more.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "demo_store.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/registry/model_registry.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using certification::Verdict;
using registry::ModelRegistry;
using test_support::DemoStore;

class KeysRotation : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() { make("keys_rotation_test"); }
    static void TearDownTestSuite() { remove(); }

    static fs::path store() { return out() / "a" / "store"; }
    static std::string rotate() {
        const auto ran = rampart("keys rotate signing --config a/rampartd.toml --reason yearly");
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return ran.output;
    }
    /// Returns the certificates of the store with the key that each is signed with.
    static std::vector<std::pair<base::Digest, std::string>> signers() {
        const auto registry =
            ModelRegistry::open(store() / "registry", ModelRegistry::Mode::kReadOnly).value();
        const auto keys = certification::read_keys(read(store() / "gate.pub.pem")).value();
        std::vector<std::pair<base::Digest, std::string>> found;
        const auto certificates = registry->certificates().value();
        for (const auto& info : certificates) {
            const auto file = registry->certificate_file(info.id).value();
            const auto& key = certification::signer_among(file, keys);
            EXPECT_TRUE(certification::read_certificate(file, key)) << info.id.hex();
            found.emplace_back(info.id, key.id());
        }
        return found;
    }
};

TEST_F(KeysRotation, WhatWasSignedVerifiesAndWhatComesIsSignedWithTheNewKey) {
    const auto old = base::VerifyingKey::from_pem(read(store() / "gate.pub.pem")).value();
    const auto head = rampart("ledger head --config a/audit.toml --out head");
    ASSERT_EQ(head.exit_code, 0) << head.output;
    const auto secret = read(store() / "keys" / "signing");
    const auto before = signers();
    ASSERT_FALSE(before.empty());
    rotate();

    // the public part is known, and the secret is nowhere
    const auto keys = certification::read_keys(read(store() / "gate.pub.pem")).value();
    ASSERT_EQ(keys.size(), 2u);
    EXPECT_NE(keys[0].id(), old.id());
    EXPECT_EQ(keys[1].id(), old.id());
    for (const auto& entry : fs::recursive_directory_iterator(store() / "keys")) {
        if (!entry.is_regular_file()) continue;
        EXPECT_NE(read(entry.path()), secret) << entry.path();
    }
    EXPECT_EQ(signers(), before);
    for (const auto& [id, signer] : before) {
        const auto verified =
            rampart(fmt::format("verify a/store/registry/certificates/{}.cert", id.hex()));
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
        EXPECT_NE(verified.output.find(old.id()), std::string::npos) << verified.output;
    }
    for (const char* command :
         {"ledger check --config a/audit.toml --head head",
          "ledger check --config a/audit.toml --head head --key a/store/gate.pub.pem",
          "ledger head --config a/audit.toml --after head --out later",
          "ledger check --config a/audit.toml --head head --head later",
          "figures e1r1 --config a/audit.toml --out . --reason study", "verify e1r1.cert",
          "store check --config a/rampartd.toml"}) {
        const auto ran = rampart(command);
        EXPECT_EQ(ran.exit_code, 0) << command << "\n" << ran.output;
    }

    // a further run of the gate, whatever its verdict
    const auto registry =
        ModelRegistry::open(store() / "registry", ModelRegistry::Mode::kReadOnly).value();
    const auto champion = registry->champion()->policy;
    const auto run =
        rampart(fmt::format("certify --config a/rampartd.toml --model {}", champion.value()));
    EXPECT_LE(run.exit_code, 1) << run.output;
    const auto after = signers();
    ASSERT_EQ(after.size(), before.size() + 1) << run.output;
    EXPECT_EQ(after.back().second, keys[0].id());
}

/// A certificate of an earlier key promotes: the champion goes back, and forward again by hand.
TEST_F(KeysRotation, ACertificateOfARetiredKeyPromotes) {
    const auto registry =
        ModelRegistry::open(store() / "registry", ModelRegistry::Mode::kReadOnly).value();
    ASSERT_TRUE(registry->champion()->certificate) << "the demo certifies";
    const auto champion = *registry->champion();
    rotate();
    const auto settings = load_settings(out() / "a" / "rampartd.toml").value();
    const auto node = Node::open(settings).value();
    const auto& certificate = *champion.certificate;
    const auto file = node->registry().certificate_file(certificate).value();
    const auto keys = node->registry().verifying_keys(node->keys().signing.public_key());
    EXPECT_NE(certification::signer_among(file, keys).id(), node->keys().signing.public_key().id());
    const auto infos = node->registry().certificates().value();
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&](const auto& one) { return one.id == certificate; });
    const auto evidence = node->registry().evidence_file(*info->evidence).value();
    // the same again, while that champion is in force: the proof is checked as for the first time
    const auto again = node->registry().promote(
        champion.policy, {file, evidence, certification::signer_among(file, keys)}, champion.at,
        "test");
    EXPECT_TRUE(again) << again.error().message;
    const auto by_new = node->registry().promote(champion.policy, {file, evidence, keys.front()},
                                                 champion.at, "test");
    ASSERT_FALSE(by_new);
    EXPECT_EQ(by_new.error().reason, "certificate_invalid");
}

}  // namespace
}  // namespace rampart::rampartd
