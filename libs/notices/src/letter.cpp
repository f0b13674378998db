#include "rampart/notices/letter.hpp"

#include <algorithm>

#include "rampart/base/file.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

using base::Result;

void append_escaped(std::string_view text, std::string& out) {
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

template <class... Args>
base::Error fault_at(std::string_view before, fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadTemplate, "line {}: {}",
                            1 + std::count(before.begin(), before.end(), '\n'),
                            fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

Result<LetterTemplate> LetterTemplate::parse(std::string_view text, const TemplateNames& names) {
    if (text.size() > kMaxTemplateBytes)
        return base::make_error(Reason::kBadTemplate, "the template has {} bytes; at most {}",
                                text.size(), kMaxTemplateBytes);
    LetterTemplate made;
    Block block;
    size_t at = 0;
    const auto end_block = [&](std::string next) {
        made.blocks_.push_back(std::move(block));
        block = {std::move(next), {}};
    };
    while (true) {
        const size_t open = text.find("{{", at);
        const auto before = text.substr(0, open);
        if (open == text.npos) break;
        const size_t close = text.find("}}", open);
        if (close == text.npos) return fault_at(before, "'{{{{' without '}}}}'");
        const auto tag = trimmed(text.substr(open + 2, close - open - 2));
        block.parts.push_back({std::string(text.substr(at, open - at)), {}});
        at = close + 2;
        if (tag.starts_with('#')) {
            const std::string list(trimmed(tag.substr(1)));
            if (!block.list.empty())
                return fault_at(before, "section '{}' is inside of '{}'", list.substr(0, 40),
                                block.list);
            if (!names.lists.contains(list))
                return fault_at(before, "there is no list '{}'", list.substr(0, 40));
            end_block(list);
        } else if (tag.starts_with('/')) {
            const auto list = trimmed(tag.substr(1));
            if (list.empty() || list != block.list)
                return fault_at(before, "'{}' ends a section that is not open", tag.substr(0, 40));
            end_block({});
        } else {
            const std::string name(tag);
            const bool inside = !block.list.empty() && names.lists.at(block.list).contains(name);
            if (!inside && !names.values.contains(name))
                return fault_at(before, "there is no value '{}' here", name.substr(0, 40));
            made.used_.insert(inside ? fmt::format("{}.{}", block.list, name) : name);
            block.parts.back().name = name;
        }
    }
    if (!block.list.empty()) return fault_at(text, "section '{}' does not end", block.list);
    block.parts.push_back({std::string(text.substr(at)), {}});
    end_block({});
    return made;
}

std::string LetterTemplate::render(const TemplateValues& values) const {
    static const std::vector<std::map<std::string, std::string>> kOutside(1);
    std::string out;
    for (const auto& block : blocks_) {
        const auto& entries = block.list.empty() ? kOutside : values.lists.at(block.list);
        for (const auto& entry : entries) {
            for (const auto& part : block.parts) {
                out += part.text;
                if (part.name.empty()) continue;
                const auto it = entry.find(part.name);
                append_escaped(it != entry.end() ? it->second : values.values.at(part.name), out);
            }
        }
    }
    return out;
}

const TemplateNames& letter_names() {
    static const TemplateNames kNames{{"application_id", "creditor", "date", "decided_on",
                                       "decision_id", "language", "person_id", "rights"},
                                      {{"bureau", {"address", "name", "phone", "text"}},
                                       {"creditor_address", {"line"}},
                                       {"reasons", {"code", "text"}},
                                       {"review", {"date", "text"}}}};
    return kNames;
}

Result<LetterTemplate> read_letter_template(const std::filesystem::path& file) {
    RAMPART_TRY(const auto text, base::read_file(file, kMaxTemplateBytes));
    auto letter = LetterTemplate::parse(text, letter_names());
    if (!letter) return letter.error().with_context(file.string());
    for (const auto* name : {"creditor", "date", "rights", "reasons.text", "bureau.text"}) {
        if (!letter->has(name))
            return base::make_error(Reason::kBadTemplate,
                                    "{}: it leaves out {}, which a notice has to have",
                                    file.string(), name);
    }
    return letter;
}

Result<std::string> render_letter(const LetterTemplate& letter, const Notice& notice) {
    if (notice.review && !letter.has("review.text"))
        return base::make_error(Reason::kBadTemplate,
                                "decision {}: its decline {} under review, and the template leaves "
                                "out review.text, which this letter has to have",
                                notice.decision, notice.review->open ? "is" : "was");
    TemplateValues values;
    values.values = {{"application_id", notice.application.value()},
                     {"creditor", notice.creditor},
                     {"date", day_text(notice.date)},
                     {"decided_on", day_text(notice.action_at)},
                     {"decision_id", notice.decision.value()},
                     {"language", notice.language},
                     {"person_id", notice.person.value()},
                     {"rights", notice.rights}};
    auto& address = values.lists["creditor_address"];
    for (const auto& line : notice.address) address.push_back({{"line", line}});
    auto& reasons = values.lists["reasons"];
    for (const auto& one : notice.reasons)
        reasons.push_back({{"code", one.code}, {"text", one.text}});
    auto& bureau = values.lists["bureau"];
    if (const auto& part = notice.bureau)
        bureau.push_back({{"address", fmt::format("{}", fmt::join(part->address, ", "))},
                          {"name", part->name},
                          {"phone", part->phone},
                          {"text", part->text}});
    auto& review = values.lists["review"];
    if (const auto& part = notice.review)
        review.push_back({{"date", day_text(part->at)}, {"text", part->text}});
    return letter.render(values);
}

}  // namespace rampart::notices
