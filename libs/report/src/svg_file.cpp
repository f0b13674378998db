#include "rampart/report/svg_file.hpp"

#include <fmt/format.h>

#include "rampart/report/html.hpp"
#include "style.hpp"

namespace rampart::report {

std::string svg_file(double width, double height, std::string_view title,
                     std::string_view description, std::string_view markup) {
    // the fill is for programs that do not know the style sheet's variables
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0:g}' height='{1:g}' "
        "viewBox='0 0 {0:g} {1:g}' role='img' aria-labelledby='title' "
        "aria-describedby='description'>\n<title id='title'>{2}</title>\n"
        "<desc id='description'>{3}</desc>\n<style>{4}.paper{{fill:var(--paper)}}\n"
        "text{{font-family:system-ui,sans-serif}}\n</style>\n"
        "<rect class='paper' fill='#fff' width='{0:g}' height='{1:g}'/>\n{5}</svg>\n",
        width, height, escaped(title), escaped(description), kStyleSheet, markup);
}

}  // namespace rampart::report
