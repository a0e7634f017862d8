import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the catalogue says of a namespace; its name is the record's key.
///
/// A checksum over the name and the rest comes first: a damaged id would show one namespace under the name of another.
/// The id is binary, so that a read finds it without parsing; the rules are JSON, so that later rules need no new
/// format.
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

  private static let headCount = 20

  /// The namespace's id; nil if the record is damaged.
  static func id(_ bytes: Span<UInt8>, name: String) -> NamespaceID? {
    guard bytes.count >= headCount,
      bytes.word(at: 0) == checksum(of: bytes.extracting(8..<bytes.count), name: name)
    else { return nil }
    let id = NamespaceID(rawValue: bytes.halfWord(at: 8))
    return NamespaceID.possible.contains(id) ? id : nil
  }

  private static func checksum(of rest: Span<UInt8>, name: String) -> UInt64 {
    Checksum.of(rest, seed: Checksum.of(Array(name.utf8).span, seed: 5))
  }

  init(id: NamespaceID, created: Int64, rules: RuleSet = RuleSet()) {
    self.id = id
    self.created = created
    self.rules = rules
  }

  init(_ bytes: Span<UInt8>, name: String) throws(LarderError) {
    guard let id = Self.id(bytes, name: name) else {
      throw LarderError(
        .damaged, "the catalogue's record of namespace \(name) is damaged", hint: .verify)
    }
    self.id = id
    created = Int64(bitPattern: bytes.word(at: 12))
    do {
      rules = try JSONDecoder().decode(
        RuleSet.self, from: Data(bytes.extracting(Self.headCount..<bytes.count).copied))
    } catch {
      throw LarderError(
        .damaged, "the rules of namespace \(name) cannot be read: \(error)", hint: .verify)
    }
  }

  func encoded(name: String) throws(LarderError) -> [UInt8] {
    var rest: [UInt8] = []
    rest.append(littleEndian: id.rawValue)
    rest.append(word: UInt64(bitPattern: created))
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      rest += try encoder.encode(rules)
    } catch {
      throw LarderError(.invalidArgument, "the rules cannot be stored: \(error)")
    }
    var bytes: [UInt8] = []
    bytes.append(word: Self.checksum(of: rest.span, name: name))
    return bytes + rest
  }
}
