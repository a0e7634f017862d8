import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A namespace: the record `N`. The id is binary, so reads parse nothing. The rules are JSON, so new rules need no new format.
struct NamespaceRecord: Equatable, Sendable {
  var id: NamespaceID
  var created: Int64
  var rules = RuleSet()

  struct RuleSet: Codable, Equatable, Sendable {
    var declared = Rules()
    var overrides = Rules.Overrides()

    var effective: Rules { overrides.applied(to: declared) }

    mutating func declare(_ rules: Rules) {
      if rules.version >= declared.version { declared = rules }
    }
  }

  /// The number of bytes of the id and the time of creation, which precede the rules.
  private static let headCount = 12

  static func id(_ record: Span<UInt8>, name: String, seal: RecordSeal) -> NamespaceID? {
    guard let content = seal.open(record, for: MetadataKey.namespace(name)) else { return nil }
    return id(content)
  }

  private static func id(_ content: Span<UInt8>) -> NamespaceID? {
    guard content.count >= headCount else { return nil }
    let id = NamespaceID(rawValue: content.halfWord(at: 0))
    return NamespaceID.possible.contains(id) ? id : nil
  }
}

extension NamespaceRecord {
  init(_ record: Span<UInt8>, name: String, seal: RecordSeal) throws(LarderError) {
    guard let content = seal.open(record, for: MetadataKey.namespace(name)),
      let id = Self.id(content)
    else {
      throw LarderError(
        .damaged, "the metadata record of namespace \(name) is damaged", hint: .verify)
    }
    self.id = id
    created = Int64(bitPattern: content.word(at: 4))
    do {
      try NamespaceName.validate(name)
      rules = try JSONDecoder().decode(
        RuleSet.self, from: Data(copying: content.extracting(Self.headCount..<content.count)))
      try rules.declared.validateNumbers()
      try rules.effective.validateNumbers()
    } catch {
      throw LarderError(
        .damaged, "the record of namespace \(name) cannot be read: \(error)", hint: .verify)
    }
  }

  func record(name: String, seal: RecordSeal) throws(LarderError) -> [UInt8] {
    var content = [UInt8](littleEndian: id.rawValue) + [UInt8](littleEndian: created)
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      content += try encoder.encode(rules)
    } catch { throw LarderError(.invalidArgument, "the rules cannot be stored: \(error)") }
    return seal.seal(content, for: MetadataKey.namespace(name))
  }
}

enum NamespaceName {
  static let longest = 100

  static func validate(_ name: String) throws(LarderError) {
    let isPossible =
      !name.isEmpty && name.utf8.count <= longest
      && name.unicodeScalars.allSatisfy { scalar in
        !scalar.properties.isWhitespace && scalar != "@"
          && scalar.properties.generalCategory != .control
      }
    if !isPossible {
      throw LarderError(
        .invalidArgument, "\"\(name)\" cannot name a namespace",
        hint: "use 1 to \(longest) bytes without spaces, @ and control characters")
    }
  }

  static func absent(_ name: String) -> LarderError {
    LarderError(
      .noSuchNamespace, "there is no namespace \(name)",
      hint: "see which there are with namespaces()")
  }
}
