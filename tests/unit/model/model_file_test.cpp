#include "rampart/model/model_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "model_bytes.hpp"
#include "model_pieces.hpp"

namespace rampart::model {
namespace {

using testing::HasSubstr;

Policy example(uint64_t seed = 1) {
    base::Random random(seed);
    return random_policy(random, 3, 2, true);
}

bool equal(const Policy& a, const Policy& b) {
    base::Random random(99);
    for (int i = 0; i < 30; ++i) {
        const auto row = random_row(random);
        const auto x = a.evaluate(row, 0), y = b.evaluate(row, 0);
        if (x.score != y.score || x.exploit != y.exploit || x.approve != y.approve) return false;
    }
    return a.schema() == b.schema() && a.group_names() == b.group_names() &&
           a.provenance() == b.provenance() && a.links().size() == b.links().size();
}

RC_GTEST_PROP(ModelFile, APolicyComesBackAsItWas, (uint64_t seed)) {
    base::Random random(seed);
    const Policy policy =
        random_policy(random, 1 + random.below(4), 1 + random.below(3), random.bernoulli(0.5));
    const std::string bytes = encode_model_file(policy);
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(equal(policy, *back));
    RC_ASSERT(encode_model_file(*back) == bytes);
}

TEST(ModelFile, KeepsEveryNumberOfATree) {
    const Policy policy = example();
    const Policy back = decode_model_file(encode_model_file(policy)).value();
    const auto& before = policy.last_learned()->ensemble;
    const auto& after = back.last_learned()->ensemble;
    ASSERT_EQ(before.trees.size(), after.trees.size());
    for (size_t t = 0; t < before.trees.size(); ++t) {
        EXPECT_EQ(before.trees[t].category_sets, after.trees[t].category_sets);
        ASSERT_EQ(before.trees[t].nodes.size(), after.trees[t].nodes.size());
        for (size_t i = 0; i < before.trees[t].nodes.size(); ++i) {
            const TreeNode &a = before.trees[t].nodes[i], &b = after.trees[t].nodes[i];
            EXPECT_EQ(std::tie(a.feature, a.threshold, a.left, a.right, a.categories,
                               a.default_left, a.value, a.cover, a.gain),
                      std::tie(b.feature, b.threshold, b.left, b.right, b.categories,
                               b.default_left, b.value, b.cover, b.gain));
        }
    }
}

TEST(ModelFile, TheIdIsTheDigestOfTheWholeFile) {
    const std::string bytes = encode_model_file(example());
    EXPECT_EQ(policy_id_of(bytes).value(), base::sha256(bytes).hex());
    EXPECT_NE(policy_id_of(bytes), policy_id_of(encode_model_file(example(2))));
}

TEST(ModelFile, EveryFlippedByteIsAnError) {
    const std::string bytes = encode_model_file(example());
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
        const auto policy = decode_model_file(damaged);
        ASSERT_FALSE(policy) << "byte " << i;
        ASSERT_FALSE(policy.error().message.empty());
    }
}

TEST(ModelFile, EveryTruncationAndEveryAddedByteIsAnError) {
    const std::string bytes = encode_model_file(example());
    for (size_t n = 0; n < bytes.size(); ++n)
        ASSERT_FALSE(decode_model_file(bytes.substr(0, n))) << n;
    EXPECT_FALSE(decode_model_file(bytes + '\0'));
    EXPECT_THAT(decode_model_file(bytes.substr(0, bytes.size() / 2)).error().message,
                HasSubstr("truncated"));
    EXPECT_EQ(decode_model_file(bytes.substr(0, 40)).error().code, base::ErrorCode::kDataLoss);
}

TEST(ModelFile, AnotherVersionIsNamed) {
    const auto policy =
        decode_model_file(with_payload(payload_of(encode_model_file(example())), 8));
    EXPECT_EQ(policy.error().reason, "unknown_model_version");
    EXPECT_THAT(policy.error().message, HasSubstr("version 8"));
}

RC_GTEST_PROP(ModelFile, AMixtureComesBackAsItWas, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    std::vector<Link> links{random_mixture(random, groups)};
    if (random.bernoulli(0.5)) links.insert(links.begin(), example_bootstrap());
    if (random.bernoulli(0.5)) links.emplace_back(random_link(random, groups));
    const Policy policy =
        Policy::create(example_schema(), links,
                       std::get<LearnedLink>(links.back()).group_aware() || groups > 1
                           ? group_names(groups)
                           : std::vector<std::string>{},
                       {})
            .value();
    const std::string bytes = encode_model_file(policy);
    RC_ASSERT(version_of(bytes) == 2u);
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(equal(policy, *back));
    RC_ASSERT(encode_model_file(*back) == bytes);
}

RC_GTEST_PROP(ModelFile, CalibrationsPullsAndSlopesComeBackAsTheyWere, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    LearnedLink link = random_calibrated_link(random, groups);
    link.adjustments.push_back(random_pull(random, GroupBlindAdjustment::Given::kNothing));
    link.adjustments.erase(link.adjustments.begin(), link.adjustments.end() - 1);
    const auto names = link.group_aware() ? group_names(groups) : std::vector<std::string>{};
    const auto policy = Policy::create(example_schema(), {link}, names, {}).value();
    const std::string bytes = encode_model_file(policy);
    RC_ASSERT(version_of(bytes) == 3u);
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(encode_model_file(*back) == bytes);
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const size_t group = random.below(groups);
        RC_ASSERT(back->evaluate(row, group).approve == policy.evaluate(row, group).approve);
    }
    // an older program that would leave them out must not take the file
    const auto older = decode_model_file(with_payload(payload_of(bytes), 2));
    RC_ASSERT(!older.has_value());
    RC_ASSERT(older.error().message.find("calibrations, pulls or slopes") != std::string::npos);
}

RC_GTEST_PROP(ModelFile, ScoresAndLinearModelsComeBackAsTheyWere, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    const LearnedLink link = random_score_link(random, groups);
    const auto names = link.group_aware() ? group_names(groups) : std::vector<std::string>{};
    const auto policy = Policy::create(example_schema(), {link}, names, {}).value();
    const std::string bytes = encode_model_file(policy);
    RC_ASSERT(version_of(bytes) == 4u);
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(encode_model_file(*back) == bytes);
    RC_ASSERT(equal(policy, *back));
    RC_ASSERT(back->last_learned()->scale == link.scale);
    const auto older = decode_model_file(with_payload(payload_of(bytes), 3));
    RC_ASSERT(!older.has_value());
    RC_ASSERT(older.error().message.find("unit scale or linear models") != std::string::npos);
}

/// A released file of version 4: levels, a linear member beside trees.
TEST(ModelFile, AScoreIsReadAsItWasWritten) {
    const auto bytes = golden("model_v4.hex");
    const auto policy = decode_model_file(bytes).value();
    EXPECT_EQ(version_of(bytes), 4u);
    EXPECT_EQ(encode_model_file(policy), bytes);
    const auto scores = policy.scores(std::vector<float>{0.75f, 1}, {});
    ASSERT_EQ(scores.size(), 2u);
    EXPECT_EQ(scores[0].score, 0.7625);  // 0.25 + 0.5 of the trees
    EXPECT_EQ(scores[0].weight, 0.75);
    EXPECT_EQ(scores[1].score, 0.3875);  // 0.25 + 0.5 x 0.75 - 0.25 of the linear model
    EXPECT_EQ(policy.evaluate(std::vector<float>{0.75f, 1}, {}).approve, 0.75);
}

TEST(ModelFile, APolicyWithoutMixturesIsWrittenAsBefore) {
    // written by the program of before there were mixtures
    const auto bytes = golden("model_v1.hex");
    const auto policy = decode_model_file(bytes).value();
    EXPECT_EQ(version_of(bytes), 1u);
    EXPECT_EQ(encode_model_file(policy), bytes);
    EXPECT_EQ(policy_id_of(bytes).value(),
              "0e9aa5f371a1c9e7fbd207e7a2847eec17ea9123466bcfd40e28457c2b55b0dd");
    EXPECT_EQ(policy.links().size(), 2u);
    EXPECT_EQ(policy.last_learned()->members.size(), 0u);
    const auto out = policy.evaluate(std::vector<float>{0.25f, 2}, 1);
    EXPECT_DOUBLE_EQ(out.score, 0.43782349911420188);
    EXPECT_DOUBLE_EQ(out.exploit, 0.7512939964568075);
    EXPECT_DOUBLE_EQ(out.approve, 0.69999999999999996);
}

TEST(ModelFile, AMixtureInAFileOfBeforeThereWereAnyIsRefused) {
    base::Random random(4);
    const auto policy =
        Policy::create(example_schema(), {random_mixture(random, 1)}, {}, {}).value();
    const auto payload = payload_of(encode_model_file(policy));
    EXPECT_TRUE(decode_model_file(with_payload(payload, 2)));
    EXPECT_THAT(decode_model_file(with_payload(payload, 1)).error().message,
                HasSubstr("format version 1 and contains a mixture"));
}

TEST(ModelFile, AnExploitChainNeedsVersionSix) {
    base::Random random(4);
    auto link = random_link(random, 1);
    link.scale = {};
    link.exploit_chain = true;
    const auto policy =
        Policy::create(example_schema(), {example_bootstrap(), link}, {}, {}).value();
    const auto bytes = encode_model_file(policy);
    EXPECT_EQ(version_of(bytes), 6u);
    const auto again = decode_model_file(bytes).value();
    EXPECT_TRUE(again.last_learned()->exploit_chain);
    EXPECT_EQ(encode_model_file(again), bytes);
    EXPECT_THAT(decode_model_file(with_payload(payload_of(bytes), 5)).error().message,
                HasSubstr("format version 5 and contains a trust region without exploration, which "
                          "needs version 6"));
    EXPECT_FALSE(decode_model_file(with_payload(payload_of(bytes), 8)));
}

RC_GTEST_PROP(ModelFile, StrataComeBackAsTheyWere, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 2 + random.below(3);
    const LearnedLink link = random_stratified_link(random, groups);
    const auto policy =
        Policy::create(example_schema(), {example_bootstrap(), link}, group_names(groups), {});
    RC_ASSERT(policy.has_value());
    const std::string bytes = encode_model_file(*policy);
    RC_ASSERT(version_of(bytes) == 7u);
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(encode_model_file(*back) == bytes);
    RC_ASSERT(equal(*policy, *back));
    RC_ASSERT(*back->last_learned()->strata == *link.strata);
    const auto older = decode_model_file(with_payload(payload_of(bytes), 6));
    RC_ASSERT(!older.has_value());
    RC_ASSERT(older.error().message.find("contains strata, which needs version 7") !=
              std::string::npos);
}

/// Whatever a file says of strata, no row is decided by a threshold that there is not.
TEST(ModelFile, StrataThatDoNotFitAreRefusedWhenTheyAreRead) {
    base::Random random(3);
    auto link = random_link(random, 2);
    link.ramp = random_ramp(random, 6);
    link.strata = Strata{.feature = 0, .count = 3, .cuts = {-1}, .missing = 2};
    const auto payload = payload_of(
        encode_model_file(Policy::create(example_schema(), {link}, group_names(2), {}).value()));
    // count 3; one cut point of 4 bytes, -1; missing values in stratum 2
    const std::string strata("\x10\x03\x1a\x04\x00\x00\x80\xbf\x28\x02", 10);
    const auto at = payload.find(strata);
    ASSERT_NE(at, std::string::npos);
    const auto changed = [&](size_t place, int to) {
        auto other = payload;
        other[at + place] = static_cast<char>(to);
        return decode_model_file(with_payload(other, 7));
    };
    EXPECT_TRUE(changed(1, 3));
    for (const auto& [place, to, why] : std::vector<std::tuple<size_t, int, const char*>>{
             {1, 4, "4 strata, with missing values in stratum 2; the values have 2"},
             {1, 2, "2 strata"},
             {1, 0, "0 strata"},
             {9, 3, "3 strata, with missing values in stratum 3"},
             {9, 0, "3 strata, with missing values in stratum 0"}}) {
        const auto policy = changed(place, to);
        ASSERT_FALSE(policy) << why;
        EXPECT_THAT(policy.error().message, HasSubstr(why));
    }
    auto endless = payload;  // infinity
    endless.replace(at + 4, 4, std::string("\x00\x00\x80\x7f", 4));
    EXPECT_THAT(decode_model_file(with_payload(endless, 7)).error().message,
                HasSubstr("not finite"));
    const auto refused = [&](auto change, const char* why) {
        auto other = link;
        change(other);
        const auto policy = Policy::create(example_schema(), {other}, group_names(2), {});
        ASSERT_FALSE(policy) << why;
        EXPECT_THAT(policy.error().message, HasSubstr(why));
    };
    refused([](LearnedLink& l) { l.strata.reset(); }, "6 thresholds for 2 groups");
    refused([&](LearnedLink& l) { l.ramp = random_ramp(random, 3); },
            "3 thresholds for 2 groups in 3 strata");
    refused([&](LearnedLink& l) { l.ramp = random_ramp(random, 4); }, "4 thresholds for 3 strata");
    refused([&](LearnedLink& l) { l.ramp = random_ramp(random, 1), l.strata = Strata{}; },
            "the same for all rows");
    refused([](LearnedLink& l) { l.members = {{}}; }, "strata with 1 members");
    refused(
        [&](LearnedLink& l) {
            l.adjustments = {random_pull(random, GroupBlindAdjustment::Given::kNothing)};
        },
        "1 pulls");
}

/// A released file of version 7: two groups in three strata, one of them that of missing values.
TEST(ModelFile, StrataAreReadAsTheyWereWritten) {
    const auto bytes = golden("model_v7.hex");
    EXPECT_EQ(version_of(bytes), 7u);
    const auto policy = decode_model_file(bytes);
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(encode_model_file(*policy), bytes);
    EXPECT_EQ(*policy->last_learned()->strata,
              (Strata{.feature = 0, .count = 3, .cuts = {20000}, .missing = 2}));
    const auto approve = [&](float income, size_t group) {
        return policy->evaluate(std::vector<float>{income, 1}, group).approve;
    };
    // f = 0 everywhere: P(approve) = 1/2 - threshold
    EXPECT_EQ(approve(19999, 0), 0.5 - 0.25);
    EXPECT_EQ(approve(19999, 1), 0.5 - 0.125);
    EXPECT_EQ(approve(20000, 0), 0.5 + 0.125);
    EXPECT_EQ(approve(20000, 1), 0.5);
    EXPECT_EQ(approve(std::nanf(""), 0), 0.5 + 0.25);
    EXPECT_EQ(approve(std::nanf(""), 1), 0.5 - 0.5);
}

TEST(ModelFile, ARightChecksumDoesNotExcuseABrokenPolicy) {
    EXPECT_FALSE(decode_model_file(with_payload("")));
    EXPECT_FALSE(decode_model_file(with_payload("\xff\xff\xff")));
    base::Random random(7);
    const auto mixture =
        Policy::create(example_schema(), {random_mixture(random, 2)}, group_names(2), {}).value();
    const auto stratified =
        Policy::create(example_schema(), {random_stratified_link(random, 2)}, group_names(2), {})
            .value();
    for (const auto& policy : {example(), mixture, stratified}) {
        const std::string payload = payload_of(encode_model_file(policy));
        ASSERT_TRUE(decode_model_file(with_payload(payload, 7)));
        // whatever is accepted after a change decides within [0, 1]
        for (size_t i = 0; i < payload.size(); ++i) {
            std::string damaged = payload;
            damaged[i] = static_cast<char>(damaged[i] ^ (1 << random.below(8)));
            const auto changed = decode_model_file(with_payload(damaged, 7));
            if (!changed || changed->schema().size() != 4) continue;
            const auto group = changed->group_aware() ? std::optional<size_t>(0) : std::nullopt;
            const auto out = changed->evaluate(random_row(random), group);
            ASSERT_TRUE(out.approve >= 0 && out.approve <= 1 && out.exploit >= 0 &&
                        out.exploit <= 1);
        }
    }
}

RC_GTEST_PROP(ModelFile, NoBytesCrashTheDecoder, (const std::string& bytes)) {
    RC_ASSERT(!decode_model_file(bytes).has_value());
    RC_ASSERT(!decode_model_file("RAMPARTM" + bytes).has_value());
    RC_ASSERT(!decode_model_file(with_payload(bytes)).has_value());
}

// ---- random messages: tags and lengths that fit, content that need not

/// Something for a field: a number of any wire type, or bytes.
std::string random_scalar(base::Random& random, uint32_t number) {
    static const double doubles[] = {0, 0.5, 1, -1, 2, 1e300, NAN, INFINITY, -INFINITY, 1e9};
    static const uint64_t integers[] = {0,     1,         2, 3, 4, 5, 64, 1u << 20, (1u << 20) + 1,
                                        ~0ull, 1ull << 31};
    std::string out;
    switch (random.below(3)) {
        case 0:
            return varint(number << 3) + varint(integers[random.below(std::size(integers))]);
        case 1: {
            const auto bits = std::bit_cast<uint64_t>(doubles[random.below(std::size(doubles))]);
            out = varint(number << 3 | 1);
            for (int i = 0; i < 8; ++i) out += static_cast<char>(bits >> (8 * i));
            return out;
        }
        default: {
            static const char* const texts[] = {"", "x0", "c", "a", "\xff", "\x01\x02\x01\x02"};
            return field(number, texts[random.below(std::size(texts))]);
        }
    }
}

std::string random_message(base::Random& random, int depth) {
    std::string out;
    const size_t fields = random.below(6);
    for (size_t i = 0; i < fields; ++i) {
        const auto number = static_cast<uint32_t>(1 + random.below(10));
        const bool nested = depth > 0 && random.bernoulli(0.6);
        out += nested ? field(number, random_message(random, depth - 1))
                      : random_scalar(random, number);
    }
    return out;
}

RC_GTEST_PROP(ModelFile, NoMessageCrashesTheDecoder, (uint64_t seed)) {
    base::Random random(seed);
    for (int i = 0; i < 50; ++i) {
        const auto policy = decode_model_file(with_payload(random_message(random, 6)));
        RC_ASSERT(policy.has_value() || !policy.error().message.empty());
    }
}

/// Random parts put into a real file's message: gets past the schema, into links and trees.
RC_GTEST_PROP(ModelFile, NoMessageAddedToARealOneCrashesTheDecoder, (uint64_t seed)) {
    base::Random random(seed);
    const std::string real = payload_of(encode_model_file(example()));
    for (int i = 0; i < 20; ++i) {
        const auto link =
            field(2, field(static_cast<uint32_t>(1 + random.below(2)), random_message(random, 4)));
        const auto policy = decode_model_file(with_payload(real + link));
        if (!policy) continue;
        const auto out = policy->evaluate(random_row(random), 0);
        RC_ASSERT(out.approve >= 0 && out.approve <= 1);
    }
}

// ---- files

class ModelFileOnDisk : public testing::Test {
  protected:
    std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                  ("model." + std::to_string(::getpid()) + ".rmp");
    void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(ModelFileOnDisk, SavesAndLoadsWithTheSameId) {
    const auto id = save_model_file(example(), path_).value();
    const auto loaded = load_model_file(path_).value();
    EXPECT_EQ(loaded.id, id);
    EXPECT_TRUE(equal(loaded.policy, example()));
}

TEST_F(ModelFileOnDisk, ErrorsNameTheFile) {
    EXPECT_EQ(load_model_file(path_).error().code, base::ErrorCode::kNotFound);
    ASSERT_TRUE(save_model_file(example(), path_));
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
    const auto loaded = load_model_file(path_);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr(path_.string()));
    EXPECT_EQ(load_model_file(testing::TempDir()).has_value(), false);
    EXPECT_FALSE(save_model_file(example(), "/nonexistent/folder/m.rmp"));
}

}  // namespace
}  // namespace rampart::model
