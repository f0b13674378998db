#include "rampart/model/policy_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "model_bytes.hpp"
#include "model_pieces.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::model {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

using TextByKey = std::map<std::string, std::string>;

Policy policy_with(PolicyState state, TextByKey provenance = {{"learner", "gbdt"}}) {
    return Policy::create(example_schema(), {example_bootstrap()}, {}, std::move(provenance),
                          std::move(state))
        .value();
}

/// Why there is no such policy; empty: there is one.
base::Error error_of(PolicyState state, TextByKey provenance = {}) {
    const auto policy = Policy::create(example_schema(), {example_bootstrap()}, {},
                                       std::move(provenance), std::move(state));
    return policy ? base::Error{} : policy.error();
}

/// A file as programs wrote it before there were fields: the state is among the provenance.
std::string file_with_text(const TextByKey& text, uint32_t version = 1) {
    std::string payload = payload_of(encode_model_file(policy_with({}, {})));
    for (const auto& [key, value] : text)
        payload += field(4, field(1, key) + (value.empty() ? "" : field(2, value)));
    return with_payload(payload, version);
}

PolicyState random_state(base::Random& random) {
    const auto any_of = [&] { return random.bernoulli(0.6); };
    PolicyState state;
    if (any_of())
        state.reasons = {any_of() ? ReasonMethod::kShapley : ReasonMethod::kReplacement,
                         random_row(random)};
    for (size_t i = any_of() ? 1 + random.below(50) : 0; i > 0; --i)
        state.fair_metric += static_cast<char>(random.below(256));
    if (any_of()) {
        state.fairgbm_multipliers.emplace(random.below(5));
        for (double& value : *state.fairgbm_multipliers)
            value = random.normal() * std::pow(10, random.uniform(-12, 12));
    }
    if (any_of()) {
        const auto kind = static_cast<RegressionLossKind>(random.below(6));
        const bool plain =
            kind == RegressionLossKind::kSquared || kind == RegressionLossKind::kAbsolute;
        state.regression_loss = {kind, plain ? 0 : random.uniform(0.1, 1)};
    }
    if (any_of())
        state.training = {"label = \"y\"\n", "50.5/9.5/40", random.next(),
                          base::sha256(std::to_string(random.next()))};
    if (any_of()) state.constraints_missed = "fnr differs by 0.1, 0 is allowed";
    return state;
}

RC_GTEST_PROP(PolicyState, ComesBackFromItsFileAsItWas, (uint64_t seed)) {
    base::Random random(seed);
    const auto policy = policy_with(random_state(random));
    const auto bytes = encode_model_file(policy);
    RC_ASSERT(version_of(bytes) == (policy.state().empty() ? 1u : 5u));
    const auto back = decode_model_file(bytes);
    RC_ASSERT(back.has_value());
    RC_ASSERT(encode_model_file(*back) == bytes);
    RC_ASSERT(back->state().training == policy.state().training);
    RC_ASSERT(back->state().regression_loss == policy.state().regression_loss);
    RC_ASSERT(back->state().fairgbm_multipliers == policy.state().fairgbm_multipliers);
    RC_ASSERT(back->state().fair_metric == policy.state().fair_metric);
}

RC_GTEST_PROP(PolicyState, OfAnOlderFileIsTakenOutOfItsProvenance, (uint64_t seed)) {
    base::Random random(seed);
    const auto policy = policy_with(random_state(random));
    for (const uint32_t version : {1u, 2u, 3u, 4u}) {
        const auto back = decode_model_file(file_with_text(policy.printed_facts(), version));
        RC_ASSERT(back.has_value());
        RC_ASSERT(back->provenance() == policy.provenance());
        RC_ASSERT(encode_model_file(*back) == encode_model_file(policy));
    }
}

/// Both were written for the same policy: one by the last release without fields, one by the first
/// with them.
TEST(PolicyState, GoldensOfBothFormsAreTheSamePolicy) {
    const auto text = golden("model_v1_state_as_text.hex");
    const auto fields = golden("model_v5.hex");
    EXPECT_EQ(version_of(text), 1u);
    EXPECT_EQ(version_of(fields), 5u);
    EXPECT_EQ(policy_id_of(text).value(),
              "d7aae2f0ccac44e99381f460018713cf76e260b2c06763cfa6a6fd9e3a9389a8");
    const auto older = decode_model_file(text), newer = decode_model_file(fields);
    ASSERT_TRUE(older) << older.error().message;
    ASSERT_TRUE(newer) << newer.error().message;
    EXPECT_EQ(encode_model_file(*newer), fields);
    EXPECT_EQ(encode_model_file(*older), fields) << base::to_hex(encode_model_file(*older));
    EXPECT_EQ(older->printed_facts(), newer->printed_facts());
    EXPECT_EQ(newer->provenance(),
              (TextByKey{{"learner", "fairgbm"}, {"parent", "0123"}, {"training.rows", "8"}}));

    const auto& state = newer->state();
    EXPECT_EQ(state.reasons->method, ReasonMethod::kShapley);
    EXPECT_EQ(state.reasons->row, (std::vector<float>{0.1f, 2}));
    EXPECT_EQ(state.fair_metric.size(), 626u);
    EXPECT_EQ(*state.fairgbm_multipliers, (std::vector<double>{0.5, -0.1, 0, 1e-7}));
    EXPECT_EQ(state.regression_loss, (StoredLoss{RegressionLossKind::kHuber, 0.25}));
    EXPECT_EQ(state.training->split, "60/20/20");
    EXPECT_EQ(state.training->seed, std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(state.constraints_missed, "fnr is over by 0.02");
}

/// A released file of version 6: the trust region is around the earlier link's P(approve) without
/// its exploration.
TEST(PolicyState, OfAFileWithATrustRegionWithoutExplorationIsReadAsItWasWritten) {
    const auto bytes = golden("model_v6.hex");
    EXPECT_EQ(version_of(bytes), 6u);
    const auto policy = decode_model_file(bytes);
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(encode_model_file(*policy), bytes);
    EXPECT_EQ(policy_id_of(bytes).value(),
              "6725a21438920f51974983d9bb24315d8e838969a87a0e346be95ae41c06983c");
    ASSERT_EQ(policy->links().size(), 3u);
    EXPECT_FALSE(std::get<LearnedLink>(policy->links()[1]).exploit_chain);
    EXPECT_TRUE(policy->last_learned()->exploit_chain);
    EXPECT_EQ(policy->state().constraints_missed, "fnr is over by 0.02");
    EXPECT_EQ(policy->state().reasons->row, (std::vector<float>{0.1f, 2, -1, 3}));
    const auto out = policy->evaluate(std::vector<float>{0.25f, 2, -1, 3}, {});
    EXPECT_DOUBLE_EQ(out.score, 0.036276741780928226);
    EXPECT_DOUBLE_EQ(out.exploit, 0.047528355827622659);
    EXPECT_DOUBLE_EQ(out.approve, 0.05);
}

PolicyState whole_state() {
    return {.reasons = {{ReasonMethod::kShapley, {0.1f, std::nanf(""), -1e30f, 3}}},
            .fair_metric = "bytes",
            .fairgbm_multipliers = {{0.5, -1e-7}},
            .regression_loss = {{RegressionLossKind::kLogistic, 5}},
            .training = {{"label", "60/20/20", 7, base::sha256("t")}},
            .constraints_missed = "fnr"};
}

TEST(PolicyState, IsPrintedByTheKeysOfOlderFiles) {
    const auto facts = policy_with(whole_state()).printed_facts();
    EXPECT_EQ(facts, (TextByKey{{"data_sha256", base::sha256("t").hex()},
                                {"fair_metric", base::to_base64("bytes")},
                                {"fair_metric_sha256", base::sha256("bytes").hex()},
                                {"fairgbm.multipliers", "0.5 -1e-07"},
                                {"learner", "gbdt"},
                                {"reason_method", "shapley"},
                                {"reference_row", "0.1,nan,-1e+30,3"},
                                {"regression_loss", "logistic 5"},
                                {"seed", "7"},
                                {"split", "60/20/20"},
                                {"table_schema", "label"},
                                {"training.constraints_missed", "fnr"}}));
    EXPECT_THAT(
        policy_with({.reasons = {{ReasonMethod::kReplacement, {1, 2, 3, 4}}}}).printed_facts(),
        Not(Contains(Key("reason_method"))));
}

TEST(PolicyState, OfAnOlderFileIsReadAsItWasThen) {
    // reference rows without a method are of before there was a choice
    const auto row = decode_model_file(file_with_text({{"reference_row", " 1,nan,-0.5,+3 "}}));
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_EQ(row->state().reasons->method, ReasonMethod::kReplacement);
    EXPECT_EQ(row->state().reasons->row[3], 3);
    EXPECT_TRUE(std::isnan(row->state().reasons->row[1]));
    const auto method = decode_model_file(file_with_text({{"reason_method", "shapley"}}));
    EXPECT_TRUE(method.value().state().empty());
    EXPECT_TRUE(method->provenance().empty());
    const auto loss = decode_model_file(file_with_text({{"regression_loss", "quantile"}}));
    EXPECT_EQ(loss.value().state().regression_loss,
              (StoredLoss{RegressionLossKind::kQuantile, 0.5}));
    const auto none = decode_model_file(file_with_text({{"fairgbm.multipliers", ""}}));
    EXPECT_TRUE(none.value().state().fairgbm_multipliers->empty());
    // candidates have their seed in words
    const auto seed = decode_model_file(file_with_text({{"seed", "of the recipe"}}));
    EXPECT_TRUE(seed.value().state().empty());
    EXPECT_THAT(seed->provenance(), Contains(Pair("seed", "of the recipe")));
}

TEST(PolicyState, ATextOfAnOlderFileThatSaysNoSuchThingIsRefused) {
    const auto hex = base::sha256("t").hex();
    const TextByKey record{
        {"table_schema", "s"}, {"split", "60/20/20"}, {"seed", "7"}, {"data_sha256", hex}};
    ASSERT_TRUE(decode_model_file(file_with_text(record)));
    const auto without = [&](const char* key) {
        auto rest = record;
        rest.erase(key);
        return rest;
    };
    const auto with = [&](const char* key, const char* value) {
        auto changed = record;
        changed[key] = value;
        return changed;
    };
    const std::pair<TextByKey, const char*> cases[] = {
        {{{"reference_row", ""}}, "bad_reference_row"},
        {{{"reference_row", "1,2,3"}}, "bad_reference_row"},
        {{{"reference_row", "1,2,3,4,5"}}, "bad_reference_row"},
        {{{"reference_row", "1,x,3,4"}}, "bad_reference_row"},
        {{{"reference_row", "1,,3,4"}}, "bad_reference_row"},
        {{{"reference_row", "1,2,3,"}}, "bad_reference_row"},
        {{{"reference_row", "1,inf,3,4"}}, "bad_reference_row"},
        {{{"reference_row", "1,1e39,3,4"}}, "bad_reference_row"},
        {{{"reason_method", "guess"}}, "bad_reason_method"},
        {{{"fair_metric", "not base64!"}}, "bad_metric_file"},
        {{{"fair_metric", ""}}, "bad_metric_file"},
        {{{"fair_metric_sha256", hex}}, "bad_metric_file"},
        {{{"fair_metric", base::to_base64("m")}, {"fair_metric_sha256", hex}}, "bad_metric_file"},
        {{{"fairgbm.multipliers", "1 x"}}, "bad_multipliers"},
        {{{"fairgbm.multipliers", "1,2"}}, "bad_multipliers"},
        {{{"fairgbm.multipliers", "inf"}}, "bad_policy"},
        {{{"regression_loss", "cubic"}}, "bad_regression_loss"},
        {{{"regression_loss", "huber x"}}, "bad_regression_loss"},
        {{{"regression_loss", "squared 2"}}, "bad_policy"},
        {without("table_schema"), "bad_training_record"},
        {without("split"), "bad_training_record"},
        {without("seed"), "bad_training_record"},
        {without("data_sha256"), "bad_training_record"},
        {with("seed", "7x"), "bad_training_record"},
        {with("seed", "18446744073709551616"), "bad_training_record"},
        {with("data_sha256", "ab"), "bad_training_record"},
        {with("split", "60/20"), "bad_split"},
        {with("split", "60/20/20; gap 3m"), "bad_split"},
        {with("table_schema", ""), "bad_policy"},
    };
    for (const auto& [text, reason] : cases) {
        const auto policy = decode_model_file(file_with_text(text));
        ASSERT_FALSE(policy) << testing::PrintToString(text);
        EXPECT_EQ(policy.error().reason, reason) << policy.error().message;
    }
}

/// What says the same thing in two places may say two things.
TEST(PolicyState, InTheWrongPlaceOrInBothIsRefused) {
    const PolicyState state{.constraints_missed = "fnr"};
    const auto facts = policy_with(whole_state()).printed_facts();
    ASSERT_TRUE(decode_model_file(file_with_text(facts)));
    for (const auto& [key, value] : facts) {
        if (key == "seed" || key == "learner") continue;  // text of a candidate
        // a program cannot make such a policy
        const auto made = error_of(state, {{key, value}});
        EXPECT_EQ(made.reason, "bad_policy");
        EXPECT_THAT(made.message, HasSubstr("provenance '" + key + "'"));
        // as text in a file that has fields, with a field in conflict or without
        EXPECT_FALSE(decode_model_file(file_with_text({{key, value}}, 5))) << key;
        const auto entry = field(4, field(1, key) + field(2, value));
        const auto both = payload_of(encode_model_file(policy_with(state))) + entry;
        EXPECT_FALSE(decode_model_file(with_payload(both, 5))) << key;
        EXPECT_FALSE(decode_model_file(with_payload(both, 4))) << key;
    }
    // fields in a file whose version says that it has none: older programs would not see them
    const auto payload = payload_of(encode_model_file(policy_with(state)));
    ASSERT_TRUE(decode_model_file(with_payload(payload, 5)));
    EXPECT_THAT(decode_model_file(with_payload(payload, 4)).error().message,
                HasSubstr("format version 4 and contains state, which needs version 5"));
}

TEST(PolicyState, SizesAndNumbersAreChecked) {
    const auto nan = std::nan("");
    const std::pair<PolicyState, const char*> cases[] = {
        {{.reasons = {{ReasonMethod::kShapley, {1, 2, 3}}}}, "3 values for 4 features"},
        {{.reasons = {{ReasonMethod::kShapley, {1, 2, HUGE_VALF, 3}}}}, "inf at place 3"},
        {{.fairgbm_multipliers = {{0, nan}}}, "multiplier 1 is nan"},
        {{.regression_loss = {{RegressionLossKind::kHuber, nan}}}, "parameter of the loss is nan"},
        {{.regression_loss = {{RegressionLossKind::kUser, 0}}}, "a function of the caller's"},
        {{.training = {{"", "60/20/20", 1, {}}}}, "no table schema"},
        {{.training = {{"\xff", "60/20/20", 1, {}}}}, "the table schema is not UTF-8"},
        {{.training = {{"s", "60/20/30", 1, {}}}}, "the training record: split '60/20/30'"},
        {{.constraints_missed = "\xff"}, "is not UTF-8"},
    };
    for (const auto& [state, part] : cases) EXPECT_THAT(error_of(state).message, HasSubstr(part));
}

/// A file as a program of a later or broken release might write it.
TEST(PolicyState, UnknownValuesInFieldsAreRefused) {
    const auto payload = payload_of(encode_model_file(policy_with({}, {})));
    const auto refused = [&](const std::string& state) {
        const auto policy = decode_model_file(with_payload(payload + field(5, state), 5));
        return policy ? std::string() : policy.error().message;
    };
    const std::string method_9 = varint(1 << 3) + varint(9), loss_9 = method_9;
    EXPECT_EQ(refused(field(1, method_9)), "unknown reason method 9");
    EXPECT_EQ(refused(field(1, "")), "unknown reason method 0");
    EXPECT_EQ(refused(field(4, loss_9)), "unknown regression loss 9");
    EXPECT_EQ(refused(field(5, field(1, "s") + field(2, "60/20/20") + field(4, "short"))),
              "the digest of the training table has 5 bytes; expected 32");
}

}  // namespace
}  // namespace rampart::model
