import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What holds for the store as a whole, in every process: the record `S` of the catalogue.
///
/// A checksum, then JSON.
struct StoreSettings: Codable, Equatable, Sendable {
  /// What code declared.
  var declared = StoreLimits()
  /// What an operator put over it.
  var overrides = StoreLimits()

  var limits: StoreLimits { declared.overridden(by: overrides) }

  init() {}

  init(_ bytes: Span<UInt8>) throws(LarderError) {
    guard bytes.count > 8,
      bytes.word(at: 0) == Checksum.of(bytes.extracting(8..<bytes.count), seed: 6)
    else {
      throw LarderError(.damaged, "the store's record of its limits is damaged", hint: .verify)
    }
    do {
      self = try JSONDecoder().decode(
        StoreSettings.self, from: Data(bytes.extracting(8..<bytes.count).copied))
    } catch {
      throw LarderError(
        .damaged, "the store's limits cannot be read: \(error)", hint: .verify)
    }
  }

  func encoded() throws(LarderError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      let json = [UInt8](try encoder.encode(self))
      var bytes: [UInt8] = []
      bytes.append(word: Checksum.of(json.span, seed: 6))
      return bytes + json
    } catch {
      throw LarderError(.invalidArgument, "the limits cannot be stored: \(error)")
    }
  }
}
