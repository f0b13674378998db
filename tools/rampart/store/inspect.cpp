// inspect model|certificate|store|log: look without touching.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "gate/proof_files.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "services/rampartd/log_at_rest.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

std::string line(std::string_view name, const std::string& value) {
    return fmt::format("{:<28}{}\n", name, value);
}

bool unit_scale(const model::LearnedLink& link) {
    return link.scale.kind == model::ScoreScale::Kind::kUnit;
}

/// Each with its slopes by name.
json::array linear_models(const model::LearnedLink& link, const dataset::FeatureSchema& schema) {
    json::array out;
    for (const auto& linear : link.linears) {
        json::object terms;
        for (size_t j = 0; j < schema.size(); ++j) {
            const auto& spec = schema.features()[j];
            if (spec.categories.empty()) {
                terms[spec.name] = linear.slope[j];
                continue;
            }
            json::object codes;
            for (size_t c = 0; c < spec.categories.size(); ++c)
                codes[spec.categories[c]] = linear.category[j][c];
            terms[spec.name] = std::move(codes);
        }
        out.push_back({{"intercept", linear.intercept}, {"terms", std::move(terms)}});
    }
    return out;
}

Result<Answer> inspect_model(const fs::path& file) {
    RAMPART_TRY(const auto loaded, model::load_model_file(file));
    const auto& policy = loaded.policy;
    json::array links;
    Answer answer;
    answer.text = line("id", loaded.id.value()) +
                  line("features", fmt::format("{}", policy.schema().size())) +
                  line("feature schema", policy.schema().digest().hex()) +
                  line("group aware", policy.group_aware() ? "yes" : "no");
    for (const auto& link : policy.links()) {
        if (const auto* learned = std::get_if<model::LearnedLink>(&link)) {
            auto text = fmt::format("{} trees, ramp gamma {:g}, kappa {:g}, exploration {:g}",
                                    learned->ensemble.trees.size(), learned->ramp.gamma,
                                    learned->kappa, learned->exploration.epsilon);
            if (!learned->members.empty()) text += ", " + mixture_text(*learned);
            if (const auto score = score_text(*learned); !score.empty()) text += ", score " + score;
            std::vector<std::string> strata;
            if (learned->strata) strata = names_of(*learned->strata, policy.schema());
            if (!strata.empty()) text += fmt::format(", in {} strata", strata.size());
            answer.text += line(fmt::format("link {}", links.size() + 1), text);
            links.push_back({{"kind", "learned"},
                             {"trees", learned->ensemble.trees.size()},
                             {"gamma", learned->ramp.gamma},
                             {"kappa", learned->kappa},
                             {"exploration", learned->exploration.epsilon},
                             {"members", learned->members.size()},
                             {"ensembles", 1 + learned->additional_ensembles.size()},
                             {"thresholds", json::value_from(learned->ramp.thresholds)},
                             {"slopes", json::value_from(learned->ramp.slopes)},
                             {"strata", json::value_from(strata)},
                             {"thresholds_of", json::value_from(cell_names(*learned, policy))},
                             {"calibrations", learned->calibrations.size()},
                             {"adjustments", learned->adjustments.size()},
                             {"score_levels", learned->scale.levels},
                             {"score_scale", unit_scale(*learned) ? "unit" : "log-odds"},
                             {"linear_models", linear_models(*learned, policy.schema())}});
        } else {
            const auto& bootstrap = std::get<model::BootstrapLink>(link);
            answer.text +=
                line(fmt::format("link {}", links.size() + 1), "bootstrap on " + bootstrap.feature);
            links.push_back({{"kind", "bootstrap"}, {"feature", bootstrap.feature}});
        }
    }
    json::object provenance;
    for (const auto& [name, value] : policy.printed_facts()) {
        provenance[name] = value;
        if (value.size() <= 80) answer.text += line(name, value);
    }
    answer.json = json::serialize(json::object{{"id", loaded.id.value()},
                                               {"group_aware", policy.group_aware()},
                                               {"features", policy.schema().size()},
                                               {"feature_schema", policy.schema().digest().hex()},
                                               {"links", links},
                                               {"provenance", provenance}});
    return answer;
}

/// The signed payload of a DSSE envelope, unverified.
Result<Answer> inspect_certificate(const fs::path& file) {
    RAMPART_TRY(const auto text, base::read_file(file, base::limits::kMaxCertificateBytes));
    if (is_in_store(file)) return figures_withheld(file);
    const auto broken =
        base::make_error(Reason::kBadCertificate, "'{}' is not a certificate file", file.string());
    boost::system::error_code failure;
    const auto envelope = json::parse(text, failure);
    const auto* object = failure ? nullptr : envelope.if_object();
    const auto* payload = object == nullptr ? nullptr : object->if_contains("payload");
    if (payload == nullptr || !payload->is_string()) return broken;
    auto content = base::from_base64(std::string(payload->get_string()));
    if (!content) return broken;
    Answer answer;
    answer.text = *content + "\n";
    answer.json = std::move(*content);
    answer.notes.push_back("shown as signed, not verified: use rampart verify");
    return answer;
}

Result<Answer> inspect_store(const fs::path& config) {
    RAMPART_TRY(const auto node, open_existing(config));
    RAMPART_TRY(const auto hash, node->state_hash());
    RAMPART_RETURN_IF_ERROR(node->registry().verify_audit());
    RAMPART_TRY(const auto runs, node->trainer().runs());
    RAMPART_TRY(const auto quarantined, node->joiner().list_quarantined(100));
    const auto c = node->joiner().counts();
    const std::pair<const char*, uint64_t> counts[] = {{"decisions", c.decisions},
                                                       {"outcomes", c.outcomes},
                                                       {"duplicate_outcomes", c.duplicate_outcomes},
                                                       {"corrections", c.corrections},
                                                       {"late_outcomes", c.late_outcomes},
                                                       {"matured", c.matured},
                                                       {"unmatched", c.unmatched},
                                                       {"overdue", c.overdue},
                                                       {"quarantined", quarantined.size()}};
    const bool audit = node->settings().audit.enabled;  // outcomes of the vault belong to the hash
    Answer answer;
    json::object out{{"state_hash", audit ? json::value(hash.hex()) : json::value(nullptr)},
                     {"champion", node->registry().champion()->policy.value()},
                     {"training_runs", runs.size()},
                     {"audit_entries", node->registry().audit_head().count}};
    answer.text = line("state hash", audit ? hash.hex() : "not shown (audit.enabled is false)") +
                  line("champion", node->registry().champion()->policy.value()) +
                  line("training runs", fmt::format("{}", runs.size())) +
                  line("audit log", fmt::format("{} entries, chain verified",
                                                node->registry().audit_head().count));
    for (const auto& [name, count] : counts) {
        out[name] = count;
        answer.text += line(name, fmt::format("{}", count));
    }
    answer.json = json::serialize(out);
    return answer;
}

struct LogOptions {
    fs::path store;
    std::string topic = "decisions";
    int partition = 0;
    int64_t from = 0;
    size_t limit = 20;
};

/// Returns an outcome without what was reported: it may be one of the vault.
std::string without_value(const std::string& outcome) {
    auto object = json::parse(outcome).as_object();
    if (auto* value = object.if_contains("value")) *value = "withheld";
    return json::serialize(object);
}

/// A record as JSON, decoded where the topic is known.
std::string record_json(const std::string& topic, const streaming::StoredRecord& stored) {
    std::string value = "null";
    const auto is_sealed = [](const auto& h) { return h.value == wire::kSealedDecisionSchema; };
    if (std::any_of(stored.record.headers.begin(), stored.record.headers.end(), is_sealed)) {
        value = "\"sealed\"";
    } else if (topic == "decisions") {
        if (const auto decision = wire::decode_decision(stored.record.value))
            value = wire::to_json(*decision);
    } else if (topic == "outcomes") {
        if (const auto outcome = wire::decode_outcome(stored.record.value))
            value = without_value(wire::to_json(*outcome));
    }
    return fmt::format("{{\"offset\":{},\"key\":{},\"value\":{}}}", stored.offset,
                       json::serialize(json::string(stored.record.key)), value);
}

Result<Answer> inspect_log(const LogOptions& options) {
    RAMPART_TRY(const auto at_rest, rampartd::LogAtRest::open(options.store, options.topic));
    const streaming::Reader* log = &at_rest.reader();
    const streaming::PartitionId partition(options.partition);
    RAMPART_TRY(const auto records, log->read(options.topic, partition,
                                              streaming::Offset(options.from), options.limit));
    RAMPART_TRY(const auto end, log->end_offset(options.topic, partition));
    RAMPART_TRY(const auto partitions, log->partitions(options.topic));
    Answer answer;
    std::string list;
    for (const auto& record : records) {
        const auto text = record_json(options.topic, record);
        answer.text += text + "\n";
        list += (list.empty() ? "" : ",") + text;
    }
    answer.json = fmt::format(
        "{{\"topic\":{},\"partition\":{},\"partitions\":{},\"end_offset\":{},\"records\":[{}]}}",
        json::serialize(json::string(options.topic)), options.partition, partitions, end, list);
    answer.notes.push_back(
        fmt::format("partition {} of {}; offsets end at {}", options.partition, partitions, end));
    return answer;
}

}  // namespace

void add_inspect(Frame& frame) {
    auto model_file = std::make_shared<fs::path>();
    frame
        .add({.name = "inspect model",
              .summary = "Show the contents of a model file",
              .example = "rampart inspect model m.rmp",
              .reads_no_store = true},
             [model_file](const Context&) { return inspect_model(*model_file); })
        .add_option("FILE", *model_file, "model file")
        ->required();
    auto certificate = std::make_shared<fs::path>();
    frame
        .add({.name = "inspect certificate",
              .summary = "Show the signed statement of a certificate, unverified",
              .example = "rampart inspect certificate demo-out/certificates/3f….cert",
              .reads_no_store = true},
             [certificate](const Context&) { return inspect_certificate(*certificate); })
        .add_option("FILE", *certificate, "certificate file")
        ->required();
    auto config = std::make_shared<fs::path>();
    frame
        .add({.name = "inspect store",
              .summary =
                  "Show counts, champion, audit chain and state hash of a store that is not served",
              .example = "rampart inspect store --config demo-out/rampartd.toml"},
             [config](const Context&) { return inspect_store(*config); })
        .add_option("--config", *config, "rampartd.toml of the store")
        ->required();
    auto log = std::make_shared<LogOptions>();
    auto& command = frame.add(
        {.name = "inspect log",
         .summary = "Show records of a topic; a node may be writing it",
         .example = "rampart inspect log --store demo-out/store --topic decisions --limit 3",
         .detail = "The values of outcomes are not shown: they may be those of the vault."},
        [log](const Context&) { return inspect_log(*log); });
    command.add_option("--store", log->store, "the store folder")->required();
    command.add_option("--topic", log->topic, "topic: decisions or outcomes")
        ->capture_default_str();
    command.add_option("--partition", log->partition, "number of the partition")
        ->capture_default_str();
    command.add_option("--from", log->from, "first offset")->capture_default_str();
    command.add_option("--limit", log->limit, "maximum number of records")->capture_default_str();
}

}  // namespace rampart::cli
