#include <bit>
#include <cmath>
#include <fstream>

#include "fuzz.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/random.hpp"
#include "rampart/model/model_file.hpp"
#include "support/places.hpp"
#include "unit/model/model_pieces.hpp"

/// Model files. A person who can place a file decides about loans, so loading checks everything.
namespace rampart::fuzz {
namespace {

/// Returns `payload` as a complete file with the right length and checksum, which no mutation
/// finds.
std::string framed(std::string_view payload, uint32_t version) {
    std::string file = "RAMPARTM";
    base::append_u32(file, version);
    base::append_u64(file, payload.size());
    file += payload;
    const auto digest = base::sha256(file);
    return file.append(digest.bytes.begin(), digest.bytes.end());
}

bool is_probability(double p) { return p >= 0 && p <= 1; }

/// The slow method, tree after tree.
double walked_score(const model::LearnedLink& link, std::span<const float> row) {
    if (link.members.empty()) return link.scale.apply(link.ensemble.predict_raw(row));
    double score = 0;
    for (const auto& member : link.members) {
        const auto& ensemble =
            member.ensemble == 0 ? link.ensemble : link.additional_ensembles[member.ensemble - 1];
        const size_t trees = member.trees == 0 ? ensemble.trees.size() : member.trees;
        double raw = ensemble.predict_raw(row, trees);
        if (member.linear > 0) raw += link.linears[member.linear - 1].predict(row);
        score += member.weight * link.scale.apply(raw);
    }
    return score;
}

/// Any row that fits the schema gets probabilities, and the fast engine agrees with the trees.
void decides(const model::Policy& policy, std::string_view bytes) {
    base::Random random(bytes.size());
    const auto& features = policy.schema().features();
    for (size_t r = 0; r < 4; ++r) {
        std::vector<float> row;
        for (const auto& feature : features) {
            const auto count = static_cast<uint32_t>(feature.categories.size());
            const uint64_t draw = random.next();
            float value = std::bit_cast<float>(static_cast<uint32_t>(draw));
            if (count > 0) value = static_cast<float>(draw % count);
            if (std::isinf(value) || draw % 5 == 0) value = std::nanf("");
            row.push_back(value);
        }
        const size_t groups = policy.group_names().size();
        const auto group = policy.group_aware() ? std::optional<size_t>(r % groups) : std::nullopt;
        const auto out = policy.evaluate(row, group);
        FUZZ_LAW(
            is_probability(out.score) && is_probability(out.exploit) && is_probability(out.approve),
            "score {}, exploit {}, approve {}", out.score, out.exploit, out.approve);
        if (const auto* last = policy.last_learned(); last != nullptr) {
            const double walked = walked_score(*last, row);
            // the weights of a mixture add up to about 1
            const double room = last->members.empty() ? 0 : 1e-8;
            const auto scores = policy.scores(row, group);
            FUZZ_LAW(is_probability(model::drawn_score(scores, 0)) &&
                         is_probability(model::drawn_score(scores, 0.999)),
                     "a drawn score outside [0, 1]");
            double mean = 0;
            for (const auto& mass : scores) mean += mass.score * mass.weight;
            FUZZ_LAW(std::abs(mean - out.score) <= 1e-8, "scores of mean {}, a score of {}", mean,
                     out.score);
            if (!last->calibrations.empty()) continue;
            FUZZ_LAW(std::abs(out.score - walked) <= room, "the engine says {}, the trees {}",
                     out.score, walked);
        }
    }
}

bool file(std::string_view bytes) {
    const auto policy = model::decode_model_file(bytes);
    if (!policy) return refused(policy.error());
    const std::string written = model::encode_model_file(*policy);
    const auto again = model::decode_model_file(written);
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    FUZZ_LAW(model::encode_model_file(*again) == written, "writes one policy in two ways");
    decides(*again, bytes);
    return true;
}

/// The latest version, which has all fields of the older ones.
bool payload(std::string_view bytes) { return file(framed(bytes, 5)); }

/// The last version that has the state as text, which is read into the fields.
bool payload_with_text(std::string_view bytes) { return file(framed(bytes, 4)); }

using Seeds = std::vector<std::string>;

dataset::FeatureSchema small_schema() {
    return dataset::FeatureSchema::create(
               {{"x0", dataset::FeatureKind::kNumeric, {}},
                {"c", dataset::FeatureKind::kCategorical, {"a", "b", "c"}}})
        .value();
}

model::LearnedLink small_link(size_t groups) {
    model::LearnedLink link;
    model::Tree tree;
    tree.nodes = {{0, 0.5f, 1, 2, -1, true, 0, 9, 1.5},
                  {-1, 0, -1, -1, -1, false, -0.25, 5, 0},
                  {1, 0, 3, 4, 0, false, 0, 4, 0.5},
                  {-1, 0, -1, -1, -1, false, 0.75, 2, 0},
                  {-1, 0, -1, -1, -1, false, 0.125, 2, 0}};
    tree.category_sets = {{5}};
    link.ensemble.trees = {tree};
    link.ramp.gamma = 0.5;
    link.ramp.thresholds.assign(groups, 0.25);
    link.ramp.ties.assign(groups, 1);
    link.exploration = {model::ExplorationMode::kOneSided, 0.05};
    return link;
}

/// A mixture of two ensembles and a prefix, each with its own thresholds or those of the link.
model::LearnedLink small_mixture(size_t groups) {
    auto link = small_link(groups);
    link.ensemble.trees.push_back(link.ensemble.trees.front());
    link.additional_ensembles = {small_link(1).ensemble};
    const model::RampRule step{0, 0, std::vector<double>(groups, -0.5),
                               std::vector<double>(groups, 0.5)};
    link.members = {{0, 1, 0.25, {}}, {0, 0, 0.25, step}, {1, 0, 0.5, {}}};
    return link;
}

/// A fair risk score: levels, a linear member beside trees.
model::LearnedLink small_score() {
    auto link = small_link(1);
    link.scale = {model::ScoreScale::Kind::kUnit, 40};
    link.linears = {{0.25, {0.5, 0}, {1, 0}, {{}, {0.125, -0.25, 0}}}};
    link.additional_ensembles = {{}};
    link.members = {{0, 0, 0.75, {}}, {1, 0, 0.25, {}, 1}};
    link.ramp = {0, 0, {0.05}, {1}};
    return link;
}

model::PolicyState small_state() {
    return {.reasons = {{model::ReasonMethod::kShapley, {0.5f, std::nanf("")}}},
            .fair_metric = "bytes",
            .fairgbm_multipliers = {{0.5, -0.25}},
            .regression_loss = {{model::RegressionLossKind::kHuber, 0.25}},
            .training = {{"label = \"y\"", "60/20/20", 7, base::sha256("table")}},
            .constraints_missed = "fnr"};
}

Seeds small_files() {
    using model::Policy;
    std::vector<Policy> policies;
    policies.push_back(
        Policy::create(small_schema(), {model::example_bootstrap()}, {}, {{"seed", "7"}}).value());
    policies.push_back(Policy::create(small_schema(), {model::example_bootstrap(), small_link(1)},
                                      {}, {{"learner", "gbdt"}, {"seed", "7"}})
                           .value());
    policies.push_back(
        Policy::create(small_schema(), {small_link(2), small_link(2)}, {"f", "m"}, {}).value());
    policies.push_back(Policy::create(small_schema(),
                                      {model::example_bootstrap(), small_mixture(2)}, {"f", "m"},
                                      {})
                           .value());
    policies.push_back(
        Policy::create(small_schema(), {model::example_bootstrap(), small_score()}, {}, {})
            .value());
    policies.push_back(Policy::create(small_schema(), {model::example_bootstrap(), small_link(1)},
                                      {}, {{"learner", "gbdt"}}, small_state())
                           .value());
    Seeds files;
    for (const auto& policy : policies) files.push_back(model::encode_model_file(policy));
    return files;
}

/// Returns the part that framed() wraps.
Seeds small_payloads() {
    constexpr size_t kHead = 20, kDigest = 32;
    Seeds payloads;
    for (const auto& bytes : small_files())
        payloads.push_back(bytes.substr(kHead, bytes.size() - kHead - kDigest));
    return payloads;
}

/// A file of a release that had no fields for the state.
Seeds older_payloads() {
    std::ifstream golden(test_support::source_dir() + "/tests/golden/model_v1_state_as_text.hex");
    std::string hex;
    golden >> hex;
    const auto bytes = base::from_hex(hex).value();
    return {bytes.substr(20, bytes.size() - 52)};
}

}  // namespace

std::vector<Target> targets() {
    return {{"payload", payload, small_payloads, kProtobufSpare},
            {"file", file, small_files, kProtobufSpare},
            {"payload_with_text", payload_with_text, older_payloads, kProtobufSpare}};
}

}  // namespace rampart::fuzz
