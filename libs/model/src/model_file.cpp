#include "rampart/model/model_file.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/v1/model_file.pb.h"
#include "state_message.hpp"
#include "state_text.hpp"

namespace rampart::model {
namespace {

using base::Result;
namespace limits = base::limits;

constexpr std::string_view kMagic = "RAMPARTM";
constexpr uint32_t kPlain = 1, kWithMembers = 2, kWithCalibrations = 3, kWithScores = 4,
                   kWithState = 5, kWithExploitChain = 6, kWithStrata = 7;  // format versions
constexpr size_t kHeaderBytes = 8 + 4 + 8;
constexpr size_t kDigestBytes = 32;

base::Error bad(std::string_view what) {
    return base::make_error(Reason::kBadModelFile, "{}", what);
}

// ---- policy to message

v1::ExplorationMode to_message(ExplorationMode mode) {
    switch (mode) {
        case ExplorationMode::kNone:
            return v1::EXPLORATION_MODE_NONE;
        case ExplorationMode::kOneSided:
            return v1::EXPLORATION_MODE_ONE_SIDED;
        case ExplorationMode::kTwoSided:
            return v1::EXPLORATION_MODE_TWO_SIDED;
    }
    RAMPART_CHECK(false, "exploration mode {}", static_cast<int>(mode));
}

uint32_t index_to_message(int32_t index) { return static_cast<uint32_t>(index + 1); }

void to_message(const Tree& tree, v1::Tree& out) {
    for (const TreeNode& node : tree.nodes) {
        out.add_feature(index_to_message(node.feature));
        out.add_threshold(node.threshold);
        out.add_left(index_to_message(node.left));
        out.add_right(index_to_message(node.right));
        out.add_categories(index_to_message(node.categories));
        out.add_default_left(node.default_left);
        out.add_value(node.value);
        out.add_cover(node.cover);
        out.add_gain(node.gain);
    }
    for (const auto& set : tree.category_sets) {
        out.add_category_sets()->mutable_words()->Add(set.begin(), set.end());
    }
}

void to_message(const BootstrapLink& link, v1::BootstrapLink& out) {
    out.set_feature(link.feature);
    for (const auto& [x, probability] : link.points) {
        out.add_x(x);
        out.add_probability(probability);
    }
    out.set_missing(link.missing);
}

void to_message(const Ensemble& ensemble, v1::Ensemble& out) {
    out.set_base_score(ensemble.base_score);
    for (const Tree& tree : ensemble.trees) to_message(tree, *out.add_trees());
}

void to_message(const RampRule& ramp, v1::RampRule& out) {
    out.set_gamma(ramp.gamma);
    out.set_offset(ramp.offset);
    for (const double threshold : ramp.thresholds) out.add_thresholds(threshold);
    for (const double tie : ramp.ties) out.add_ties(tie);
    for (const double slope : ramp.slopes) out.add_slopes(slope);
}

void to_message(const Calibration& calibration, v1::Calibration& out) {
    if (const auto* beta = std::get_if<BetaMap>(&calibration)) {
        out.mutable_beta()->set_a(beta->a);
        out.mutable_beta()->set_b(beta->b);
        out.mutable_beta()->set_c(beta->c);
        return;
    }
    const auto& map = std::get<PolylineMap>(calibration);
    out.mutable_polyline()->mutable_x()->Add(map.x.begin(), map.x.end());
    out.mutable_polyline()->mutable_y()->Add(map.y.begin(), map.y.end());
}

v1::PullGiven to_message(GroupBlindAdjustment::Given given) {
    switch (given) {
        case GroupBlindAdjustment::Given::kNothing:
            return v1::PULL_GIVEN_NOTHING;
        case GroupBlindAdjustment::Given::kFavourable:
            return v1::PULL_GIVEN_FAVOURABLE;
        case GroupBlindAdjustment::Given::kUnfavourable:
            return v1::PULL_GIVEN_UNFAVOURABLE;
    }
    RAMPART_CHECK(false, "given {}", static_cast<int>(given));
}

void to_message(const GroupBlindAdjustment& pull, v1::GroupPull& out) {
    out.set_given(to_message(pull.given));
    for (const Ensemble& posterior : pull.posteriors) to_message(posterior, *out.add_posteriors());
    for (const double amount : pull.amounts) out.add_amounts(amount);
}

void to_message(const Member& member, v1::Member& out) {
    out.set_ensemble(member.ensemble);
    out.set_trees(member.trees);
    out.set_weight(member.weight);
    if (member.ramp) to_message(*member.ramp, *out.mutable_ramp());
    out.set_linear(member.linear);
}

void to_message(const LinearModel& linear, v1::LinearModel& out) {
    out.set_intercept(linear.intercept);
    out.mutable_slope()->Add(linear.slope.begin(), linear.slope.end());
    out.mutable_mean()->Add(linear.mean.begin(), linear.mean.end());
    for (const auto& codes : linear.category)
        out.add_category()->mutable_codes()->Add(codes.begin(), codes.end());
}

void to_message(const Strata& strata, v1::Strata& out) {
    out.set_feature(strata.feature);
    out.set_count(strata.count);
    out.mutable_cuts()->Add(strata.cuts.begin(), strata.cuts.end());
    out.mutable_of_category()->Add(strata.of_category.begin(), strata.of_category.end());
    out.set_missing(strata.missing);
}

void to_message(const LearnedLink& link, v1::LearnedLink& out) {
    to_message(link.ensemble, *out.mutable_ensemble());
    out.set_score_slope(link.score_slope);
    out.set_score_intercept(link.score_intercept);
    to_message(link.ramp, *out.mutable_ramp());
    out.mutable_exploration()->set_mode(to_message(link.exploration.mode));
    out.mutable_exploration()->set_epsilon(link.exploration.epsilon);
    out.set_kappa(link.kappa);
    for (const Ensemble& other : link.additional_ensembles) to_message(other, *out.add_others());
    for (const Member& member : link.members) to_message(member, *out.add_members());
    for (const auto& calibration : link.calibrations)
        to_message(calibration, *out.add_calibrations());
    for (const GroupBlindAdjustment& pull : link.adjustments) to_message(pull, *out.add_pulls());
    if (link.scale.kind == ScoreScale::Kind::kUnit)
        out.mutable_unit_scale()->set_levels(link.scale.levels);
    for (const LinearModel& linear : link.linears) to_message(linear, *out.add_linears());
    out.set_exploit_chain(link.exploit_chain);
    if (link.strata) to_message(*link.strata, *out.mutable_strata());
}

uint32_t version_of(const LearnedLink& link) {
    if (link.strata) return kWithStrata;
    if (link.exploit_chain) return kWithExploitChain;
    if (link.scale != ScoreScale{} || !link.linears.empty()) return kWithScores;
    const auto sloped = [](const RampRule& ramp) { return !ramp.slopes.empty(); };
    const bool calibrated = !link.calibrations.empty() || !link.adjustments.empty() ||
                            sloped(link.ramp) ||
                            std::any_of(link.members.begin(), link.members.end(),
                                        [&](const Member& m) { return m.ramp && sloped(*m.ramp); });
    if (calibrated) return kWithCalibrations;
    return link.members.empty() ? kPlain : kWithMembers;
}

uint32_t version_of(const std::vector<Link>& links) {
    uint32_t version = kPlain;
    for (const Link& link : links) {
        const auto* learned = std::get_if<LearnedLink>(&link);
        if (learned != nullptr) version = std::max(version, version_of(*learned));
    }
    return version;
}

/// Returns the lowest version that supports the policy, so that older programs can read it where
/// possible.
uint32_t version_of(const Policy& policy) {
    const uint32_t links = version_of(policy.links());
    return policy.state().empty() ? links : std::max(links, kWithState);
}

v1::ModelFile to_message(const Policy& policy) {
    v1::ModelFile file;
    for (const auto& spec : policy.schema().features()) {
        auto& feature = *file.add_features();
        feature.set_name(spec.name);
        const bool numeric = spec.kind == dataset::FeatureKind::kNumeric;
        feature.set_kind(numeric ? v1::FEATURE_KIND_NUMERIC : v1::FEATURE_KIND_CATEGORICAL);
        for (const auto& category : spec.categories) feature.add_categories(category);
    }
    for (const Link& link : policy.links()) {
        auto& out = *file.add_links();
        if (const auto* learned = std::get_if<LearnedLink>(&link)) {
            to_message(*learned, *out.mutable_learned());
        } else {
            to_message(std::get<BootstrapLink>(link), *out.mutable_bootstrap());
        }
    }
    for (const auto& name : policy.group_names()) file.add_group_names(name);
    for (const auto& [key, value] : policy.provenance()) {
        auto& entry = *file.add_provenance();
        entry.set_key(key);
        entry.set_value(value);
    }
    if (!policy.state().empty()) state_to_message(policy.state(), *file.mutable_state());
    return file;
}

std::string serialize(const v1::ModelFile& file) {
    std::string payload;
    {
        google::protobuf::io::StringOutputStream stream(&payload);
        google::protobuf::io::CodedOutputStream coded(&stream);
        coded.SetSerializationDeterministic(true);
        RAMPART_CHECK(file.SerializeToCodedStream(&coded), "the policy could not be serialized");
    }
    return payload;
}

// ---- message to policy; Policy::create checks the rest

Result<dataset::FeatureSchema> schema_of(const v1::ModelFile& file) {
    std::vector<dataset::FeatureSpec> features;
    for (const auto& feature : file.features()) {
        auto& spec = features.emplace_back();
        spec.name = feature.name();
        if (feature.kind() == v1::FEATURE_KIND_CATEGORICAL) {
            spec.kind = dataset::FeatureKind::kCategorical;
        } else if (feature.kind() != v1::FEATURE_KIND_NUMERIC) {
            return bad(fmt::format("feature '{}' is of the unknown kind {}", spec.name,
                                   static_cast<int>(feature.kind())));
        }
        spec.categories.assign(feature.categories().begin(), feature.categories().end());
    }
    return dataset::FeatureSchema::create(std::move(features));
}

/// Converts an index. Valid ones are far below this limit; a larger one could be confused with -1.
Result<int32_t> index_of(uint32_t stored) {
    constexpr uint32_t kLargest = 1 << 20;
    if (stored > kLargest) return bad(fmt::format("a tree holds the index {}", stored));
    return static_cast<int32_t>(stored) - 1;
}

Result<Tree> tree_of(const v1::Tree& message) {
    const int n = message.feature_size();
    for (const int size : {message.threshold_size(), message.left_size(), message.right_size(),
                           message.categories_size(), message.default_left_size(),
                           message.value_size(), message.cover_size(), message.gain_size()}) {
        if (size != n) return bad("a tree's lists differ in length");
    }
    Tree tree;
    tree.nodes.resize(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
        TreeNode& node = tree.nodes[static_cast<size_t>(i)];
        RAMPART_TRY(node.feature, index_of(message.feature(i)));
        RAMPART_TRY(node.left, index_of(message.left(i)));
        RAMPART_TRY(node.right, index_of(message.right(i)));
        RAMPART_TRY(node.categories, index_of(message.categories(i)));
        node.threshold = message.threshold(i);
        node.default_left = message.default_left(i);
        node.value = message.value(i);
        node.cover = message.cover(i);
        node.gain = message.gain(i);
    }
    for (const auto& set : message.category_sets()) {
        tree.category_sets.emplace_back(set.words().begin(), set.words().end());
    }
    return tree;
}

Result<BootstrapLink> bootstrap_of(const v1::BootstrapLink& message) {
    if (message.x_size() != message.probability_size())
        return bad("a bootstrap's lists differ in length");
    BootstrapLink link;
    link.feature = message.feature();
    link.missing = message.missing();
    for (int i = 0; i < message.x_size(); ++i)
        link.points.emplace_back(message.x(i), message.probability(i));
    return link;
}

Result<ExplorationMode> mode_of(v1::ExplorationMode mode) {
    switch (mode) {
        case v1::EXPLORATION_MODE_NONE:
            return ExplorationMode::kNone;
        case v1::EXPLORATION_MODE_ONE_SIDED:
            return ExplorationMode::kOneSided;
        case v1::EXPLORATION_MODE_TWO_SIDED:
            return ExplorationMode::kTwoSided;
        default:
            return bad(fmt::format("unknown exploration mode {}", static_cast<int>(mode)));
    }
}

Result<Ensemble> ensemble_of(const v1::Ensemble& message) {
    if (static_cast<size_t>(message.trees_size()) > limits::kMaxTrees) {
        return bad(fmt::format("{} trees", message.trees_size()));
    }
    Ensemble ensemble;
    ensemble.base_score = message.base_score();
    for (const auto& tree : message.trees()) {
        RAMPART_TRY(ensemble.trees.emplace_back(), tree_of(tree));
    }
    return ensemble;
}

RampRule ramp_of(const v1::RampRule& message) {
    RampRule ramp;
    ramp.gamma = message.gamma();
    ramp.offset = message.offset();
    ramp.thresholds.assign(message.thresholds().begin(), message.thresholds().end());
    ramp.ties.assign(message.ties().begin(), message.ties().end());
    ramp.slopes.assign(message.slopes().begin(), message.slopes().end());
    return ramp;
}

Result<Calibration> calibration_of(const v1::Calibration& message) {
    if (message.has_beta()) {
        return Calibration(BetaMap{message.beta().a(), message.beta().b(), message.beta().c()});
    }
    if (!message.has_polyline()) return bad("a calibration of unknown kind");
    const auto& map = message.polyline();
    return Calibration(
        PolylineMap{{map.x().begin(), map.x().end()}, {map.y().begin(), map.y().end()}});
}

Result<GroupBlindAdjustment::Given> given_of(v1::PullGiven given) {
    switch (given) {
        case v1::PULL_GIVEN_NOTHING:
            return GroupBlindAdjustment::Given::kNothing;
        case v1::PULL_GIVEN_FAVOURABLE:
            return GroupBlindAdjustment::Given::kFavourable;
        case v1::PULL_GIVEN_UNFAVOURABLE:
            return GroupBlindAdjustment::Given::kUnfavourable;
        default:
            return bad(fmt::format("a pull given the unknown {}", static_cast<int>(given)));
    }
}

Result<GroupBlindAdjustment> pull_of(const v1::GroupPull& message) {
    if (static_cast<size_t>(message.posteriors_size()) > limits::kMaxGroups)
        return bad(fmt::format("a pull with {} ensembles", message.posteriors_size()));
    GroupBlindAdjustment pull;
    RAMPART_TRY(pull.given, given_of(message.given()));
    for (const auto& posterior : message.posteriors()) {
        RAMPART_TRY(pull.posteriors.emplace_back(), ensemble_of(posterior));
    }
    pull.amounts.assign(message.amounts().begin(), message.amounts().end());
    return pull;
}

Member member_of(const v1::Member& message) {
    Member member{message.ensemble(), message.trees(), message.weight()};
    if (message.has_ramp()) member.ramp = ramp_of(message.ramp());
    member.linear = message.linear();
    return member;
}

LinearModel linear_of(const v1::LinearModel& message) {
    LinearModel linear;
    linear.intercept = message.intercept();
    linear.slope.assign(message.slope().begin(), message.slope().end());
    linear.mean.assign(message.mean().begin(), message.mean().end());
    for (const auto& codes : message.category())
        linear.category.emplace_back(codes.codes().begin(), codes.codes().end());
    return linear;
}

Strata strata_of(const v1::Strata& message) {
    return {.feature = message.feature(),
            .count = message.count(),
            .cuts = {message.cuts().begin(), message.cuts().end()},
            .of_category = {message.of_category().begin(), message.of_category().end()},
            .missing = message.missing()};
}

Result<LearnedLink> learned_of(const v1::LearnedLink& message) {
    for (const int size :
         {message.others_size(), message.members_size(), message.calibrations_size(),
          message.pulls_size(), message.linears_size()}) {
        if (static_cast<size_t>(size) > limits::kMaxMembers)
            return bad(fmt::format("a link of {} members, ensembles, calibrations or linear models",
                                   size));
    }
    LearnedLink link;
    RAMPART_TRY(link.ensemble, ensemble_of(message.ensemble()));
    link.score_slope = message.score_slope();
    link.score_intercept = message.score_intercept();
    link.ramp = ramp_of(message.ramp());
    RAMPART_TRY(link.exploration.mode, mode_of(message.exploration().mode()));
    link.exploration.epsilon = message.exploration().epsilon();
    link.kappa = message.kappa();
    for (const auto& other : message.others()) {
        RAMPART_TRY(link.additional_ensembles.emplace_back(), ensemble_of(other));
    }
    for (const auto& member : message.members()) link.members.push_back(member_of(member));
    for (const auto& calibration : message.calibrations()) {
        RAMPART_TRY(link.calibrations.emplace_back(), calibration_of(calibration));
    }
    for (const auto& pull : message.pulls()) {
        RAMPART_TRY(link.adjustments.emplace_back(), pull_of(pull));
    }
    if (message.has_unit_scale())
        link.scale = {ScoreScale::Kind::kUnit, message.unit_scale().levels()};
    for (const auto& linear : message.linears()) link.linears.push_back(linear_of(linear));
    link.exploit_chain = message.exploit_chain();
    if (message.has_strata()) link.strata = strata_of(message.strata());
    return link;
}

Result<Link> link_of(const v1::ModelLink& message) {
    if (message.has_bootstrap()) {
        RAMPART_TRY(auto link, bootstrap_of(message.bootstrap()));
        return Link(std::move(link));
    }
    if (message.has_learned()) {
        RAMPART_TRY(auto link, learned_of(message.learned()));
        return Link(std::move(link));
    }
    return bad("a link of unknown kind");
}

/// Versions 1 to 4 have the state in the provenance, later ones in its fields. What has it in the
/// wrong place, or in both, is refused: here and by Policy::create.
Result<PolicyState> state_of(const v1::ModelFile& file, uint32_t version, TextByKey& provenance) {
    if (version >= kWithState) return state_from_message(file.state());
    if (file.has_state())
        return bad(
            fmt::format("the file has format version {} and contains state, which needs "
                        "version {}",
                        version, kWithState));
    return take_state(provenance);
}

Result<Policy> policy_of(const v1::ModelFile& file, uint32_t version) {
    RAMPART_TRY(auto schema, schema_of(file));
    if (static_cast<size_t>(file.links_size()) > limits::kMaxChainLinks) {
        return bad(fmt::format("{} links", file.links_size()));
    }
    std::vector<Link> links;
    for (const auto& message : file.links()) {
        RAMPART_TRY(auto link, link_of(message));
        links.push_back(std::move(link));
    }
    std::map<std::string, std::string> provenance;
    for (const auto& entry : file.provenance()) {
        if (!provenance.empty() && entry.key() <= provenance.rbegin()->first) {
            return bad("provenance keys out of order");
        }
        provenance.emplace_hint(provenance.end(), entry.key(), entry.value());
    }
    RAMPART_TRY(auto state, state_of(file, version, provenance));
    return Policy::create(std::move(schema), std::move(links),
                          {file.group_names().begin(), file.group_names().end()},
                          std::move(provenance), std::move(state));
}

std::string_view novelty_of(uint32_t version) {
    switch (version) {
        case kWithMembers:
            return "a mixture";
        case kWithCalibrations:
            return "calibrations, pulls or slopes";
        case kWithScores:
            return "scores on the unit scale or linear models";
        case kWithStrata:
            return "strata";
        default:
            return "a trust region without exploration";
    }
}

struct Payload {
    uint32_t version;
    std::string_view bytes;
};

/// Returns the payload of a complete, undamaged file.
Result<Payload> payload_of(std::string_view bytes) {
    if (!bytes.starts_with(kMagic))
        return bad("this is not a Rampart model file (wrong first bytes)");
    if (bytes.size() < kHeaderBytes + kDigestBytes) return bad("the file is truncated");
    if (bytes.size() > limits::kMaxModelFileBytes) {
        return base::make_error(Reason::kModelFileTooLarge, "{} bytes; allowed are {}",
                                bytes.size(), limits::kMaxModelFileBytes);
    }
    base::ByteReader reader(bytes.substr(kMagic.size()));
    RAMPART_TRY(const uint32_t version, reader.u32());
    RAMPART_TRY(const uint64_t length, reader.u64());
    if (version < kPlain || version > kWithStrata) {
        return base::make_error(Reason::kUnknownModelVersion,
                                "format version {}; this program reads versions {} to {}", version,
                                kPlain, kWithStrata);
    }
    const size_t rest = bytes.size() - kHeaderBytes - kDigestBytes;
    if (length != rest) {
        return bad(
            fmt::format("the file is truncated or has grown: {} bytes of payload, but {} are "
                        "declared; get a new copy",
                        rest, length));
    }
    const auto signed_part = bytes.substr(0, bytes.size() - kDigestBytes);
    const base::Digest digest = base::sha256(signed_part);
    const std::string_view computed(reinterpret_cast<const char*>(digest.bytes.data()),
                                    kDigestBytes);
    if (bytes.substr(signed_part.size()) != computed) {
        return bad("the checksum does not match the content; the file is damaged, get a new copy");
    }
    return Payload{version, signed_part.substr(kHeaderBytes)};
}

}  // namespace

std::string encode_model_file(const Policy& policy) {
    const std::string payload = serialize(to_message(policy));
    std::string bytes(kMagic);
    base::append_u32(bytes, version_of(policy));
    base::append_u64(bytes, payload.size());
    bytes += payload;
    const base::Digest digest = base::sha256(bytes);
    bytes.append(reinterpret_cast<const char*>(digest.bytes.data()), kDigestBytes);
    return bytes;
}

Result<Policy> decode_model_file(std::string_view bytes) {
    RAMPART_TRY(const auto payload, payload_of(bytes));
    v1::ModelFile file;
    // the error below is sufficient; the library's own messages would bypass our logger
    const google::protobuf::LogSilencer silence;
    if (!file.ParseFromArray(payload.bytes.data(), static_cast<int>(payload.bytes.size()))) {
        return bad("the payload is not a rampart.v1.ModelFile");
    }
    RAMPART_TRY(auto policy, policy_of(file, payload.version));
    if (const uint32_t needed = version_of(policy.links()); needed > payload.version) {
        return bad(
            fmt::format("the file has format version {} and contains {}, which needs "
                        "version {}",
                        payload.version, novelty_of(needed), needed));
    }
    return policy;
}

domain::PolicyId policy_id_of(std::string_view model_file_bytes) {
    return domain::PolicyId(base::sha256(model_file_bytes).hex());
}

Result<LoadedPolicy> load_model_file(const std::filesystem::path& path) {
    RAMPART_TRY(const auto bytes, base::read_file(path, limits::kMaxModelFileBytes));
    auto policy = decode_model_file(bytes);
    if (!policy) return policy.error().with_context(fmt::format("'{}'", path.string()));
    return LoadedPolicy{*std::move(policy), policy_id_of(bytes)};
}

Result<domain::PolicyId> save_model_file(const Policy& policy, const std::filesystem::path& path) {
    const std::string bytes = encode_model_file(policy);
    if (bytes.size() > limits::kMaxModelFileBytes) {
        return base::make_error(Reason::kModelFileTooLarge,
                                "the model takes {} bytes; allowed are {}; use fewer "
                                "trees",
                                bytes.size(), limits::kMaxModelFileBytes);
    }
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(path, bytes));
    return policy_id_of(bytes);
}

}  // namespace rampart::model
