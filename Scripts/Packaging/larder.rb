# The formula for Homebrew. A release adds its `url` and `sha256`.
class Larder < Formula
  desc "Inspect and change Larder stores, embedded key-value caches on LMDB"
  homepage "https://github.com/OWNER/larder"
  license "MIT"
  head "https://github.com/OWNER/larder.git", branch: "main"

  depends_on xcode: ["26.4", :build]
  depends_on "libedit"
  depends_on "lmdb"

  def install
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "larder"
    system "./Scripts/install", prefix, ".build/release/larder"
  end

  test do
    system bin/"larder", "test.larder", "--create", "-e", "set @a key value"
    assert_equal "value", shell_output("#{bin}/larder test.larder -e 'get @a key'")
  end
end
