#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json_archive.hpp"

namespace rampart::certification {

/// The members of a record as a list, so that two records can be compared figure by figure.
class FigureList {
  public:
    struct Figure {
        std::string name;  // "effects.2.lower"
        std::variant<double, std::string> value;
    };

    template <class T>
    static std::vector<Figure> of(const T& record) {
        FigureList list;
        list.put("", record);
        return std::move(list.figures_);
    }

    /// Returns the name of the first figure that differs, numbers by more than 1e-9 of the larger;
    /// empty: all are the same.
    static std::string first_difference(const std::vector<Figure>& a,
                                        const std::vector<Figure>& b) {
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
            if (a[i].name != b[i].name || !same(a[i].value, b[i].value)) return a[i].name;
        }
        return a.size() == b.size() ? "" : "the number of figures";
    }

    template <class T>
    void operator()(std::string_view name, const T& value) {
        put(path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name), value);
    }
    template <class T>
    void unless_default(std::string_view name, const T& value) {
        (*this)(name, value);
    }

  private:
    using Value = std::variant<double, std::string>;

    static bool same(const Value& a, const Value& b) {
        const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
        if (x == nullptr || y == nullptr || *x == *y) return a == b;
        return std::abs(*x - *y) <= 1e-9 * std::max(std::abs(*x), std::abs(*y));  // not NaN
    }

    template <class T>
    void put(const std::string& name, const T& value) {
        if constexpr (std::is_floating_point_v<T>) {
            figures_.push_back({name, value});
        } else if constexpr (IsOptional<T>::value) {
            value ? put(name, *value) : figures_.push_back({name, "none"});
        } else if constexpr (IsVector<T>::value) {
            figures_.push_back({name, fmt::format("{} entries", value.size())});
            for (size_t i = 0; i < value.size(); ++i) put(fmt::format("{}.{}", name, i), value[i]);
        } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
            const std::string outer = std::exchange(path_, name);
            members(*this, const_cast<T&>(value));  // only reads
            path_ = outer;
        } else {
            figures_.push_back({name, fmt::format("{}", value)});
        }
    }

    std::string path_;
    std::vector<Figure> figures_;
};

}  // namespace rampart::certification
