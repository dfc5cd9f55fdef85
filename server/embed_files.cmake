# Run as a script by sl_embed(): writes one C file that holds FILES (comma-separated, below FOLDER) as byte arrays.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const unsigned char file_${count}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${file}\", file_${count}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"base/embed.h\"\n\n${arrays}\n"
  "static const sl_embedded files[] = {\n${entries}};\n\n"
  "extern const sl_embedded_set ${SET};\n"
  "const sl_embedded_set ${SET} = {files, ${count}};\n")
