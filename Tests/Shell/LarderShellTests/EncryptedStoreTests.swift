import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct EncryptedStoreTests {
  /// A shell on a store that an application has written and closed.
  private func shell(_ mode: OutputMode = .plain) throws -> Shell {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [Cipher()] }
    let application = try Store(at: path, options: options)
    try application.namespace("http-statistics").set("hits 3\n", for: "notes")
    for number in 1...3 {
      try application.namespace("notes").set(
        Array("{\"n\":\(number)}".utf8), for: "key/\(number)",
        .with(codec: .json, expires: .after(.hours(number)), tags: ["red"]))
    }
    try application.close()
    return try Shell(mode, at: path)
  }

  @Test func `commands that read no value work`() throws {
    let shell = try shell()
    #expect(try shell("keys @notes") == "key/1\nkey/2\nkey/3\n")
    #expect(try shell("keys @notes key/* --tag red --where 'size > 6'") == "key/1\nkey/2\nkey/3\n")
    #expect(try shell("count @notes --expiring 90m").hasPrefix("1\t"))
    #expect(try shell("sizes @notes --by key --top 1").hasPrefix("key/"))
    #expect(try shell("info @notes key/1").contains("encrypted (AES-GCM)"))
    #expect(try shell("exists @notes key/1") == "true\n")
    #expect(try shell("search KEY/1 @notes --in keys").hasPrefix("notes\tkey/1\tkey\t"))
    try shell("expire @notes key/1 5h")
    try shell("evict @notes key/2")
    #expect(try shell("keys @notes") == "key/1\nkey/3\n")
    #expect(try shell.error("get @notes nope").code == .noSuchKey)
    try shell("verify")
    try shell("stats")
    // The condition is on a tag, so `watch` reads no value.
    shell.pauses = 100
    shell.meanwhile = { [unowned shell] in
      try shell.store.namespace("notes").touch("key/1", expires: .never)
    }
    let line = try shell("watch @notes --tag red --show key,ttl --count 1")
    #expect(line.contains("\tupdated\tnotes\tkey/1\t"))
  }

  @Test func `verify tells of a repair also if it cannot decode every value`() throws {
    let shell = try shell(.table)
    #expect(try shell.error("verify --repair --deep").code == .unreadable)
    #expect(String(decoding: shell.printed, as: UTF8.self).contains("sound"))
  }

  @Test func `a salvage says that it leaves encrypted entries out`() throws {
    let shell = try shell(.table)
    let target = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: target) }
    #expect(try shell.error("salvage \(target)").message.description == "no entry could be saved")
    #expect(String(decoding: shell.printed, as: UTF8.self).contains("left out: 4 entries"))
  }

  @Test func `undo counts an entry whose encrypted value it would have to write again`() throws {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [Cipher()] }
    let application = try Store(at: path, options: options)
    let notes = application.namespace("notes")
    try notes.set(bytes("v"), for: "k", .with(expires: .after(.hours(1)), stale: .hours(1)))
    try notes.set(bytes("v"), for: "l", .with(expires: .after(.hours(1))))
    try application.close()
    let shell = try Shell(.plain, at: path)
    try shell("expire @notes * 5h --yes", "output json")
    let answer = try shell("undo")
    #expect(answer.contains("\"count\":1,") && answer.contains("\"lost\":1"), "\(answer)")
  }

  @Test(arguments: [
    "get @notes key/1", "keys @notes --where '.n = 1'",
    "keys @notes --show .n", "sum .n @notes", "search n @notes", "export - @notes",
    "diff @notes key/1 key/2", "keys @notes --contains n", "count @notes --by .n",
  ]) func `a command that needs values says that they are encrypted`(command: String) throws {
    let error = try shell().error(command)
    #expect(error.code == .unreadable && error.code.exitCode == 4)
    #expect(error.message.description.contains("is encrypted (AES-GCM)"))
    #expect(error.hint?.description.contains("`keys`") == true)
  }

  @Test func `a value that was asked for is named with its size, and nothing is printed`() throws {
    for mode in [OutputMode.plain, .raw, .json, .table] {
      for line in ["get @notes key/2", "get @notes key/2 .n", "get @notes key/2 --out /x"] {
        let shell = try shell(mode)
        let expected = "the value of \"key/2\", 7 B, is encrypted (AES-GCM)"
        #expect(try shell.error(line).message.description == expected)
        #expect(shell.printed.allSatisfy { $0 == UInt8(ascii: "[") })
      }
    }
    // A list without a readable value is not called empty.
    let table = try shell(.table)
    #expect(try table.error("get @notes").code == .unreadable)
    #expect(table.printed == [])
  }

  @Test(arguments: [
    ("get @notes", "c\tplain\n"), ("get @notes key/3 c key/1", "c\tplain\n"),
    ("get @notes * --where 'size > 4'", "c\tplain\n"),
    ("get @* key/1 key/3 c", "notes\tc\tplain\n"), ("get @notes *3 *1 .n", ""),
    ("get @notes key/3 key/1 .n", ""), ("get @notes --sort size --where '. != 1'", "c\tplain\n"),
  ])
  func `the values of a selection that can be read are printed, and the others named`(
    line: String, printed: String
  ) throws {
    let shell = try shell()
    try shell("set @notes c plain --ttl 1m")
    try shell("evict @notes key/2")
    _ = shell.takeAside()
    let error = try shell.error(line)
    #expect(String(decoding: shell.printed, as: UTF8.self) == printed)
    #expect(error.code == .unreadable && error.code.exitCode == 4)
    let all = printed.isEmpty ? 2 : 3
    #expect(error.message.description == "2 of \(all) values are encrypted (AES-GCM)")
    let notes = [1, 3].map { "note: the value of \"key/\($0)\", 7 B, is encrypted (AES-GCM)" }
    #expect(shell.takeAside().sorted() == notes)
    #expect(try shell("get @notes c*") == "c\tplain\n")
    // The encrypted values of `key/1` and `key/3` do not matter for `key`, which is absent.
    #expect(try shell.error("get @notes key/1 key").code == .noSuchKey)
    #expect(shell.takeAside().count == 1)
    shell.input = bytes("key/1\n")
    #expect(try shell("get @notes --stdin --larger 1MB") == "")
    #expect(shell.takeAside() == [])
  }

  @Test func `a condition on values with zero bytes skips what cannot be read`() throws {
    let shell = try shell()
    try shell("set @notes c plain")
    shell.session.settings.endsWithNUL = true
    _ = shell.takeAside()
    #expect(try shell.error("get @notes * --where '. != 1'").code == .unreadable)
    #expect(shell.printed == bytes("c\0plain\0"))
  }

  @Test func `the prompt says it, and what is stored beside`() throws {
    let shell = try shell(.table)
    #expect(
      try shell.session.unknownTransforms.remark(on: shell.store)?.description.hasPrefix(
        "values are encrypted (AES-GCM); `keys`") == true)
    try shell("set @notes a plain")
    #expect(shell.takeAside().contains { $0.contains("this one is not") })
    #expect(try shell("get @notes a").contains("plain"))
    // A pattern without a match must have the usual answer and hint, although other values are unreadable.
    #expect(try shell("keys @notes *KEY*").contains("no entries"))
    #expect(shell.takeAside().contains { $0.contains("with `-i`") })
    let plain = try Shell()
    try plain("set @notes a plain")
    #expect(try plain.session.unknownTransforms.remark(on: plain.store) == nil)
    #expect(plain.takeAside() == [])
  }
}

/// Imports into a store with encrypted values: by a program with the keys, and by a program without the keys.
@Suite struct EncryptedImportTests {
  private let cipher = Cipher(isRequired: true, coversMetadata: true)

  private func export() throws -> [UInt8] {
    let shell = try Shell(.plain)
    for number in 1...2 {
      try shell.store.namespace("notes").set(
        bytes("diagnosis \(number)"), for: "\(number)",
        .with(codec: .text, expires: .never, tags: ["red"], metadata: bytes("doctor \(number)")))
    }
    return Array(try shell("export -").utf8)
  }

  @Test func `with the keys what is imported is encrypted, and comes back as it was`() throws {
    let path = TemporaryDirectory.unusedPath
    let shell = try Shell(.plain, at: path, transforms: [cipher])
    shell.input = try export()
    try shell("import -")
    #expect(shell.takeAside() == [])
    #expect(try shell("get @notes 1") == "diagnosis 1\n")
    let entry = try #require(try shell.store.namespace("notes").entry(for: "2"))
    #expect(entry.transforms == [.aesGCM] && entry.tags == ["red"] && entry.codec == .text)
    #expect(entry.metadata == Array("doctor 2".utf8))
    // An export of the imported notes can be imported again.
    shell.input = Array(try shell("export -").utf8)
    try shell("import - --on-conflict replace --yes")
    #expect(try shell("get @notes 2") == "diagnosis 2\n")
    try shell.store.sync()
    let file = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    for word in ["diagnosis", "doctor"] { #expect(file.range(of: Data(word.utf8)) == nil) }
    try shell("verify")
  }

  @Test func `without the keys it is said that what was imported is not encrypted`() throws {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [cipher] }
    var application = try Store(at: path, options: options)
    try application.namespace("notes").set("secret", for: "9")
    try application.close()

    let shell = try Shell(.plain, at: path)
    shell.input = try export()
    try shell("import - --dry-run")
    #expect(shell.takeAside() == [])
    shell.input = try export()
    try shell("import -")
    #expect(
      shell.takeAside() == [
        "note: the other values of notes are encrypted (AES-GCM), the imported ones are not: an application that requires it misses these entries"
      ])
    #expect(try shell("get @notes 1") == "diagnosis 1\n")
    try shell.store.close()
    try shell.session.store.close()

    application = try Store(at: path, options: options)
    let notes = application.namespace("notes")
    let (own, imported): (String?, String?) = (try notes.value(for: "9"), try notes.value(for: "1"))
    #expect(own == "secret" && imported == nil)
    try application.close()
  }
}

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

  @Test func `a batch holds a few megabytes of values, also of compressed values`() throws {
    let shell = try Shell(.plain, transforms: [Tenth()])
    let namespace = shell.session.store.namespace("a")
    for number in 0..<9 {
      try namespace.set(String(repeating: "a", count: 1_000_000), for: "\(number)")
    }
    var batches: [Int] = []
    try Scope(all: [namespace], in: shell.session).walk(readingValues: true) { _, value -> Int? in
      value.count
    } _: {
      batches.append($0.count)
    }
    #expect(batches == [4, 4, 1])
  }

  /// The line about compression below a table. Nil if there is no such line.
  private func remark(_ shell: Shell, _ command: String) throws -> Substring? {
    try shell(command).split(separator: "\n").first { $0.contains("compressed") }
  }

  @Test func `sizes says below the table what compression saves`() throws {
    let shell = try shell(.table)
    for (command, all) in [("sizes", 5), ("sizes @notes", 4), ("sizes @notes --by prefix", 4)] {
      let expected: Substring = "compressed: 3 of \(all) entries, 3 kB in place of 30 kB (10 %)"
      #expect(try remark(shell, command) == expected)
    }
    let wanted: Substring = "compressed: 1 of 1 entry, 1 kB in place of 10 kB (10 %)"
    #expect(try remark(shell, "sizes @notes long/1 --by key") == wanted)
    #expect(try remark(shell, "sizes @others") == nil)
    #expect(try remark(shell, "sizes @notes short/*") == nil)
  }

  @Test func `the rows of sizes hold the stored bytes`() throws {
    let shell = try shell(.plain)
    let rows = try shell("sizes @notes --by prefix").split(separator: "\n")
    let expected = ["long/ 3 3000", "short/ 1 2000"]
    // `namespaces` subtracts the expired entries from this counter.
    #expect(try shell.store.namespace("notes").info()?.bytes == 5000)
    #expect(rows.map { $0.split(separator: "\t").prefix(3).joined(separator: " ") } == expected)
  }
}
