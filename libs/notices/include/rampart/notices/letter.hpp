#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/notices/notice.hpp"

/// Letters from templates: a text with {{name}}, which a value stands in for, and sections
/// {{#list}} … {{/list}}, which are repeated for each entry of a list; inside, {{name}} is one of
/// the entry's values, or else one of the letter's. Nothing else: no conditions, no sections in
/// sections, no files. Values are always escaped for HTML's text and quoted attributes; a
/// template must not have names in scripts, style sheets or addresses of links.
namespace rampart::notices {

inline constexpr size_t kMaxTemplateBytes = 1 << 20;

/// The names that a template may have.
struct TemplateNames {
    std::set<std::string> values;
    std::map<std::string, std::set<std::string>> lists;
};

/// What is put in for them; all of TemplateNames.
struct TemplateValues {
    std::map<std::string, std::string> values;
    std::map<std::string, std::vector<std::map<std::string, std::string>>> lists;
};

class LetterTemplate {
  public:
    /// Errors: invalid_argument "bad_template", with the line: a name that `names` does not have,
    /// braces or a section that do not end, a section in a section; more than kMaxTemplateBytes.
    static base::Result<LetterTemplate> parse(std::string_view text, const TemplateNames& names);
    std::string render(const TemplateValues& values) const;
    /// Whether the template has the name, "list.name" inside the section of a list.
    bool has(const std::string& name) const { return used_.contains(name); }

  private:
    struct Part {
        std::string text;  // as it is
        std::string name;  // what follows it; empty: nothing
    };
    struct Block {
        std::string list;  // empty: outside of sections
        std::vector<Part> parts;
    };
    std::vector<Block> blocks_;
    std::set<std::string> used_;
};

/// Returns the names of letters: ops/runbooks/letters.md lists them.
const TemplateNames& letter_names();

/// Reads a template of letters. Errors: those of read_file and LetterTemplate::parse;
/// "bad_template" also where creditor, date, rights, the text of reasons or that of the bureau is
/// not in it.
base::Result<LetterTemplate> read_letter_template(const std::filesystem::path& file);

/// Errors: invalid_argument "bad_template": the decline is or was under review, and the template
/// does not say so.
base::Result<std::string> render_letter(const LetterTemplate& letter, const Notice& notice);

}  // namespace rampart::notices
