import ExampleTesting
import Foundation
import LegoCache
import Testing

@Suite struct FileSourceTests {
  /// `id,name\n1,Technic\n`, packed by gzip.
  private static let packed = Data(
    base64Encoded: "H4sIAAAAAAACA8tM0clLzE3lMtQJSU3OyMtM5gIAo+vzkxIAAAA=")

  private func everything(_ path: String) throws -> [UInt8] {
    let source = try FileSource.open(path)
    var bytes: [UInt8] = []
    while let chunk = try source.next() { bytes += chunk }
    return bytes
  }

  @Test func `a plain file is read as it is`() throws {
    let folder = try TemporaryFolder()
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try everything(folder.write("a.csv", bytes)) == bytes)
    #expect(try everything(folder.write("empty.csv", [])) == [])
  }

  @Test(arguments: ["a.csv.gz", "a.csv"])
  func `gzip is unpacked, whatever the file is called`(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(name, #require(Self.packed))
    #expect(try String(decoding: everything(path), as: UTF8.self) == "id,name\n1,Technic\n")
  }

  @Test func `a file that is not there says so by name`() throws {
    let error = #expect(throws: DumpError.self) { try FileSource.open("/nowhere/colors.csv.gz") }
    #expect(error?.kind == .unreadable && error?.file == "colors.csv.gz")
  }

  @Test func `gzip that is cut short is an error, never a shorter file`() throws {
    let folder = try TemporaryFolder()
    let packed = try #require(Self.packed)
    for length in [0, 1, 5, packed.count / 2, packed.count - 1] {
      let path = try folder.write("cut.csv.gz", packed.prefix(length))
      let error = #expect(throws: DumpError.self, "\(length) bytes") { try everything(path) }
      #expect(error?.kind == .damaged && error?.message.contains("gzip") == true, "\(length) bytes")
    }
  }

  @Test func `gzip with a damaged byte is an error`() throws {
    let folder = try TemporaryFolder()
    var packed = try #require(Self.packed)
    packed[packed.count - 6] ^= 0xFF
    let error = #expect(throws: DumpError.self) {
      try everything(folder.write("bad.csv.gz", packed))
    }
    #expect(error?.kind == .damaged)
    let text = try folder.write("text.csv.gz", Array("id,name\n".utf8))
    #expect(throws: DumpError.self) { try everything(text) }
  }

  @Test func `a reader that stops early ends its gzip`() throws {
    let folder = try TemporaryFolder()
    let member = try #require(Self.packed)
    // gzip takes any number of members in a row; these are far more than a pipe holds.
    let path = try folder.write("long.csv.gz", (0..<50_000).flatMap { _ in member })
    for _ in 0..<3 {
      let source = try FileSource.open(path)
      #expect(try source.next()?.isEmpty == false)
    }
    #expect(try everything(path).count == 50_000 * 18)
  }
}
