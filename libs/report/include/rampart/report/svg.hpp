#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rampart::report {

/// A range of values.
struct Range {
    double lo = 0, hi = 1;
};
/// Returns the range of the finite values, wider at each end by `share` of it, and by at least
/// `least`. Without finite values: 0 to 1. A range of one value gets a width of 1.
Range padded_range(std::span<const double> values, double share, double least = 0);

/// Maps values to places along one axis of a drawing.
struct Axis {
    double from = 0, to = 1;    // values; from < to
    double start = 0, end = 1;  // places
    /// Returns the place of a value; a value outside the range is put at its nearer end.
    double at(double value) const;
};
/// Returns round values within the axis: multiples of 1, 2 or 5 times a power of ten, about
/// `count` of them.
std::vector<double> ticks(const Axis& axis, int count);
/// Returns a tick's value in at most six digits.
std::string tick_text(double value);

/// Returns at most `length` characters of a text, with an ellipsis where it is longer.
std::string shortened(std::string_view text, size_t length);

/// Returns the class of the k-th colour; colours repeat after nine.
std::string colour(size_t k);

using Points = std::vector<std::pair<double, double>>;  // places

enum class Anchor { kStart, kMiddle, kEnd };

/// The texts of a frame.
struct FrameText {
    std::string x_title = {}, y_title = {};
    int x_ticks = 6, y_ticks = 5;
    bool x_lines = true;  // vertical lines, too
};

/// A drawing. Texts are escaped; `style` names classes of the style sheet.
class Svg {
  public:
    /// `label` says for those who cannot see it what is drawn.
    Svg(double width, double height, std::string_view label, std::string_view style = {});

    Svg& line(std::string_view style, double x1, double y1, double x2, double y2,
              std::string_view title = {});
    Svg& circle(std::string_view style, double x, double y, double radius,
                std::string_view title = {});
    Svg& rectangle(std::string_view style, double x, double y, double width, double height,
                   std::string_view title = {});
    Svg& diamond(std::string_view style, double x, double y, double radius,
                 std::string_view title = {});
    /// Joins the points; a point that is not finite leaves a gap.
    Svg& curve(std::string_view style, const Points& points);
    Svg& polygon(std::string_view style, const Points& points);
    Svg& text(double x, double y, Anchor anchor, std::string_view text,
              std::string_view style = {});
    /// Writes a text that ends at the place and rises towards it at 40 degrees.
    Svg& slanted_text(double x, double y, std::string_view text, std::string_view style = {});
    /// Groups what is drawn until `close`, with a colour or a title for all of it.
    Svg& open(std::string_view style, std::string_view title = {});
    Svg& close();
    /// Draws lines and tick texts of two axes, and the axes' titles: of x below, of y above.
    Svg& frame(const Axis& x, const Axis& y, const FrameText& text = {});
    /// Draws the names of colours, one below the other, from this place on.
    Svg& legend(double x, double y, std::span<const std::string> names);

    /// Returns the finished element.
    std::string markup() const;

  private:
    Svg& shape(std::string_view element, std::string_view title);
    std::string markup_;
};

}  // namespace rampart::report
