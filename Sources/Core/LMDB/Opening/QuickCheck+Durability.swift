extension QuickCheck {
  /// The level in the newest commit of a data file; durable without a record.
  static func durability(of files: StoreFiles) throws(OpenError) -> DurabilityLevel {
    do throws(Finding) {
      return try QuickCheck(path: files.data).durability()
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail, cause: error.cause)
    }
  }

  private func durability() throws(Finding) -> DurabilityLevel {
    guard let node = try find(DurabilityLevel.record) else { return .durable }
    let value = unsafe node.key.load(fromByteOffset: node.keyCount, as: UInt8.self)
    guard node.valueCount == 1, let level = DurabilityLevel(rawValue: value) else {
      throw Finding(kind: .damaged, detail: "the record of its durability is not one")
    }
    return level
  }
}
