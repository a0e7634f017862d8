import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A store with some values that an application compresses. The shell does not know the transform.
@Suite struct CompressedStoreTests {
  /// Simulates compression: if the first and the last byte of a value are equal, only the first tenth is stored.
  private struct Tenth: ValueTransform {
    let id = TransformID.zstd

    func apply(_ bytes: Span<UInt8>, for context: TransformContext) -> (
      bytes: [UInt8], parameters: [UInt8]
    )? {
      guard bytes[0] == bytes[bytes.count - 1] else { return nil }
      return (bytes.indices.prefix(bytes.count / 10).map { bytes[$0] }, [])
    }

    func revert(
      _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
    ) -> [UInt8] { [UInt8](repeating: bytes[0], count: size) }
  }

  private func shell(_ mode: OutputMode) throws -> Shell {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [Tenth()] }
    let application = try Store(at: path, options: options)
    let (notes, others) = (application.namespace("notes"), application.namespace("others"))
    for number in 1...3 {
      try notes.set(String(repeating: "a", count: 10_000), for: "long/\(number)")
    }
    try notes.set(String(repeating: "a", count: 1_999) + "b", for: "short/1")
    try others.set("plain", for: "k")
    try application.close()
    return try Shell(mode, at: path)
  }

  /// The line about compression below a table. Nil if there is no such line.
  private func remark(_ shell: Shell, _ command: String) throws -> Substring? {
    try shell(command).split(separator: "\n").first { $0.contains("compressed") }
  }

  @Test func `sizes says below the table what compression saves`() throws {
    let shell = try shell(.table)
    for (command, all) in [("sizes", 5), ("sizes @notes", 4), ("sizes @notes --by prefix", 4)] {
      #expect(
        try remark(shell, command)
          == "compressed: 3 of \(all) entries, 3.1 kB in place of 30 kB (10 %)")
    }
    #expect(
      try remark(shell, "sizes @notes long/1 --by key")
        == "compressed: 1 of 1 entry, 1 kB in place of 10 kB (10 %)")
    #expect(try remark(shell, "sizes @others") == nil)
    #expect(try remark(shell, "sizes @notes short/*") == nil)
  }

  @Test func `the rows of sizes hold the stored bytes`() throws {
    let rows = try shell(.plain)("sizes @notes --by prefix").split(separator: "\n")
    // Each of the three compressed values has 33 more stored bytes. These bytes are needed to restore the value.
    #expect(
      rows.map { $0.split(separator: "\t").prefix(3).joined(separator: " ") }
        == ["long/ 3 3099", "short/ 1 2000"])
  }
}
