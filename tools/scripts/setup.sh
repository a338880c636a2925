# What tools/quickstart and tools/check share: packages, build, Python environment. Sourced from the project's root,
# with pipefail.

packages="llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools clang-22 libclang-rt-22-dev lld-22 liblld-22-dev
  libprotobuf-dev protobuf-compiler libfmt-dev catch2 cmake ninja-build ccache gcc libc6-dev binutils python3 python3-venv
  qemu-user qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross git"

say() { printf '\n== %s\n' "$*"; }

# LLVM 22 reaches Debian 12 through its security suite, which a minimal installation may not list: it lies beside the
# main archive, on the mirror that is in use.
add_security_suite() {
  local mirror lists # either place may be empty
  lists=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null) || true
  mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\/debian\)\/\? .*/\2/p; s/^URIs: \([^ ]*\/debian\)\/\?$/\1/p' \
    <<< "$lists" | head -n 1)
  [ -n "$mirror" ] || return 0
  echo "deb ${mirror}-security bookworm-security main" > /etc/apt/sources.list.d/onnxc-security.list
  apt-get update -qq
}

install_packages() {
  local missing
  missing=$(for p in $packages; do dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"; done)
  [ -z "$missing" ] && { echo "all packages are installed"; return; }
  echo "installing" $missing
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-cache show llvm-22-dev > /dev/null 2>&1 || add_security_suite
  apt-get install -y -qq --no-install-recommends $missing > build/apt.log 2>&1 || { tail -n 20 build/apt.log; return 1; }
}

build() {
  cmake --preset release -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache > build/cmake.log 2>&1 ||
    { tail -n 30 build/cmake.log; return 1; }
  CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ninja -C build 2>&1 | tee build/ninja.log | progress ||
    { grep -v '^\[' build/ninja.log | tail -n 40; return 1; }
}

# One line for every twentieth step, the last included.
progress() { awk '/^\[/ { split($1, n, /[][\/]/); if (n[2] % 20 == 0 || n[2] == n[3]) print; fflush() }'; }

# Installs tools/requirements.txt, or the file of tools/ that is named.
python_environment() {
  local wanted=${1:-requirements.txt}
  [ -x build/venv/bin/python ] || python3 -m venv build/venv
  cmp -s "tools/$wanted" "build/venv/$wanted" && { echo "Python environment is up to date"; return; }
  build/venv/bin/pip install -q --disable-pip-version-check -r "tools/$wanted"
  cp "tools/$wanted" build/venv/
  echo "installed $(grep -c '^[^#-]' "tools/$wanted") Python packages"
}
