#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What the compiler left in object files (ELF, x86-64): which function refers to which.
namespace rampart::architecture {

/// One object file, or one member of an archive.
struct Object {
    std::string name;
    std::string bytes;
};

/// Reads a `.o`, or all members of an `.a`. Throws std::runtime_error with the file's name where it
/// is neither.
std::vector<Object> read_objects(const std::filesystem::path& path);

/// The functions of a set of objects and what they refer to, one by one: a linker's view of what a
/// program needs, as if each function had a section of its own.
class References {
  public:
    void add(const Object& object);

    /// Mangled names that are reached from `root` in the objects where it is defined, with what
    /// runs before main in each object that is reached.
    std::set<std::string> reached_from(const std::string& root) const;

    /// Functions with external linkage that are not inline, mangled -> the objects that define it.
    const std::map<std::string, std::set<std::string>>& strong() const { return strong_; }

  private:
    class Reader;
    struct Piece {  // a function, a table of virtual functions or another datum
        size_t object = 0;
        std::vector<size_t> pieces;
        std::vector<std::string> names;
    };
    std::vector<Piece> pieces_;
    std::map<std::string, std::vector<size_t>> defined_;
    std::vector<std::vector<size_t>> before_main_;  // by object
    std::map<std::string, std::set<std::string>> strong_;
};

/// "rampart::stats::mean(double)" of its mangled form; the form itself where it is none.
std::string demangled(const std::string& name);

}  // namespace rampart::architecture
