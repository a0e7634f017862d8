import Foundation
import Larder
import TestSupport

/// The entries of the store before the damage, and the values that a read of each key may return.
///
/// A value depends on its key and version, so a read of an old value or of another key's value is recognized as wrong.
struct DamageModel {
  static let namespaces = ["notes", "pages", "images"]
  static let keys = 150

  /// The versions of each key that a read may return. The version 0 means that there may be no entry.
  private(set) var possible: [String: Set<Int>] = [:]
  private var version = 0

  static func name(_ number: Int) -> String {
    // Some keys are so long that they are stored as a hash.
    number % 29 == 7 ? "key-\(number)-" + String(repeating: "long", count: 80) : "key-\(number)"
  }

  static func value(of key: String, version: Int) -> [UInt8] {
    var random = SeededRNG(seed: key.utf8.reduce(UInt64(version)) { $0 &* 31 &+ UInt64($1) })
    let size: Int =
      switch random.next(in: 0..<20) {
      case 0: random.next(in: 2000..<20_000)
      case 1...3: random.next(in: 300..<2000)
      default: random.next(in: 0..<120)
      }
    let head = Array("\(key)#\(version)#".utf8)
    return head + (0..<size).map { UInt8(truncatingIfNeeded: $0 &* version &+ key.utf8.count) }
  }

  /// Notes a change. `isCertain` is false for a change with an unknown outcome.
  mutating func note(_ key: String, _ version: Int, isCertain: Bool) {
    if isCertain { possible[key] = [version] } else { possible[key, default: [0]].insert(version) }
  }

  mutating func noteAllMayBeGone() { for key in possible.keys { possible[key]!.insert(0) } }

  func isOld(_ value: [UInt8], for key: String) -> Bool {
    let words = value.split(separator: UInt8(ascii: "#"), maxSplits: 2)
    guard words.count >= 2, let version = Int(String(decoding: words[1], as: UTF8.self)) else {
      return false
    }
    return Self.value(of: key, version: version) == value
  }

  /// Whether a read of the damaged store may return this value. A value may be missing, but never wrong.
  func allows(_ value: [UInt8]?, for key: String) -> Bool {
    guard let value else { return true }
    return (possible[key] ?? []).contains { $0 > 0 && Self.value(of: key, version: $0) == value }
  }

  /// Makes a store with random changes: sets with tags or expiries, overwrites and removals. Calls `halfway` after half of the
  /// changes. At that time the caller can copy the file, to get older versions of the final pages.
  static func build(
    at path: String, durability: Durability, halfway: () throws -> Void
  ) throws -> (DamageModel, Store) {
    let store = try Store(at: path, options: Store.Options(durability: durability))
    var model = DamageModel()
    var random = SeededRNG(seed: 7)
    for round in 0..<6 {
      if round == 3 { try halfway() }
      for name in namespaces {
        try store.write { batch in
          for _ in 0..<keys {
            let key = Self.name(random.next(in: 0..<keys))
            let full = name + "/" + key
            if random.chance(percent: 20) {
              try batch.remove(key, from: store.namespace(name))
              model.note(full, 0, isCertain: true)
            } else {
              model.version += 1
              var attributes = EntryAttributes(
                expires: random.chance(percent: 50) ? .after(.hours(1000)) : nil)
              if random.chance(percent: 20) { attributes.tags = ["tag\(random.next(in: 0..<5))"] }
              let value = Self.value(of: full, version: model.version)
              try batch.set(value, for: key, in: store.namespace(name), attributes)
              model.note(full, model.version, isCertain: true)
            }
          }
        }
      }
    }
    return (model, store)
  }
}
