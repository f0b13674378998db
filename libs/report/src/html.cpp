#include "rampart/report/html.hpp"

#include <fmt/format.h>

#include "style.hpp"

namespace rampart::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string class_of(std::string_view style) {
    return style.empty() ? std::string() : fmt::format(" class='{}'", escaped(style));
}

void append_row(std::string& out, std::string_view element, const Row& row) {
    out += "<tr>";
    for (const auto& cell : row)
        out += fmt::format("<{0}{1}>{2}</{0}>", element, class_of(cell.style), cell.markup);
    out += "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
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
                if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
                    out += kReplacement;
                } else {
                    out += c;
                }
        }
    }
    return out;
}

Cell::Cell(std::string_view text, std::string_view cell_style)
    : markup(escaped(text)), style(cell_style) {}

Cell Cell::raw(std::string markup, std::string_view cell_style) {
    Cell cell(std::string_view(), cell_style);
    cell.markup = std::move(markup);
    return cell;
}

std::vector<Row> rows_of(const Table& table) {
    std::vector<Row> rows;
    for (const auto& line : table) rows.emplace_back(line.begin(), line.end());
    return rows;
}

Html& Html::element(std::string_view name, std::string_view text, std::string_view style) {
    markup_ += fmt::format("<{0}{1}>{2}</{0}>\n", name, class_of(style), escaped(text));
    return *this;
}

Html& Html::title(std::string_view text, std::string_view style) {
    return element("h1", text, style);
}

Html& Html::heading(std::string_view text) { return element("h2", text, {}); }

Html& Html::subheading(std::string_view text) { return element("h3", text, {}); }

Html& Html::paragraph(std::string_view text, std::string_view style) {
    return element("p", text, style);
}

Html& Html::preformatted(std::string_view text) { return element("pre", text, {}); }

Html& Html::list(const std::vector<std::string>& items) {
    markup_ += "<ol>\n";
    for (const auto& item : items) element("li", item, {});
    markup_ += "</ol>\n";
    return *this;
}

Html& Html::table(const Row& head, const std::vector<Row>& rows, std::string_view style) {
    markup_ += fmt::format("<div class='scroll'><table{}>\n", class_of(style));
    append_row(markup_, "th", head);
    for (const auto& row : rows) append_row(markup_, "td", row);
    markup_ += "</table></div>\n";
    return *this;
}

Html& Html::facts(const std::vector<Row>& rows) {
    markup_ += "<table class='facts'>\n";
    for (const auto& row : rows) append_row(markup_, "td", row);
    markup_ += "</table>\n";
    return *this;
}

Html& Html::figure(std::string_view caption, std::string_view unit, std::string_view markup) {
    markup_ +=
        fmt::format("<figure><figcaption>{}{}</figcaption>\n{}</figure>\n", escaped(caption),
                    unit.empty() ? "" : fmt::format(" <small>{}</small>", escaped(unit)), markup);
    return *this;
}

Html& Html::raw(std::string_view markup) {
    markup_ += markup;
    return *this;
}

std::string document(std::string_view title, const Html& body) {
    return fmt::format(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'/>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'/>"
        "<title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
        escaped(title), kStyleSheet, body.markup());
}

}  // namespace rampart::report
