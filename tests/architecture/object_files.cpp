#include "object_files.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "source_tree.hpp"

namespace rampart::architecture {
namespace {

template <class T>
std::vector<T> table(const std::string& bytes, size_t from, size_t size) {
    if (from + size > bytes.size()) throw std::runtime_error("object file is cut short");
    std::vector<T> rows(size / sizeof(T));
    std::memcpy(rows.data(), bytes.data() + from, rows.size() * sizeof(T));
    return rows;
}

/// The sections, symbols and names of one object.
struct Elf {
    explicit Elf(const std::string& all) : bytes(all) {
        const auto header = table<Elf64_Ehdr>(bytes, 0, sizeof(Elf64_Ehdr)).at(0);
        sections = table<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
        names = header.e_shstrndx;
        for (const auto& section : sections) {
            if (section.sh_type != SHT_SYMTAB) continue;
            symbols = table<Elf64_Sym>(bytes, section.sh_offset, section.sh_size);
            symbol_names = section.sh_link;
        }
    }

    std::string text(size_t section, size_t at) const {
        return bytes.c_str() + sections.at(section).sh_offset + at;
    }
    std::string name_of(const Elf64_Sym& symbol) const {
        return text(symbol_names, symbol.st_name);
    }
    std::string name_of(const Elf64_Shdr& section) const { return text(names, section.sh_name); }

    const std::string& bytes;
    std::vector<Elf64_Shdr> sections;
    std::vector<Elf64_Sym> symbols;
    size_t names = 0, symbol_names = 0;
};

bool is_code(const Elf64_Shdr& section) { return (section.sh_flags & SHF_EXECINSTR) != 0; }

bool is_external(const Elf64_Sym& symbol) { return ELF64_ST_BIND(symbol.st_info) != STB_LOCAL; }

/// Returns whether the four bytes at `at` may be the distance of a call, a jump or an address.
bool may_be_distance(const std::string& code, size_t at) {
    const auto byte = [&](size_t back) {
        return at < back ? 0u : static_cast<unsigned char>(code[at - back]) + 0u;
    };
    const unsigned last = byte(1), before = byte(2);
    return last == 0xE8 || last == 0xE9 || (before == 0x0F && (last & 0xF0) == 0x80) ||
           (before == 0x8D && (last & 0xC7) == 0x05);
}

/// Places in the same section where `code`, which begins at `start`, may lead. The assembler leaves
/// no relocation for those to local functions. What it says too much, no function begins there.
std::vector<size_t> jumps(const std::string& code, size_t start) {
    std::vector<size_t> targets;
    for (size_t i = 0; i < code.size(); ++i) {
        const auto byte = static_cast<unsigned char>(code[i]);
        const bool near_jump = byte == 0xEB || (byte >= 0x70 && byte <= 0x7F);
        if (near_jump && i + 1 < code.size())
            targets.push_back(start + i + 2 +
                              static_cast<size_t>(static_cast<int8_t>(code[i + 1])));
        int32_t distance = 0;
        if (i + 4 > code.size() || !may_be_distance(code, i)) continue;
        std::memcpy(&distance, code.data() + i, 4);
        targets.push_back(start + i + 4 + static_cast<size_t>(int64_t{distance}));
    }
    return targets;
}

}  // namespace

std::vector<Object> read_objects(const std::filesystem::path& path) {
    const std::string all = read_text(path);
    const std::string stem = path.filename().string();
    if (all.starts_with(ELFMAG)) return {{stem, all}};
    if (!all.starts_with("!<arch>\n"))
        throw std::runtime_error(path.string() + " is no object file and no archive");
    std::vector<Object> members;
    for (size_t at = 8; at + 60 <= all.size();) {
        const std::string name = all.substr(at, 16);
        const size_t size = std::strtoull(all.substr(at + 48, 10).c_str(), nullptr, 10);
        const std::string bytes = all.substr(at + 60, size);
        if (bytes.starts_with(ELFMAG))
            members.push_back({stem + " " + std::to_string(members.size()), bytes});
        at += 60 + size + size % 2;
    }
    return members;
}

/// Takes in one object: its pieces by section and place, then what leads from one to the other.
class References::Reader {
  public:
    Reader(References& references, const Object& object)
        : all_(references), object_(object), elf_(object.bytes) {
        number_ = all_.before_main_.size();
        all_.before_main_.emplace_back();
        read_symbols();
        read_jumps();
        for (const auto& section : elf_.sections)
            if (section.sh_type == SHT_RELA) read_relocations(section);
    }

  private:
    using Place = std::pair<size_t, size_t>;  // section, offset

    size_t new_piece() {
        all_.pieces_.push_back({number_, {}, {}});
        return all_.pieces_.size() - 1;
    }

    void read_symbols() {
        for (const auto& symbol : elf_.symbols) {
            const auto type = ELF64_ST_TYPE(symbol.st_info);
            const bool here =
                symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < elf_.sections.size();
            if (!here || type == STT_SECTION || type == STT_FILE || type == STT_TLS) continue;
            const Place place{symbol.st_shndx, symbol.st_value};
            auto found = places_.find(place);
            if (found == places_.end())
                found = places_.emplace(place, std::pair{size_t{0}, new_piece()}).first;
            auto& [end, piece] = found->second;
            end = std::max<size_t>(end, symbol.st_value + symbol.st_size);
            if (!is_external(symbol)) continue;
            const std::string name = elf_.name_of(symbol);
            all_.pieces_[piece].names.push_back(name);
            all_.defined_[name].push_back(piece);
            if (type == STT_FUNC && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL)
                all_.strong_[name].insert(object_.name);
        }
    }

    void read_jumps() {
        for (const auto& [place, found] : places_) {
            const auto& section = elf_.sections.at(place.first);
            if (!is_code(section)) continue;
            const std::string code =
                elf_.bytes.substr(section.sh_offset + place.second, found.first - place.second);
            for (const size_t target : jumps(code, place.second)) {
                const auto callee = places_.find({place.first, target});
                if (callee != places_.end() && callee->first != place)
                    all_.pieces_[found.second].pieces.push_back(callee->second.second);
            }
        }
    }

    void read_relocations(const Elf64_Shdr& section) {
        const auto& from = elf_.sections.at(section.sh_info);
        if ((from.sh_flags & SHF_ALLOC) == 0) return;
        const std::string name = elf_.name_of(from);
        if (name.starts_with(".eh_frame") || name.starts_with(".gcc_except_table")) return;
        for (const auto& rela : table<Elf64_Rela>(elf_.bytes, section.sh_offset, section.sh_size)) {
            // the tables of a switch lead back into their own function
            if (is_relative(rela) && !is_code(from)) continue;
            const auto target = target_of(rela);
            if (!target) continue;
            if (name.starts_with(".init_array"))
                all_.before_main_[number_].push_back(*target);
            else
                all_.pieces_[piece_at(section.sh_info, rela.r_offset)].pieces.push_back(*target);
        }
    }

    static bool is_relative(const Elf64_Rela& rela) {
        return ELF64_R_TYPE(rela.r_info) != R_X86_64_64;
    }

    std::optional<size_t> target_of(const Elf64_Rela& rela) {
        const auto& symbol = elf_.symbols.at(ELF64_R_SYM(rela.r_info));
        if (symbol.st_shndx == SHN_UNDEF) {
            const size_t named = new_piece();
            all_.pieces_[named].names.push_back(elf_.name_of(symbol));
            return named;
        }
        if (symbol.st_shndx >= elf_.sections.size()) return std::nullopt;
        const bool of_section = ELF64_ST_TYPE(symbol.st_info) == STT_SECTION;
        const int64_t shift = of_section ? rela.r_addend + (is_relative(rela) ? 4 : 0) : 0;
        return piece_at(symbol.st_shndx, symbol.st_value + static_cast<size_t>(shift));
    }

    /// The piece at a place; what has no name of its own is one piece with the rest of its section.
    size_t piece_at(size_t section, size_t offset) {
        const auto after = places_.upper_bound({section, offset});
        if (after != places_.begin()) {
            const auto& [place, found] = *std::prev(after);
            if (place.first == section && (offset < found.first || offset == place.second))
                return found.second;
        }
        if (!unnamed_.contains(section)) unnamed_[section] = new_piece();
        return unnamed_[section];
    }

    References& all_;
    const Object& object_;
    Elf elf_;
    size_t number_ = 0;
    std::map<Place, std::pair<size_t, size_t>> places_;  // -> end, piece
    std::map<size_t, size_t> unnamed_;
};

void References::add(const Object& object) { Reader(*this, object); }

std::set<std::string> References::reached_from(const std::string& root) const {
    std::set<std::string> names;
    std::vector<bool> seen(pieces_.size()), linked(before_main_.size());
    std::vector<size_t> open;
    const auto visit = [&](size_t piece) {
        if (seen[piece]) return;
        seen[piece] = true;
        open.push_back(piece);
    };
    const auto visit_name = [&](const std::string& name) {
        if (!names.insert(name).second) return;
        if (const auto found = defined_.find(name); found != defined_.end())
            for (const size_t piece : found->second) visit(piece);
    };
    visit_name(root);
    while (!open.empty()) {
        const Piece& piece = pieces_[open.back()];
        open.pop_back();
        for (const auto& name : piece.names) visit_name(name);
        for (const size_t next : piece.pieces) visit(next);
        const bool defines = !piece.names.empty() && defined_.contains(piece.names.front());
        if ((defines || !piece.pieces.empty()) && !linked[piece.object]) {
            linked[piece.object] = true;
            for (const size_t next : before_main_[piece.object]) visit(next);
        }
    }
    return names;
}

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text ? text.get() : name;
}

}  // namespace rampart::architecture
