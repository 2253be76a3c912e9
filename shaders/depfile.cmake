# glslang names the module as the target of its depfile; the rule's output is the C file.
file(READ ${DEPFILE} text)
string(REGEX REPLACE "^[^:]*:" "${TARGET}:" text "${text}")
file(WRITE ${DEPFILE} "${text}")
