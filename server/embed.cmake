# sl_embed(target set_name folder file...) compiles files into `target` as bytes, reachable through
# `extern const sl_embedded_set <set_name>;`. Names are relative to `folder` and sorted, so that lookups can bisect.
function(sl_embed target set_name folder)
  set(files ${ARGN})
  list(SORT files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${set_name}.c)
  set(paths "")
  foreach(file IN LISTS files)
    list(APPEND paths ${folder}/${file})
  endforeach()
  string(REPLACE ";" "," joined "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSET=${set_name} -DFOLDER=${folder} -DFILES=${joined}
            -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/server/embed_files.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/server/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
