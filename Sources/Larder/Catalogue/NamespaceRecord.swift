import LMDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the catalogue says of a namespace; its name is the record's key.
///
/// The id comes first and in binary, so that a read finds it without parsing; the rules are JSON, so that later rules
/// need no new format.
struct NamespaceRecord: Equatable, Sendable {
  var id: NamespaceID
  var created: Int64
  var rules: RuleSet

  /// What code declared and what an operator put over it.
  struct RuleSet: Codable, Equatable, Sendable {
    var declared = Rules()
    var overrides = Rules.Overrides()

    var effective: Rules { overrides.applied(to: declared) }
  }

  static func id(_ bytes: Span<UInt8>) -> NamespaceID? {
    bytes.count >= 4 ? NamespaceID(rawValue: bytes.halfWord(at: 0)) : nil
  }

  init(id: NamespaceID, created: Int64, rules: RuleSet = RuleSet()) {
    self.id = id
    self.created = created
    self.rules = rules
  }

  init(_ bytes: Span<UInt8>, name: String) throws(LarderError) {
    guard bytes.count >= 12, let id = Self.id(bytes) else {
      throw LarderError(
        .damaged, "the catalogue's record of namespace \(name) is cut short", hint: .verify)
    }
    self.id = id
    created = Int64(bitPattern: bytes.word(at: 4))
    do {
      rules = try JSONDecoder().decode(
        RuleSet.self, from: Data(bytes.extracting(12..<bytes.count).copied))
    } catch {
      throw LarderError(
        .damaged, "the rules of namespace \(name) cannot be read: \(error)", hint: .verify)
    }
  }

  func encoded() throws(LarderError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: id.rawValue)
    bytes.append(word: UInt64(bitPattern: created))
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return bytes + Array(try encoder.encode(rules))
    } catch {
      throw LarderError(.invalidArgument, "the rules cannot be stored: \(error)")
    }
  }
}
