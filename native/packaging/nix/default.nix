# heed from these sources: nix-build native/packaging/nix. As a package of nixpkgs: callPackage ./default.nix with src = fetchurl.
{
  pkgs ? import <nixpkgs> { },
  src ? pkgs.lib.cleanSource ../../..,
}:
pkgs.stdenv.mkDerivation {
  pname = "heed";
  version = "0.2.0";
  inherit src;

  strictDeps = true;
  nativeBuildInputs = with pkgs; [ cmake glslang ninja pkg-config spirv-tools ];
  buildInputs = with pkgs; [ cairo libarchive libjpeg libpng libtiff libwebp sqlite vulkan-headers zlib ];
  cmakeFlags = [ "-DHEED_TESTS=OFF" "-DHEED_CAIRO=ON" "-DHEED_WEBP=ON" "-DHEED_TIFF=ON" "-DHEED_SQLITE=ON" "-DHEED_ARCHIVE=ON" "-DHEED_LATE=OFF" "-DHEED_VULKAN=ON" ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/heed version
    $out/bin/heed run --backend cpu --maps maps.png
  '';

  meta = {
    description = "Vision transformers with visible attention";
    license = pkgs.lib.licenses.asl20;
    mainProgram = "heed";
    platforms = pkgs.lib.platforms.linux;
  };
}
