#include "store/person_page.hpp"

#include <array>
#include <vector>

#include "frame/printable.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

/// A member of the document as a part of the page.
struct Part {
    std::string_view member, title, what;
};
constexpr std::array kParts{
    Part{"decisions", "Decisions",
         "Each with its features, probabilities, draw, action and reasons as they were logged, the "
         "outcomes and overrides that were reported, what was joined of them, and the stored "
         "explanation. One that has not arrived has outcomes only (unmatched)."},
    Part{"policies", "Policies that decided",
         "A policy's id is the SHA-256 of its file. `rampart card` makes its card, `rampart verify "
         "--html` the page of a certificate."},
    Part{"protected_attributes", "Protected attributes", "The latest, and those in force before."},
    Part{"log", "Records of the log",
         "As they lie there: what waits to be decided or joined, what was read, what was rejected; "
         "also what was sealed, opened with the person's key."},
    Part{"quarantine", "Records in quarantine", "What could not be read or did not fit, and why."},
    Part{"legal_holds", "Legal holds", "Each forbids the erasure of the person."},
    Part{"erasure_under_way", "Erasure under way", "Asked for, and not done yet."},
    Part{"jobs", "Requests", "Those that wait, and those that have ended within the week."},
    Part{
        "evidence", "Evidence of certificates",
        "Records of the person among those that the gate has tested with, under a pseudonym that "
        "the store's key makes. pi and s: probabilities of the candidate and of the policy that it "
        "was compared with; groups: numbers in the certificate."},
    Part{"audit", "Audit log",
         "What was done about the person and by whom; the last entry is that of this export."},
    Part{"elsewhere", "Not in this export", "Where else to look."}};

std::string text_of_value(const json::value& value) {
    if (value.is_null()) return "-";
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_double()) return fmt::format("{}", value.get_double());
    return json::serialize(value);
}

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Adds each value under its path.
void add_facts(const std::string& path, const json::value& value, Facts& facts) {
    const auto below = [&](const auto& name) {
        return path.empty() ? std::string(name) : fmt::format("{}.{}", path, std::string(name));
    };
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
        for (const auto& [name, member] : *object) add_facts(below(name), member, facts);
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
        for (size_t i = 0; i < array->size(); ++i)
            add_facts(below(std::to_string(i + 1)), (*array)[i], facts);
    } else {
        const bool none = value.is_object() || value.is_array();
        facts.emplace_back(path, none ? "none" : text_of_value(value));
    }
}

/// Returns the entries of a part: of an array its elements, else the value.
std::vector<Facts> entries_of(const json::value& value) {
    std::vector<Facts> entries;
    if (const auto* array = value.if_array()) {
        for (const auto& one : *array) add_facts("", one, entries.emplace_back());
    } else if (!value.is_null()) {
        add_facts("", value, entries.emplace_back());
    }
    return entries;
}

/// Returns the members that are no parts of their own.
Facts head_of(const json::object& document) {
    Facts facts;
    for (const auto& [name, value] : document) {
        const bool part = std::any_of(kParts.begin(), kParts.end(),
                                      [&](const auto& one) { return one.member == name; });
        if (!part) add_facts(std::string(name), value, facts);
    }
    return facts;
}

std::vector<report::Row> rows_of_facts(const Facts& facts) {
    std::vector<report::Row> rows;
    for (const auto& [name, value] : facts) rows.push_back({name, value});
    return rows;
}

constexpr std::string_view kAbout =
    "All that the store holds of this person. It has personal data, protected attributes among "
    "them: keep it as such. Keys and other secrets are not in it.";

}  // namespace

std::string person_page(const json::object& document) {
    report::Html page;
    page.title("Record of a person").paragraph(kAbout).facts(rows_of_facts(head_of(document)));
    for (const auto& [member, title, what] : kParts) {
        page.heading(title).paragraph(what);
        const auto entries = entries_of(document.at(member));
        if (entries.empty()) page.paragraph("None.");
        for (size_t i = 0; i < entries.size(); ++i) {
            if (entries.size() > 1) page.subheading(fmt::format("{} of {}", i + 1, entries.size()));
            page.facts(rows_of_facts(entries[i]));
        }
    }
    return report::document("Record of a person", page);
}

std::string person_text(const json::object& document) {
    std::string text = fmt::format("Record of a person\n{}\n\n", kAbout);
    const auto add = [&](const Facts& facts) {
        for (const auto& [name, value] : facts)
            text += name.empty() ? fmt::format("  {}\n", printable(value))
                                 : fmt::format("  {}: {}\n", printable(name), printable(value));
    };
    add(head_of(document));
    for (const auto& [member, title, what] : kParts) {
        const auto entries = entries_of(document.at(member));
        text += fmt::format("\n{} ({}). {}\n", title, entries.size(), what);
        for (size_t i = 0; i < entries.size(); ++i) {
            if (entries.size() > 1) text += fmt::format(" {} of {}\n", i + 1, entries.size());
            add(entries[i]);
        }
    }
    return text;
}

}  // namespace rampart::cli
