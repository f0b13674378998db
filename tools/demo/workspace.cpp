#include "tools/demo/workspace.hpp"

#include <fmt/ranges.h>

#include "rampart/access/principals.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/config/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/training/recipe.hpp"
#include "tools/demo/reasons.hpp"

namespace rampart::demo {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

constexpr const char* kMarker = ".rampart-demo";
constexpr size_t kConfigLimit = 1 << 20;

Status clear_folder(const fs::path& folder) {
    std::error_code failure;
    if (fs::exists(folder) && !fs::is_empty(folder, failure) && !fs::exists(folder / kMarker)) {
        return base::make_error(
            Reason::kFolderInUse,
            "'{}' is not empty and is not the folder of an earlier run; choose another one",
            folder.string());
    }
    fs::remove_all(folder, failure);
    fs::create_directories(folder / "store" / "keys", failure);
    if (!failure) fs::permissions(folder / "store", fs::perms::owner_all, failure);
    if (failure)
        return base::make_error(Reason::kNoFolder, "cannot make '{}': {}", folder.string(),
                                failure.message());
    return base::write_file_atomically(folder / kMarker, "a run of ops/demo; may be removed\n");
}

std::string secret(uint64_t seed, std::string_view purpose) {
    return base::sha256(fmt::format("rampart demo {} {}", purpose, seed)).hex();
}

Status write_keys(const fs::path& keys, uint64_t seed, std::string& token) {
    constexpr unsigned kOwnerOnly = 0600;
    for (const char* name : {"draw", "arm", "split", "evidence", "signing"}) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(keys / name, secret(seed, name) + "\n", kOwnerOnly));
    }
    token = base::to_hex(base::random_bytes(32));  // no figure depends on it, and --serve listens
    RAMPART_RETURN_IF_ERROR(
        access::add_principal(keys / "principals.toml", {.name = "demo",
                                                         .scopes = access::Scopes::all(),
                                                         .token_sha256 = base::sha256(token).hex(),
                                                         .created = {}}));
    return base::write_file_atomically(keys / "token", token + "\n", kOwnerOnly);
}

std::string kafka_tables(const KafkaBroker& kafka) {
    return fmt::format(
        "\n[log]\nbroker = \"kafka\"\npartitions = 4\ntopic_prefix = \"{}\"\n"
        "group_key_files = [\"group.key\"]\n\n"
        "[kafka]\nbootstrap_servers = \"{}\"\nnode = \"demo\"\n"
        "development = true\n",
        kafka.topic_prefix, kafka.bootstrap_servers);
}

/// Puts recipes in the place of the learner and its options, and copies them beside.
Status use_recipes(const std::vector<fs::path>& recipes, const fs::path& folder,
                   std::string& config) {
    std::vector<std::string> names;
    bool by_group = false;
    for (const auto& recipe : recipes) {
        training::Recipe parsed;
        RAMPART_RETURN_IF_ERROR(training::read_recipe_file(recipe, parsed));
        by_group = by_group || training::decides_by_group(parsed);
        RAMPART_TRY(const auto text, base::read_file(recipe, kConfigLimit));
        names.push_back(recipes.size() > 1 ? recipe.filename().string() : "recipe.toml");
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(folder / names.back(), text));
    }
    const size_t from = config.find("\nlearner = "), to = config.find("\n\n", from);
    RAMPART_CHECK(to != std::string::npos, "the configuration of a demo without a learner");
    config.replace(from, to - from,
                   names.size() > 1
                       ? fmt::format("\nrecipes = [\"{}\"]", fmt::join(names, "\", \""))
                       : fmt::format("\nrecipe = \"{}\"", names.front()));
    const std::string blind = "\"group_blind\"";
    if (by_group) config.replace(config.find(blind), blind.size(), "\"group_aware\"");
    return base::ok();
}

Status write_config(const Workspace& workspace, const fs::path& config_dir,
                    const loan_stream::Stream& stream, uint64_t seed,
                    const std::optional<KafkaBroker>& kafka, const std::vector<fs::path>& recipes) {
    RAMPART_TRY(auto config,
                base::read_file(config_dir / "demo" / (stream.name + ".toml"), kConfigLimit));
    const std::string line = "\nseed = 1\n";
    const size_t at = config.find(line);
    if (at == std::string::npos) {
        return base::make_error(config::Reason::kBadConfiguration,
                                "demo/{}.toml has no line 'seed = 1' to replace by the seed",
                                stream.name);
    }
    config.replace(at, line.size(), fmt::format("\nseed = {}\n", seed));
    if (!recipes.empty()) RAMPART_RETURN_IF_ERROR(use_recipes(recipes, workspace.folder, config));
    if (kafka) {
        const std::string privacy = "\n[privacy]\n";
        if (config.find(privacy) == std::string::npos) config += privacy;
        config.insert(config.find(privacy) + privacy.size(), "secret = \"person.key\"\n");
        config += kafka_tables(*kafka);
        for (const std::string name : {"group", "person"})
            RAMPART_RETURN_IF_ERROR(base::write_file_atomically(workspace.folder / (name + ".key"),
                                                                secret(seed, name) + "\n", 0600));
    }
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(workspace.config, config));
    RAMPART_TRY(const auto product,
                base::read_file(config_dir / "products" / (stream.name + ".toml"), kConfigLimit));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(workspace.folder / "product.toml", product));
    dataset::TableSchema schema;
    schema.features = stream.schema;
    schema.label_column = "repaid";
    schema.favourable = "1";
    return base::write_file_atomically(workspace.folder / "schema.toml",
                                       dataset::write_table_schema(schema));
}

}  // namespace

Result<Workspace> prepare_workspace(const fs::path& folder, const fs::path& config_dir,
                                    const loan_stream::Stream& stream, uint64_t seed,
                                    const std::optional<KafkaBroker>& kafka,
                                    const std::vector<fs::path>& recipes) {
    Workspace workspace{folder,
                        folder / "rampartd.toml",
                        folder / "store",
                        folder / "store" / "endpoint",
                        folder / "service.log",
                        {}};
    RAMPART_RETURN_IF_ERROR(clear_folder(folder));
    RAMPART_RETURN_IF_ERROR(write_keys(workspace.store / "keys", seed, workspace.token));
    RAMPART_RETURN_IF_ERROR(write_config(workspace, config_dir, stream, seed, kafka, recipes));
    return workspace;
}

Status add_letters(const Workspace& workspace, const fs::path& config_dir,
                   const std::string& stream) {
    const auto letters = config_dir / "letters";
    RAMPART_TRY(auto config, base::read_file(workspace.config, kConfigLimit));
    RAMPART_TRY(const auto notices, base::read_file(letters / "notices.toml", kConfigLimit));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(workspace.config, config + "\n" + notices));
    for (const auto& file : {letters / stream / "reasons.toml", letters / stream / "changes.toml",
                             letters / "letter.en.html", letters / "letter.es.html"}) {
        RAMPART_TRY(const auto text, base::read_file(file, kConfigLimit));
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(workspace.folder / file.filename(), text));
    }
    return base::ok();
}

}  // namespace rampart::demo
