# cmake -DINPUT=file -DOUTPUT=file.inc -P embed.cmake: bytes as a C array's initializer
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
