# Run as a script by server/api: writes what version.h declares to OUTPUT, SL_VERSION and a digest of the service's
# code below SOURCE, by names and contents alone. A figure, or how it is written, can be another with any of it;
# whoever keeps answers (ETags, searches in the database) tells builds apart by this. Data has the catalogue's revision.
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/include/*.h ${SOURCE}/server/*.[ch])
set(listing "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} hash)
  string(APPEND listing "${file} ${hash}\n")
endforeach()
string(SHA256 digest "${listing}")
string(SUBSTRING ${digest} 0 12 digest)
file(WRITE ${OUTPUT}
  "#include \"shardline/version.h\"\n\n"
  "const char sl_engine_version[] = SL_VERSION \"+${digest}\";\n")
