import ExampleTesting

@testable import Articles

/// The formats of images, and where an image ends.
@Suite struct ImageFormatTests {
  /// With the byte that ends a GIF, `;`, in its colors, its comment and its picture.
  static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 9, 9, 0x3B]
    + [0x21, 0xFE, 2, 0x3B, 0x3B, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 0x3B, 0, 0x3B]

  @Test func `images are told by their bytes`() {
    let long = String(repeating: "a comment ", count: 500)
    let formats: [(String, ImageFormat?)] = [
      ("GIF89a", .gif), ("RIFF0000WEBPVP8", .webp), ("<?xml version='1.0'?><svg xmlns=x>", .svg),
      ("0000ftypavif", .avif), ("<html><img></html>", nil), ("", nil),
      ("<html><body><svg></svg></body></html>", nil),
      ("\u{FEFF}<!DOCTYPE svg [<!ENTITY a 'b'>]>\n<!--\(long) <p> -->\n<svg viewBox='0'>", .svg),
      ("BM000000", .bmp), ("\0\0\u{1}\0\u{1}\0", .ico), ("0000ftypheic", .heic),
      ("0000ftypheix", .heic), ("0000ftypmif1", .heic), ("0000ftypavis", .avif),
      ("0000ftypmp42", nil),
    ]
    for (text, format) in formats { #expect(ImageFormat(Array(text.utf8)) == format, "\(text)") }
    #expect(
      ImageFormat([0x89, 0x50, 0x4E, 0x47]) == .png && ImageFormat([0xFF, 0xD8, 0xFF]) == .jpg)
  }

  @Test(
    arguments: [
      [0x89, 0x50, 0x4E, 0x47] + Array("dataIEND".utf8), [0xFF, 0xD8, 0xFF, 1, 0xFF, 0xD9],
      Array("<svg><g/></svg>".utf8), Array("<!--> --><svg width='1' />".utf8), Self.gif,
    ] as [[UInt8]])
  func `an image is whole with any number of bytes behind its end`(bytes: [UInt8]) throws {
    let image = bytes + [UInt8](repeating: 0x20, count: 5_000)
    #expect(try #require(ImageFormat(image)).ends(image))
    let open = Array("<svg width=1><g/>".utf8)
    #expect(ImageFormat(open)?.ends(open) == false)
  }

  @Test func `a small picture inside a JPEG is not its end`() {
    let small: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 7, 0xFF, 0xD9]
    let head = [0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(small.count + 2)] + small
    let cut = head + [0xFF, 0xDA, 0, 2, 7, 7]
    #expect(ImageFormat(cut)?.ends(cut) == false)
    let whole = cut + [0xFF, 0xD9]
    #expect(ImageFormat(whole)?.ends(whole) == true)
  }
}
