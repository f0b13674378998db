// review open, review answer, review list: decisions that wait for people, at a running node.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

constexpr size_t kPage = 1000;  // reviews that a node gives at once
constexpr int64_t kHour = 3600, kDay = 24 * kHour;

struct Options {
    NodeOptions node;
    std::string decision, actor, action;
    size_t limit = 20;
};

std::string age_text(int64_t seconds) {
    if (seconds >= kDay) return fmt::format("{} d {} h", seconds / kDay, seconds % kDay / kHour);
    return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / 60);
}

std::string path_of(const Options& options) {
    return fmt::format("/v1/decisions/{}/review", query_value(options.decision));
}

Result<Answer> open(const Options& options) {
    RAMPART_TRY(const auto document,
                tell_node(options.node.config, path_of(options),
                          {{"actor", options.actor}, {"reason", options.node.reason}}));
    const auto& review = document.at("review");
    return Answer{
        .text = fmt::format("{} is under review since {}, as {} asked: {}\n",
                            text_of(review.at("decision_id")), text_of(review.at("since")),
                            text_of(review.at("actor")), text_of(review.at("reason"))),
        .json = json::serialize(document)};
}

Result<Answer> answer(const Options& options) {
    RAMPART_TRY(const auto document, tell_node(options.node.config, path_of(options) + "/answer",
                                               {{"action_taken", options.action},
                                                {"actor", options.actor},
                                                {"reason", options.node.reason}}));
    const auto& taken = document.at("override");
    return Answer{.text = fmt::format("{}: {} by {}: {}\n", text_of(taken.at("decision_id")),
                                      text_of(taken.at("action_taken")), text_of(taken.at("actor")),
                                      text_of(taken.at("reason"))),
                  .json = json::serialize(document)};
}

std::string table_of(const json::array& reviews) {
    report::Table table{{"decision", "since", "age", "asked by", "reason"}};
    for (const auto& one : reviews) {
        const bool referred = one.at("referred").as_bool() && one.at("actor").is_null();
        table.push_back({text_of(one.at("decision_id")), text_of(one.at("since")),
                         age_text(one.at("age_seconds").to_number<int64_t>()),
                         referred ? "(referred)" : text_of(one.at("actor")),
                         text_of(one.at("reason"))});
    }
    return report::align(table, 5);
}

Result<Answer> list(const Options& options) {
    json::array found;
    std::string cursor;
    json::value open;
    do {
        const size_t wanted = std::min(kPage, options.limit - found.size());
        auto target = fmt::format("/v1/reviews?state=open&limit={}", wanted);
        if (!cursor.empty()) target += "&cursor=" + query_value(cursor);
        RAMPART_TRY(const auto page, ask_node(options.node.config, target));
        for (const auto& one : page.at("reviews").as_array()) found.push_back(one);
        open = page.at("open");
        const auto& next = page.at("next_cursor");
        cursor = next.is_null() ? std::string() : text_of(next);
    } while (!cursor.empty() && found.size() < options.limit);
    Answer answer;
    answer.text = found.empty() ? std::string("no review is open\n") : table_of(found);
    if (!cursor.empty())
        answer.notes.push_back(fmt::format("{} are open: raise --limit", text_of(open)));
    answer.json =
        json::serialize(json::object{{"reviews", std::move(found)}, {"open", std::move(open)}});
    return answer;
}

void add_decision(CLI::App& command, Options& options) {
    command.add_option("--decision", options.decision, "the decision's id")->required();
    command
        .add_option("--actor", options.actor,
                    "who asks or answers, as the lender names people, such as underwriter-17")
        ->required();
}

}  // namespace

void add_review_open(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "review open",
         .summary = "Hold a decision open until people have answered",
         .example = "rampart review open --decision d0c1… --actor branch-7 --reason "
                    "applicant_contests --config rampartd.toml",
         .detail = "The reason is the lender's own code, without spaces; what the applicant wrote "
                   "stays where the lender keeps letters. A decline under review has a letter "
                   "that says so, or none. The answer is given by `rampart review answer`."},
        [options](const Context&) { return open(*options); });
    add_change_options(command, options->node);
    add_decision(command, *options);
}

void add_review_answer(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "review answer",
         .summary = "Approve or decline a decision that waits for people",
         .example = "rampart review answer --decision d0c1… --action decline --actor "
                    "underwriter-17 --reason income_not_proven --config rampartd.toml",
         .detail = "Of a review or of a referral. The answer is an override: it is joined as one, "
                   "and the letter of a decline that only people made has its reason, so take a "
                   "code of the lender's words."},
        [options](const Context&) { return answer(*options); });
    add_change_options(command, options->node);
    add_decision(command, *options);
    command.add_option("--action", options->action, "approve or decline")
        ->required()
        ->check(CLI::IsMember({"approve", "decline"}));
}

void add_review_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "review list",
         .summary = "List decisions that wait for people, the oldest first",
         .example = "rampart review list --config rampartd.toml",
         .detail = "Reviews that people have opened, and referrals without an answer, of the "
                   "partitions that the node joins."},
        [options](const Context&) { return list(*options); });
    add_node_options(command, options->node);
    command.add_option("--limit", options->limit, "number of reviews, at most")
        ->check(CLI::Range(size_t{1}, size_t{100'000}))
        ->capture_default_str();
}

}  // namespace rampart::cli
