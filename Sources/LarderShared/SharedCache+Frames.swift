import Larder

/// Values on their way into the tier.
extension SharedCache {
  func encode(_ value: Value) throws(LarderError) -> [UInt8] {
    do {
      return try codec.encode(value)
    } catch {
      throw LarderError(
        .unencodable, "a \(Value.self) for namespace \(name) cannot be encoded: \(error)",
        hint: "store a value that its codec can express")
    }
  }

  /// The frame of encoded bytes, with the lifetimes that the namespace's rules supply.
  func frame(
    _ bytes: [UInt8], expires: Expiration?, stale: Duration?, tags: [String]
  ) throws(LarderError) -> Frame {
    guard tags.count <= Frame.mostTags else {
      throw LarderError(
        .invalidArgument, "a shared value cannot have \(tags.count) tags",
        hint: "use at most \(Frame.mostTags)")
    }
    for tag in tags { _ = try EntryAttributes.validated(tag) }
    let rules = try local.info()?.rules ?? local.rules ?? Rules()
    return Frame(
      codec: codec.id, soft: try (expires ?? rules.expires).lifetime(from: store.now),
      stale: stale ?? rules.stale, tags: tags,
      value: bytes.count <= shared.options.maxValueSize ? bytes : nil)
  }

  func tierValue(_ frame: Frame, _ key: SharedKey) -> TierValue {
    TierValue(
      frame: frame.encoded(for: key, of: shared.tier.application), lifetime: frame.hard,
      tags: frame.tags)
  }
}
