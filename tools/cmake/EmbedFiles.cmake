# Writes OUT, a source file with the files of FOLDER as they are and compressed with gzip: those of
# the console, as services/rampartd/console_bundle.hpp has them.
# cmake -DFOLDER=… -DOUT=… -P this
function(bytes_of file name out)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REPEAT "." 80 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    set(${out} "constexpr unsigned char ${name}[]{\n${bytes}};\n" PARENT_SCOPE)
endfunction()

file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
    execute_process(COMMAND gzip -9nc ${FOLDER}/${file} OUTPUT_FILE ${OUT}.gz
        COMMAND_ERROR_IS_FATAL ANY)
    bytes_of(${FOLDER}/${file} kPlain${number} plain)
    bytes_of(${OUT}.gz kGzip${number} gzip)
    string(APPEND arrays "// ${file}\n${plain}${gzip}")
    string(APPEND entries "    {\"${file}\", text(kPlain${number}), text(kGzip${number})},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(REMOVE ${OUT}.gz)
file(WRITE ${OUT} "// Written by tools/cmake/EmbedFiles.cmake.
#include \"services/rampartd/console_bundle.hpp\"

namespace rampart::rampartd {
namespace {

${arrays}
template <size_t N>
std::string_view text(const unsigned char (&bytes)[N]) {
    return {reinterpret_cast<const char*>(bytes), N};
}

}  // namespace

std::span<const BundledFile> console_bundle() {
    static const BundledFile files[]{
${entries}    };
    return files;
}

}  // namespace rampart::rampartd
")
