import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Settings of the store as a whole, the same for every process: the record `S`, which is JSON.
struct StoreSettings: Codable, Equatable, Sendable {
  /// The disk limit that the store was made with, in force where none is declared.
  var defaultDisk: Int?
  /// The limits that code declared.
  var declared = StoreLimits()
  /// The limits that an operator set over them.
  var overrides = StoreLimits()

  var limits: StoreLimits {
    StoreLimits().overridden(by: StoreLimits(disk: defaultDisk)).overridden(by: declared)
      .overridden(by: overrides)
  }

  init() {}

  /// The record of a new store.
  static func record(defaultDisk: Int, seal: RecordSeal) -> [UInt8] {
    let json = "{\"declared\":{},\"defaultDisk\":\(defaultDisk),\"overrides\":{}}"
    return seal.seal(Array(json.utf8), for: MetadataKey.settings)
  }

  init(_ record: Span<UInt8>, seal: RecordSeal) throws(LarderError) {
    guard let content = seal.open(record, for: MetadataKey.settings) else {
      throw LarderError(.damaged, "the record of the store's limits is damaged", hint: .verify)
    }
    do {
      self = try JSONDecoder().decode(StoreSettings.self, from: Data(copying: content))
      try declared.validate()
      try limits.validate()
    } catch {
      throw LarderError(.damaged, "the store's limits cannot be read: \(error)", hint: .verify)
    }
  }

  /// The record as it is stored.
  func record(seal: RecordSeal) throws(LarderError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      return seal.seal([UInt8](try encoder.encode(self)), for: MetadataKey.settings)
    } catch {
      throw LarderError(.invalidArgument, "the limits cannot be stored: \(error)")
    }
  }
}
