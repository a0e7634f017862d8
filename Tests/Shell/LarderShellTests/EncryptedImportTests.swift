import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Imports into a store with encrypted values, by a program with the keys and by a program without them.
@Suite struct EncryptedImportTests {
  private let cipher = Cipher(isRequired: true, coversMetadata: true)

  /// The lines of an export of two notes with their metadata.
  private func export() throws -> [UInt8] {
    let shell = try Shell(.plain)
    for number in 1...2 {
      var attributes = EntryAttributes(codec: .text, expires: .never)
      attributes.metadata = Array("doctor \(number)".utf8)
      attributes.tags = ["red"]
      try shell.store.namespace("notes").set(
        Array("diagnosis \(number)".utf8), for: "\(number)", attributes)
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
    var options = Store.Options()
    options.transforms = [cipher]
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
    let (own, imported): (String?, String?) = (
      try notes.value(for: "9"), try notes.value(for: "1")
    )
    #expect(own == "secret" && imported == nil)
    try application.close()
  }
}
