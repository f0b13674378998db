#include "rampart/registry/promotion_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::registry {
namespace {

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }
domain::PolicyId policy(const std::string& name) { return domain::PolicyId(name); }
base::Digest certificate(const std::string& name) { return base::sha256(name); }

/// Writes a log as the registry does, keeping in mind what stands on what.
class Writer {
  public:
    base::Status bootstrap(const std::string& name, int64_t time) {
        return log.add({.sequence = next(),
                        .kind = PromotionKind::kBootstrap,
                        .policy = policy(name),
                        .replaced = std::nullopt,
                        .certificate = std::nullopt,
                        .at = at(time),
                        .actor = "anna",
                        .reason = ""});
    }
    base::Status promote(const std::string& name, int64_t time) {
        return log.add({.sequence = next(),
                        .kind = PromotionKind::kPromotion,
                        .policy = policy(name),
                        .replaced = log.current()->policy,
                        .certificate = certificate(name),
                        .at = at(time),
                        .actor = "anna",
                        .reason = ""});
    }
    base::Status rollback(int64_t time) {
        const auto* target = log.rollback_target();
        if (target == nullptr) return base::Error{base::ErrorCode::kNotFound, "none", "none"};
        return log.add({.sequence = next(),
                        .kind = PromotionKind::kRollback,
                        .policy = target->policy,
                        .replaced = log.current()->policy,
                        .certificate = target->certificate,
                        .at = at(time),
                        .actor = "bob",
                        .reason = "worse"});
    }
    uint64_t next() const { return log.entries().size() + 1; }
    std::string live(int64_t time) const {
        const auto* entry = log.live_at(at(time));
        return entry ? entry->policy.value() : "";
    }

    PromotionLog log;
};

TEST(PromotionLog, SaysWhoWasLiveAtAnyTimeForEver) {
    Writer w;
    EXPECT_EQ(w.live(100), "");
    ASSERT_TRUE(w.bootstrap("S", 10));
    ASSERT_TRUE(w.promote("A", 20));
    ASSERT_TRUE(w.rollback(30));
    ASSERT_TRUE(w.promote("B", 40));
    EXPECT_EQ(w.live(9), "");
    EXPECT_EQ(w.live(10), "S");
    EXPECT_EQ(w.live(19), "S");
    EXPECT_EQ(w.live(20), "A");
    EXPECT_EQ(w.live(30), "S");
    EXPECT_EQ(w.live(39), "S");
    EXPECT_EQ(w.live(1000), "B");
    EXPECT_EQ(w.log.current()->policy, policy("B"));
}

TEST(PromotionLog, OfTwoAtTheSameMomentTheLaterEntryIsLive) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 10));
    ASSERT_TRUE(w.promote("A", 10));
    EXPECT_EQ(w.live(10), "A");
}

TEST(PromotionLog, RollbacksGoDownOneChampionAfterTheOther) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 1));
    EXPECT_EQ(w.log.rollback_target(), nullptr);
    ASSERT_TRUE(w.promote("A", 2));
    ASSERT_TRUE(w.promote("B", 3));
    ASSERT_TRUE(w.rollback(4));
    EXPECT_EQ(w.log.current()->policy, policy("A"));
    EXPECT_TRUE(w.log.current()->certified());
    ASSERT_TRUE(w.rollback(5));
    EXPECT_EQ(w.log.current()->policy, policy("S"));
    EXPECT_FALSE(w.log.current()->certified());
    EXPECT_EQ(w.log.rollback_target(), nullptr);
    ASSERT_TRUE(w.promote("C", 6));
    EXPECT_EQ(w.log.rollback_target()->policy, policy("S"));
}

TEST(PromotionLog, RemembersWhichCertificateWasUsedEvenAfterARollback) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 1));
    ASSERT_TRUE(w.promote("A", 2));
    ASSERT_TRUE(w.rollback(3));
    ASSERT_NE(w.log.used(certificate("A")), nullptr);
    EXPECT_EQ(w.log.used(certificate("A"))->sequence, 2u);
    EXPECT_EQ(w.log.used(certificate("B")), nullptr);
}

TEST(PromotionLog, TimeMayStandStillButNotGoBack) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 10));
    EXPECT_EQ(w.promote("A", 9).error().reason, "time_goes_back");
    EXPECT_EQ(w.log.entries().size(), 1u);
    EXPECT_TRUE(w.promote("A", 10));
}

TEST(PromotionLog, EntriesThatDoNotFitTheLogAreRefused) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 1));
    ASSERT_TRUE(w.promote("A", 2));
    const Promotion good{.sequence = 3,
                         .kind = PromotionKind::kPromotion,
                         .policy = policy("B"),
                         .replaced = policy("A"),
                         .certificate = certificate("B"),
                         .at = at(3),
                         .actor = "anna",
                         .reason = ""};
    const auto refused = [&](auto change) {
        Promotion promotion = good;
        change(promotion);
        PromotionLog copy = w.log;
        const auto added = copy.add(promotion);
        return !added && added.error().reason == "promotion_log" &&
               copy.entries() == w.log.entries();
    };
    EXPECT_TRUE(refused([](auto& p) { p.sequence = 4; }));
    EXPECT_TRUE(refused([](auto& p) { p.sequence = 2; }));
    EXPECT_TRUE(refused([](auto& p) { p.replaced = policy("S"); }));
    EXPECT_TRUE(refused([](auto& p) { p.replaced.reset(); }));
    EXPECT_TRUE(refused([](auto& p) { p.certificate.reset(); }));
    EXPECT_TRUE(refused([](auto& p) { p.kind = PromotionKind::kBootstrap; }));
    EXPECT_TRUE(refused([](auto& p) { p.kind = PromotionKind::kRollback; }));  // B is not below A
    EXPECT_TRUE(w.log.add(good));
    EXPECT_FALSE(PromotionLog().add(good));  // a log begins with its bootstrap
}

RC_GTEST_PROP(PromotionLogLaw, AnyHistoryReadsBackTheSameAndMatchesAPlainList,
              (std::vector<bool> promotes)) {
    Writer w;
    RC_ASSERT(w.bootstrap("S", 0).has_value());
    std::vector<std::string> standing{"S"}, live{"S"};
    for (size_t i = 0; i < promotes.size(); ++i) {
        const auto time = static_cast<int64_t>(i) + 1;
        if (promotes[i]) {
            standing.push_back("P" + std::to_string(i));
            RC_ASSERT(w.promote(standing.back(), time).has_value());
        } else {
            RC_ASSERT(w.rollback(time).has_value() == (standing.size() > 1));
            if (standing.size() > 1) standing.pop_back();
        }
        live.push_back(standing.back());
    }
    for (size_t t = 0; t < live.size(); ++t) RC_ASSERT(w.live(static_cast<int64_t>(t)) == live[t]);

    PromotionLog again;
    for (const auto& entry : w.log.entries())
        RC_ASSERT(again.add(decode_promotion(encode(entry)).value()).has_value());
    RC_ASSERT(again.entries() == w.log.entries());
    const auto* a = again.rollback_target();
    const auto* b = w.log.rollback_target();
    RC_ASSERT((a == nullptr) == (b == nullptr));
    RC_ASSERT((a == nullptr || *a == *b));
}

TEST(Promotion, TruncatedOrProlongedBytesAreErrors) {
    Writer w;
    ASSERT_TRUE(w.bootstrap("S", 1));
    ASSERT_TRUE(w.promote("A", 2));
    const auto bytes = encode(w.log.entries()[1]);
    for (size_t n = 0; n < bytes.size(); ++n)
        EXPECT_FALSE(decode_promotion(bytes.substr(0, n))) << n;
    EXPECT_FALSE(decode_promotion(bytes + "x"));
}

TEST(PromotionKindTest, EveryKindHasAName) {
    EXPECT_EQ(to_string(PromotionKind::kBootstrap), "bootstrap");
    EXPECT_EQ(to_string(PromotionKind::kPromotion), "promotion");
    EXPECT_EQ(to_string(PromotionKind::kRollback), "rollback");
}

}  // namespace
}  // namespace rampart::registry
