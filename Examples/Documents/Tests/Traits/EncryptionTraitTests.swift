import Crypto
import Foundation
import Larder
import LarderCompression
import LarderEncryption
import LarderTesting
import Synchronization
import TestSupport
import Testing

@Suite final class EncryptionTraitTests: Sendable {
  private let keys = Mutex<[String: SymmetricKey]>([
    "2025": SymmetricKey(size: .bits256), "2026": SymmetricKey(size: .bits128),
  ])

  private func encryption(_ current: String) throws -> AESEncryption {
    let known = keys.withLock { $0 }
    return try AESEncryption(currentKey: current) { known[$0] }
  }

  private func text(_ store: Store, _ key: String) throws -> String? {
    try store.namespace("notes").value(for: key)
  }

  @Test
  func `the file holds neither values nor metadata, and a key is changed while old entries stay`()
    throws
  {
    let directory = TemporaryDirectory()
    let path = directory.path + "/store"
    var attributes = EntryAttributes()
    attributes.metadata = Array("metadata of a patient".utf8)
    var store = try Store(at: path, options: options(ZstdCompression(), try encryption("2025")))
    let secret = String(repeating: "diagnosis of a patient. ", count: 100)
    try store.namespace("notes").set(Array(secret.utf8), for: "a", attributes)
    try store.namespace("notes").set("diagnosis", for: "b")
    #expect(try text(store, "a") == secret)
    #expect(try store.namespace("notes").entry(for: "a")?.transforms == [.zstd, .aesGCM])
    try store.close()
    let file = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    for word in ["diagnosis", "patient"] { #expect(file.range(of: Data(word.utf8)) == nil) }
    #expect(file.range(of: Data("2025".utf8)) != nil)

    store = try Store(at: path, options: options(ZstdCompression(), try encryption("2026")))
    #expect(try text(store, "a") == secret)
    #expect(try store.namespace("notes").entry(for: "a")?.metadata == attributes.metadata)
    try store.namespace("notes").set("new", for: "b")
    try store.close()

    keys.withLock { $0["2025"] = nil }
    store = try Store(at: path, options: options(ZstdCompression(), try encryption("2026")))
    #expect(try text(store, "a") == nil && text(store, "b") == "new")
    #expect(try store.namespace("notes").entry(for: "a")?.metadata == nil)
    try store.finish()

    // Opens the store without the keys and without compression.
    store = try Store(at: path)
    let error = #expect(throws: LarderError.self) { try text(store, "b") }
    #expect(error?.code == .unreadable && error?.message.contains("encrypted (AES-GCM)") == true)
    #expect(error?.hint?.contains("trait Encryption") == true)
    try store.close()
  }

  @Test func `a wrong key reads nothing, and a key that cannot be had is an error`() throws {
    struct Locked: Error {}
    let isLocked = Mutex(false)
    let key = SymmetricKey(size: .bits256)
    let encryption = try AESEncryption(currentKey: "k") { _ in
      if isLocked.withLock({ $0 }) { throw Locked() }
      return key
    }
    try withTemporaryStore(options: options(encryption)) { store, _ in
      let notes = store.cache(of: String.self, in: "notes", memory: .off)
      try notes.set("secret", for: "a")
      #expect(try notes.value(for: "a") == "secret")
      isLocked.withLock { $0 = true }
      let error = #expect(throws: LarderError.self) { try notes.value(for: "a") }
      #expect(error?.code == .unreadable)
      #expect(throws: LarderError.self) { try notes.set("other", for: "b") }
      isLocked.withLock { $0 = false }
      #expect(try notes.value(for: "a") == "secret" && notes.value(for: "b") == nil)
    }
    #expect(throws: LarderError.self) { _ = try AESEncryption(currentKey: "") { _ in nil } }
    // Tests of transforms cover the entries that a required transform misses.
    #expect(encryption.isRequired)
    let none = try AESEncryption(currentKey: "none") { _ in nil }
    try withTemporaryStore(options: options(none)) { store, _ in
      let notes = store.namespace("notes")
      let error = #expect(throws: LarderError.self) { try notes.set("v", for: "k") }
      #expect(error?.code == .unencodable)
    }
  }

  @Test func `bytes of another entry, of another store or changed are not decrypted`() throws {
    let recorder = Recorder(try encryption("2025"))
    let first = try Store.temporary(options: options(recorder))
    let notes = first.namespace("notes")
    try notes.set("one", for: "a")
    let (one, context) = try #require(recorder.last)
    // The parameters are 12 bytes of nonce and the name of the key.
    let record = try encryption("2025")
    try notes.set("two", for: "b")
    let (_, other) = try #require(recorder.last)
    try notes.set("one", for: "a")
    let (again, later) = try #require(recorder.last)
    #expect(one != again)
    let plain = Array("three".utf8)
    let (bytes, parameters) = try #require(try record.apply(plain.span, for: context))
    #expect(try record.revert(bytes.span, parameters.span, size: 5, for: context) == plain)
    func expectFailure(
      _ bytes: [UInt8], _ parameters: [UInt8], at place: TransformContext? = nil
    ) {
      #expect(throws: (any Error).self) {
        try record.revert(bytes.span, parameters.span, size: 5, for: place ?? context)
      }
    }
    for place in [other, later] { expectFailure(bytes, parameters, at: place) }
    func changed(_ bytes: [UInt8], at index: Int) -> [UInt8] {
      bytes.enumerated().map { $0 == index ? $1 ^ 1 : $1 }
    }
    for index in bytes.indices { expectFailure(changed(bytes, at: index), parameters) }
    for index in parameters.indices {
      expectFailure(bytes, changed(parameters, at: index))
      expectFailure(bytes, Array(parameters.prefix(index)))
    }
  }

  @Test func `hashed keys are found by who has the secret`() throws {
    func key(_ secret: String) -> Key {
      KeyedHash(secret: SymmetricKey(data: Data(secret.utf8)))("anna@example.com")
    }
    try withTemporaryStore { store, _ in
      let notes = store.namespace("notes")
      try notes.set("v", for: key("a secret"))
      #expect(try notes.contains(key("a secret")))
      #expect(try !notes.contains(key("another secret")) && !notes.contains("anna@example.com"))
      #expect(key("a secret").bytes.count == 32)
    }
  }
}
