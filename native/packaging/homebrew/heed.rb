# Formula for Homebrew. heed.invalid stands for the place of the releases, whose SHA256SUMS have the sum.
class Heed < Formula
  desc "Vision transformers with visible attention"
  homepage "https://heed.invalid"
  url "https://heed.invalid/releases/v0.2.0/heed-0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "glslang" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "spirv-tools" => :build
  depends_on "vulkan-headers" => :build
  depends_on "cairo"
  depends_on "jpeg-turbo"
  depends_on "libarchive"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on "sqlite"
  depends_on "webp"

  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DHEED_TESTS=OFF", "-DHEED_CAIRO=ON", "-DHEED_WEBP=ON", "-DHEED_TIFF=ON", "-DHEED_SQLITE=ON", "-DHEED_LATE=OFF",
      "-DHEED_ARCHIVE=ON", "-DHEED_VULKAN=ON", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/heed version")
    system bin/"heed", "run", "--backend", "cpu", "--maps", "maps.png"
    assert_path_exists testpath/"maps.png"
  end
end
