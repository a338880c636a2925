# find_package(onnxc): the program onnxc::onnxc, the library onnxc::runtime and onnxc_add_model().
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/onnxc_runtime.cmake)
get_filename_component(ONNXC_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)

if(NOT TARGET onnxc::onnxc)
  find_program(ONNXC_EXECUTABLE onnxc HINTS ${ONNXC_PREFIX}/bin REQUIRED NO_CACHE)
  add_executable(onnxc::onnxc IMPORTED)
  set_target_properties(onnxc::onnxc PROPERTIES IMPORTED_LOCATION ${ONNXC_EXECUTABLE})
endif()

# onnxc_add_model(target model.onnx [NAME name] [OPTIONS flags...])
#
# Compiles the model and links the object into `target`, whose sources may include "<name>.h" (default: the file's
# stem). The object is made again when the model, a file of its external data or the compiler changes.
function(onnxc_add_model target model)
  cmake_parse_arguments(ARG "" "NAME" "OPTIONS" ${ARGN})
  cmake_path(ABSOLUTE_PATH model BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT ARG_NAME)
    cmake_path(GET model STEM LAST_ONLY ARG_NAME)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/onnxc/${target})
  set(object ${folder}/${ARG_NAME}.o)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${object} ${folder}/${ARG_NAME}.h
    COMMAND onnxc::onnxc ${model} -o ${object} -MD ${ARG_OPTIONS}
    DEPENDS ${model} onnxc::onnxc
    DEPFILE ${folder}/${ARG_NAME}.d
    COMMENT "Compiling ${ARG_NAME}.onnx"
    VERBATIM)
  target_sources(${target} PRIVATE ${object} ${folder}/${ARG_NAME}.h)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${target} PRIVATE ${folder} $<TARGET_PROPERTY:onnxc::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()
