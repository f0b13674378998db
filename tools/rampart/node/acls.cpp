// topics acls: who needs which right on a Kafka cluster; and the part of topics check about that.
#include "node/acls.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using streaming_kafka::AclComparison;
using streaming_kafka::AclEntry;
using streaming_kafka::AclPattern;
using streaming_kafka::AclSubject;
using streaming_kafka::Grant;
using streaming_kafka::Operation;
using streaming_kafka::Resource;
using streaming_kafka::Role;

std::string words_of(const std::vector<Operation>& operations) {
    std::string words;
    for (const Operation one : operations)
        words += fmt::format("{}{}", words.empty() ? "" : " ", to_string(one));
    return words;
}

json::array json_of(const std::vector<Operation>& operations) {
    json::array words;
    for (const Operation one : operations) words.emplace_back(to_string(one));
    return words;
}

std::string_view kind_of(Resource resource) {
    return resource == Resource::kTopic ? "topic" : "cluster";
}

/// Returns "topic loans-decisions" or "cluster".
std::string place_of(Resource resource, const std::string& name) {
    return resource == Resource::kTopic ? "topic " + name : "cluster";
}

std::string name_of(const Grant& grant, const std::string& prefix) {
    return grant.resource == Resource::kTopic ? prefix + std::string(grant.name)
                                              : std::string(grant.name);
}

/// Returns the word as one of a shell's command line.
std::string quoted(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:,=/";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// Returns kafka-acls.sh's name of an operation: "DescribeConfigs" for DESCRIBE_CONFIGS.
std::string shell_word_of(Operation operation) {
    std::string word;
    bool begins = true;
    for (const char c : to_string(operation)) {
        if (c != '_') word += begins ? c : static_cast<char>(c - 'A' + 'a');
        begins = c == '_';
    }
    return word;
}

/// Makes command lines of kafka-acls.sh for one cluster.
class Shell {
  public:
    explicit Shell(const std::string& bootstrap)
        : begin_("kafka-acls.sh --bootstrap-server " +
                 (bootstrap.empty() ? std::string("\"$BROKERS\"") : quoted(bootstrap))) {}

    /// Returns lines that give the subject's principal all that its role needs, one for all
    /// resources with the same operations.
    std::vector<std::string> lines(const AclSubject& subject) const {
        std::vector<std::pair<std::vector<Operation>, std::string>> groups;
        for (const auto& grant : grants_of(subject.role)) {
            if (grant.old_brokers && !subject.old_brokers) continue;
            const auto where = grant.resource == Resource::kTopic
                                   ? " --topic " + quoted(name_of(grant, subject.prefix))
                                   : std::string(" --cluster");
            const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& one) {
                return one.first == grant.operations && one.second.starts_with(where.substr(0, 5));
            });
            if (group == groups.end()) {
                groups.emplace_back(grant.operations, where);
            } else {
                group->second += where;
            }
        }
        std::vector<std::string> lines;
        for (const auto& [operations, where] : groups)
            lines.push_back(add(subject, operations, where));
        return lines;
    }
    std::string line_for(const AclSubject& subject,
                         const streaming_kafka::MissingRight& right) const {
        const auto where =
            right.resource == Resource::kTopic ? " --topic " + quoted(right.name) : " --cluster";
        return add(subject, {right.operation}, where);
    }
    std::string removal(const AclEntry& entry) const {
        auto line = begin_ + " --remove --force";
        line += entry.allows ? " --allow-principal " : " --deny-principal ";
        line += quoted(entry.principal);
        if (entry.host != "*")
            line += (entry.allows ? " --allow-host " : " --deny-host ") + quoted(entry.host);
        line += " --operation " + shell_word_of(entry.operation);
        if (entry.resource == Resource::kCluster) return line + " --cluster";
        if (entry.pattern == AclPattern::kPrefixed) line += " --resource-pattern-type prefixed";
        return line + " --topic " + quoted(entry.name);
    }

  private:
    std::string add(const AclSubject& subject, const std::vector<Operation>& operations,
                    const std::string& where) const {
        auto line = begin_ + " --add --allow-principal " + quoted(subject.principal);
        if (!subject.host.empty()) line += " --allow-host " + quoted(subject.host);
        for (const Operation one : operations) line += " --operation " + shell_word_of(one);
        return line + where;
    }
    const std::string begin_;
};

// --- topics acls ---------------------------------------------------------------------------------

struct AclsOptions {
    TopicsOptions topics;
    SubjectOptions subject;
    bool commands = false;
};

/// Which deployment is meant. Nothing here talks to its cluster.
struct Deployment {
    std::string bootstrap, prefix;
};

Result<Deployment> deployment_of(const TopicsOptions& topics) {
    if (topics.config.empty()) return Deployment{topics.kafka.bootstrap, topics.prefix};
    RAMPART_TRY(const auto wanted, topics.wanted());
    return Deployment{wanted.kafka.bootstrap_servers, wanted.prefix};
}

void add_role(Role role, const std::string& prefix, Answer& answer, json::array& roles) {
    const auto grants = grants_of(role);
    size_t width = 0;
    for (const auto& grant : grants)
        width = std::max(width, place_of(grant.resource, name_of(grant, prefix)).size());
    answer.text += fmt::format("{}{}: {}\n", answer.text.empty() ? "" : "\n", to_string(role),
                               purpose_of(role));
    json::array rights;
    for (const auto& grant : grants) {
        const auto name = name_of(grant, prefix);
        answer.text += fmt::format("  {:<{}}  {:<32}  {}{}\n", place_of(grant.resource, name),
                                   width, words_of(grant.operations), grant.purpose,
                                   grant.old_brokers ? " (brokers before 2.8 only)" : "");
        rights.push_back({{"resource", kind_of(grant.resource)},
                          {"name", name},
                          {"operations", json_of(grant.operations)},
                          {"purpose", grant.purpose},
                          {"old_brokers_only", grant.old_brokers}});
    }
    roles.push_back({{"role", to_string(role)}, {"purpose", purpose_of(role)}, {"rights", rights}});
}

Result<Answer> show(const AclsOptions& options) {
    RAMPART_TRY(const auto deployment, deployment_of(options.topics));
    std::vector<Role> roles(streaming_kafka::kRoles.begin(), streaming_kafka::kRoles.end());
    if (!options.subject.role.empty()) {
        RAMPART_TRY(const Role one, streaming_kafka::parse_role(options.subject.role));
        roles = {one};
    }
    Answer answer;
    json::array list;
    for (const Role role : roles) add_role(role, deployment.prefix, answer, list);
    json::object document{{"roles", list}};
    if (!options.subject.principal.empty() || options.commands) {
        RAMPART_TRY(const auto subject, options.subject.subject(deployment.prefix));
        answer.text = fmt::format("principal {}, {}", subject.principal, answer.text);
        document["principal"] = subject.principal;
        if (options.commands) {
            answer.text.clear();
            json::array lines;
            for (const auto& line : Shell(deployment.bootstrap).lines(subject)) {
                answer.text += line + "\n";
                lines.emplace_back(line);
            }
            document["commands"] = lines;
        }
    }
    answer.json = json::serialize(document);
    return answer;
}

// --- topics check --acls -------------------------------------------------------------------------

/// Removing such an entry may take away what the role needs, too.
bool is_broad(const AclEntry& entry) {
    return entry.operation == Operation::kAll || entry.pattern == AclPattern::kPrefixed ||
           entry.name == "*";
}

Answer report(const AclSubject& subject, const AclComparison& found, const Shell& shell) {
    Answer answer;
    if (!found.good()) answer.exit_code = ExitCode::kNo;
    answer.text = fmt::format("principal {}, role {}: {} missing, {} too many\n", subject.principal,
                              to_string(subject.role), found.missing.size(), found.extra.size());
    std::vector<std::string> remedies;
    const auto add_remedy = [&](const std::string& line) {
        if (std::find(remedies.begin(), remedies.end(), line) == remedies.end())
            remedies.push_back(line);
    };
    json::array missing, extra, commands;
    for (const auto& right : found.missing) {
        const auto why = right.denied_by ? ": " + to_string(*right.denied_by) : std::string();
        answer.text += fmt::format("missing: {} on {}{}\n", to_string(right.operation),
                                   place_of(right.resource, right.name), why);
        add_remedy(right.denied_by ? shell.removal(*right.denied_by)
                                   : shell.line_for(subject, right));
        missing.push_back({{"resource", kind_of(right.resource)},
                           {"name", right.name},
                           {"operation", to_string(right.operation)},
                           {"denied_by", right.denied_by ? json::value(to_string(*right.denied_by))
                                                         : json::value(nullptr)}});
    }
    const bool broad = std::any_of(found.extra.begin(), found.extra.end(),
                                   [](const auto& right) { return is_broad(right.entry); });
    if (broad)
        for (const auto& line : shell.lines(subject)) add_remedy(line);
    for (const auto& right : found.extra) {
        answer.text += fmt::format("too many: {} on {}: {}\n", words_of(right.operations),
                                   place_of(right.resource, right.name), to_string(right.entry));
        add_remedy(shell.removal(right.entry));
        extra.push_back({{"resource", kind_of(right.resource)},
                         {"name", right.name},
                         {"operations", json_of(right.operations)},
                         {"entry", to_string(right.entry)}});
    }
    for (const auto& line : remedies) {
        answer.text += (&line == &remedies.front() ? "\n" : "") + line + "\n";
        commands.emplace_back(line);
    }
    answer.json = json::serialize(json::object{{"good", found.good()},
                                               {"role", to_string(subject.role)},
                                               {"principal", subject.principal},
                                               {"missing", missing},
                                               {"extra", extra},
                                               {"commands", commands}});
    return answer;
}

}  // namespace

std::vector<CLI::Option*> SubjectOptions::add_to(CLI::App& command) {
    std::string names;
    for (const Role one : streaming_kafka::kRoles)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(one));
    return {command.add_option("--role", role, "what the client is there for: " + names),
            command.add_option("--principal", principal,
                               "the client's name at the brokers: User:NAME, or User:CN=… of its "
                               "certificate"),
            command.add_flag("--old-brokers", old_brokers,
                             "brokers before 2.8, which want IDEMPOTENT_WRITE on the cluster of "
                             "who writes")};
}

Result<AclSubject> SubjectOptions::subject(const std::string& prefix) const {
    if (role.empty() || principal.empty())
        return base::make_error(Reason::kMisuse, "give --role and --principal");
    AclSubject subject;
    RAMPART_TRY(subject.role, streaming_kafka::parse_role(role));
    subject.principal = principal;
    subject.prefix = prefix;
    subject.host = host;
    subject.old_brokers = old_brokers;
    RAMPART_RETURN_IF_ERROR(validate(subject));
    return subject;
}

Result<Answer> check_acls(const TopicsOptions& topics, const SubjectOptions& options) {
    RAMPART_TRY(const auto wanted, topics.wanted());
    RAMPART_TRY(const auto subject, options.subject(wanted.prefix));
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(wanted.kafka));
    RAMPART_TRY(const auto entries, admin->acl_entries());
    return report(subject, compare_rights(subject, entries), Shell(wanted.kafka.bootstrap_servers));
}

void add_topics_acls(Frame& frame) {
    auto options = std::make_shared<AclsOptions>();
    auto& command = frame.add(
        {.name = "topics acls",
         .summary = "Show which rights each client of the cluster needs",
         .example = "rampart topics acls --role deciding --principal User:rampart-node --commands",
         .detail = "Asks no cluster; `rampart topics check --acls` does."},
        [options](const Context&) { return show(*options); });
    command.add_option("--config", options->topics.config,
                       "rampartd.toml of a node on Kafka: brokers and prefix");
    command.add_option("--bootstrap", options->topics.kafka.bootstrap,
                       "host:port of the brokers for --commands, separated by commas");
    command.add_option("--prefix", options->topics.prefix, "prefix of every topic's name");
    options->subject.add_to(command);
    command.add_flag("--commands", options->commands,
                     "print the lines of kafka-acls.sh that give the principal its rights");
}

}  // namespace rampart::cli
