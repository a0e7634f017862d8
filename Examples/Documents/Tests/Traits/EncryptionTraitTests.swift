import Crypto
import Foundation
import Larder
import LarderCompression
import LarderEncryption
import LarderTesting
import Synchronization
import TestSupport
import Testing

@Suite struct EncryptionTraitTests {
  private let keys = ["2025": SymmetricKey(size: .bits256), "2026": SymmetricKey(size: .bits128)]

  private func encryption(_ current: String, without lost: String? = nil) throws -> AESEncryption {
    try AESEncryption(currentKey: current) { [keys] name in name == lost ? nil : keys[name] }
  }

  @Test
  func `the file holds neither values nor metadata, and a key is changed while old entries stay`()
    throws
  {
    let directory = TemporaryDirectory()
    let path = directory.path + "/store"
    func open(_ key: String, without lost: String? = nil) throws -> Store.Namespace {
      let encryption = try encryption(key, without: lost)
      return try Store(at: path, options: options(ZstdCompression(), encryption)).namespace("notes")
    }
    let attributes = EntryAttributes.with(metadata: Array("metadata of a patient".utf8))
    let secret = String(repeating: "diagnosis of a patient. ", count: 100)
    var notes = try open("2025")
    try notes.set(Array(secret.utf8), for: "a", attributes)
    try notes.set("diagnosis", for: "b")
    #expect(try notes.entry(for: "a")?.transforms == [.zstd, .aesGCM])
    try notes.store.close()
    let file = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    for word in ["diagnosis", "patient"] { #expect(file.range(of: Data(word.utf8)) == nil) }
    #expect(file.range(of: Data("2025".utf8)) != nil)

    notes = try open("2026")
    #expect(try notes.value(for: "a") == secret)
    #expect(try notes.entry(for: "a")?.metadata == attributes.metadata)
    try notes.set("new", for: "b")
    try notes.store.close()

    notes = try open("2026", without: "2025")
    let lost: String? = try notes.value(for: "a")
    #expect(try lost == nil && notes.entry(for: "a")?.metadata == nil)
    #expect(try notes.value(for: "b") == "new")
    try notes.store.finish()

    // Opens the store without the keys and without compression.
    let store = try Store(at: path)
    let error = #expect(throws: LarderError.self) {
      _ = try store.namespace("notes").value(for: "b") as String?
    }
    #expect(error?.code == .unreadable && error?.message.contains("encrypted (AES-GCM)") == true)
    #expect(error?.hint?.contains("trait Encryption") == true)
    try store.close()
  }

  @Test func `a key that cannot be had is an error, and so are impossible keys`() throws {
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
    // Tests of transforms cover the reads of entries without a required transform, so this test checks only the property.
    #expect(encryption.isRequired)
    let none = try AESEncryption(currentKey: "none") { _ in nil }
    try withTemporaryStore(options: options(none)) { store, _ in
      let notes = store.namespace("notes")
      let error = #expect(throws: LarderError.self) { try notes.set("v", for: "k") }
      #expect(error?.code == .unencodable)
    }
  }

  @Test func `bytes of another entry, of another store or changed are not decrypted`() throws {
    let encryption = try encryption("2025")
    let recorder = ContextRecorder()
    let stores = try (0..<2).map { _ in try Store.temporary(options: options(recorder)) }
    let places = try [(0, "a"), (0, "b"), (0, "a"), (1, "a")].map {
      store, key -> TransformContext in
      try stores[store].namespace("notes").set("v", for: key)
      return try #require(recorder.last)
    }
    let plain = Array("three".utf8)
    // The parameters are 12 bytes of nonce and the name of the key.
    let (bytes, parameters) = try #require(try encryption.apply(plain.span, for: places[0]))
    let again = try #require(try encryption.apply(plain.span, for: places[0]))
    #expect(bytes != again.bytes)
    #expect(try encryption.revert(bytes.span, parameters.span, size: 5, for: places[0]) == plain)
    func expectFailure(_ bytes: [UInt8], _ parameters: [UInt8], at place: Int = 0) {
      #expect(throws: (any Error).self) {
        try encryption.revert(bytes.span, parameters.span, size: 5, for: places[place])
      }
    }
    for place in 1..<4 { expectFailure(bytes, parameters, at: place) }
    func changed(_ bytes: [UInt8], at index: Int) -> [UInt8] {
      bytes.enumerated().map { $0 == index ? $1 ^ 1 : $1 }
    }
    for index in bytes.indices { expectFailure(changed(bytes, at: index), parameters) }
    for index in parameters.indices {
      expectFailure(bytes, changed(parameters, at: index))
      expectFailure(bytes, Array(parameters.prefix(index)))
    }
  }

  @Test func `a hashed key depends on the secret`() {
    func key(_ secret: String) -> Key {
      KeyedHash(secret: SymmetricKey(data: Data(secret.utf8)))("anna@example.com")
    }
    #expect(key("a secret") == key("a secret") && key("a secret") != key("another secret"))
    #expect(key("a secret").bytes.count == 32)
  }
}
