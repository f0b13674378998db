#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/report/text_table.hpp"

namespace rampart::report {

/// Returns text for the content of an element or for an attribute; control characters become
/// U+FFFD.
std::string escaped(std::string_view text);

/// One cell of an HTML table.
struct Cell {
    std::string markup;  // escaped content
    std::string style;   // class of the style sheet, or empty

    /// Escapes the text.
    Cell(std::string_view text, std::string_view cell_style = {});
    Cell(const char* text) : Cell(std::string_view(text)) {}
    Cell(const std::string& text) : Cell(std::string_view(text)) {}
    /// Takes markup as it is.
    static Cell raw(std::string markup, std::string_view cell_style = {});
};
using Row = std::vector<Cell>;

/// Returns the rows of a text table as cells.
std::vector<Row> rows_of(const Table& table);

/// The body of a page. Texts are escaped; `style` is a class of the style sheet, or empty.
class Html {
  public:
    Html& title(std::string_view text, std::string_view style = {});
    Html& heading(std::string_view text);
    Html& subheading(std::string_view text);
    Html& paragraph(std::string_view text, std::string_view style = {});
    Html& preformatted(std::string_view text);
    /// Adds a numbered list.
    Html& list(const std::vector<std::string>& items);
    /// Adds a table whose first row is its head; a wide one scrolls.
    Html& table(const Row& head, const std::vector<Row>& rows, std::string_view style = {});
    /// Adds a table of two columns, a name and what is said of it.
    Html& facts(const std::vector<Row>& rows);
    /// Adds a drawing with a caption; `unit` stands in small letters after it.
    Html& figure(std::string_view caption, std::string_view unit, std::string_view markup);
    /// Adds markup as it is.
    Html& raw(std::string_view markup);

    const std::string& markup() const { return markup_; }

  private:
    Html& element(std::string_view name, std::string_view text, std::string_view style);
    std::string markup_;
};

/// Returns one HTML file with the style sheet; `title` is for the window.
std::string document(std::string_view title, const Html& body);

}  // namespace rampart::report
