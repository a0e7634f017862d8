import Testing

@testable import LarderShell
@testable import ShellLanguage

/// The name and the dump of a value that is no text.
@Suite struct BinaryValueTests {
  @Test(arguments: [
    ("89504e470d0a1a0a00", "PNG image"), ("ffd8ffe000", "JPEG image"),
    ("474946383961", "GIF image"),
    ("1f8b08", "gzip data"), ("255044462d312e37", "PDF document"), ("504b0304", "zip archive"),
    ("52494646000000005745425056503820", "WebP image"),
    ("62706c69737430300a", "binary property list"),
    ("28b52ffd", "zstd data"), ("0000", nil), ("52494646", nil),
  ])
  func `bytes are recognized by how they begin`(hex: String, name: String?) throws {
    let bytes = try word("hex:\(hex)").data()
    #expect(BinaryKind.name(of: bytes) == name)
  }

  @Test func `a dump shows every byte and nothing that a terminal obeys`() {
    let all = (0...255).map { UInt8($0) }
    let lines = HexDump(all[...], width: nil).text.split(separator: "\n")
    #expect(lines.count == 16)
    #expect(
      lines[4]
        == "00000040  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|")
    #expect(lines.allSatisfy { String($0).isSafe })
    #expect(HexDump(all[16...], width: 60).text.hasPrefix("00000000  10 11 12 13 14 15 16 17  |"))
    for width in [21, 28, 29, 44, 45, 77, 78, 120] {
      let lines = HexDump(all[...], width: width).text.split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width })
    }
  }
}
