import LMDB
import LarderSystem

// Writing: the value of an entry as transforms leave it.

/// A value that transforms have changed, ready to be stored.
struct TransformedValue {
  /// The version that the transforms were told.
  var version: UInt64
  /// Bytes of the value before.
  var size: Int
  /// In place of the value; nil if no transform changed it.
  var bytes: [UInt8]?
  var steps: TransformSteps?
  /// Metadata, entity tag and modification date as transforms leave them; nil if no transform changes them.
  var metadata: [UInt8]?
}

extension StoreEngine {
  private func context(
    _ part: TransformContext.Part, key: Span<UInt8>, id: NamespaceID, version: UInt64
  ) -> TransformContext {
    TransformContext(
      store: identity, namespace: id.rawValue, key: key.copied, version: version, part: part,
      engine: self)
  }

  /// The value and the metadata of an entry as they are to be stored.
  func transform(
    _ value: Span<UInt8>, _ attributes: EntryAttributes, for key: Span<UInt8>, id: NamespaceID,
    version: UInt64
  ) throws(LarderError) -> TransformedValue {
    var transformed = TransformedValue(version: version, size: value.count)
    // A negative entry has no value that could be hidden or made shorter.
    if !attributes.isNegative,
      let (bytes, steps) = try apply(
        transforms, to: value, context(.value, key: key, id: id, version: version))
    {
      transformed.bytes = bytes
      transformed.steps = steps
    }
    transformed.metadata = try transformedMetadata(
      attributes.metadataFields, for: key, id: id, version: version)
    return transformed
  }

  /// The transformed metadata record; nil if the entry has no metadata or no transform changes it.
  func transformedMetadata(
    _ fields: EntryFields, for key: Span<UInt8>, id: NamespaceID, version: UInt64
  ) throws(LarderError) -> [UInt8]? {
    let covering = transforms.filter(\.coversMetadata)
    if covering.isEmpty || fields.isEmpty { return nil }
    guard
      let (bytes, steps) = try apply(
        covering, to: fields.encoded().span,
        context(.metadata, key: key, id: id, version: version))
    else { return nil }
    let head = steps.encoded()
    var record: [UInt8] = []
    record.append(littleEndian: UInt32(head.count))
    return record + head + bytes
  }

  private func apply(
    _ transforms: [any ValueTransform], to value: Span<UInt8>, _ context: TransformContext
  ) throws(LarderError) -> (bytes: [UInt8], steps: TransformSteps)? {
    var context = context
    var steps = TransformSteps()
    var current: [UInt8]?
    do {
      for transform in transforms {
        context.previous = steps.encoded()
        let size = current?.count ?? value.count
        let result =
          if let current { try transform.apply(current.span, for: context) } else {
            try transform.apply(value, for: context)
          }
        guard let result else { continue }
        guard result.parameters.count <= Int(UInt8.max) else {
          throw LarderError(
            .unencodable, "the parameters of \(transform.id.name) are longer than 255 bytes")
        }
        steps.append(.init(id: transform.id, size: size, parameters: result.parameters))
        current = result.bytes
      }
    } catch let error as LarderError {
      throw error
    } catch {
      throw LarderError(
        .unencodable, "the value of \(Key(context.key)) cannot be transformed: \(error)",
        hint: "check the transforms of the store and their keys")
    }
    return current.map { ($0, steps) }
  }
}

// Reading.

extension StoreEngine {
  /// Whether an entry may be read as it is: it has passed every transform that is required.
  func hasRequiredTransforms(_ header: EntryHeader, _ record: Span<UInt8>) -> Bool {
    if !requiresTransforms || header.flags.contains(.negative) { return true }
    let range = header.flags.contains(.transformed) ? header.field(.transforms, in: record) : nil
    return hasRequired(range.flatMap { TransformSteps(record.extracting($0)) })
  }

  /// The same for an entry that a write has found.
  func hasRequiredTransforms(_ entry: StoredEntry) -> Bool {
    if !requiresTransforms || entry.header.flags.contains(.negative) { return true }
    return hasRequired(entry.fields.transforms)
  }

  private func hasRequired(
    _ steps: TransformSteps?, where concerns: (any ValueTransform) -> Bool = { _ in true }
  ) -> Bool {
    transforms.allSatisfy { transform in
      !transform.isRequired || !concerns(transform)
        || steps?.all.contains { $0.id == transform.id } == true
    }
  }

  /// The value that was written, from the bytes that are stored; nil if they are damaged.
  ///
  /// - Throws: ``LarderError/Code/unreadable`` without a transform that changed it.
  func restore(
    _ bytes: [UInt8], _ fields: EntryFields, for key: Span<UInt8>, id: NamespaceID, version: UInt64
  ) throws(LarderError) -> [UInt8]? {
    guard let steps = fields.transforms else { return nil }
    return try revert(steps, bytes, context(.value, key: key, id: id, version: version))
  }

  /// Fields with metadata, entity tag and modification date as they were written; without them if they are damaged, cannot
  /// be read here, or have not passed a transform that is required.
  func readable(
    _ fields: EntryFields, for key: Span<UInt8>, id: NamespaceID, version: UInt64
  ) -> EntryFields {
    do throws(LarderError) {
      if let plain = try plain(fields, for: key, id: id, version: version) { return plain }
    } catch {
      // Facts are shown without what this process cannot read; a read of the value throws.
    }
    var rest = fields
    rest[.transformedMetadata] = nil
    rest.metadataFields = EntryFields()
    return rest
  }

  /// The same for a write that replaces some of them and keeps the others.
  ///
  /// - Throws: ``LarderError/Code/unreadable`` where the others would be lost, and where this process lacks a transform of the
  ///   value that may have to cover what it writes.
  func changeable(_ entry: StoredEntry, key: Span<UInt8>) throws(LarderError) -> EntryFields {
    let missing = entry.fields.transforms?.all.lazy.map(\.id).first { id in
      id != .zstd && !transforms.contains { $0.id == id }
    }
    if let missing {
      throw LarderError(
        .unreadable,
        "the metadata of \(Key(key.copied)) cannot be changed: the entry is \(missing.name)",
        hint: missing.remedy)
    }
    if let plain = try plain(entry.fields, for: key, id: entry.id, version: entry.header.version) {
      return plain
    }
    throw LarderError(
      .unreadable,
      "the metadata of \(Key(key.copied)) cannot be changed: what is there cannot be read",
      hint: "check the transforms of the store and their keys, or write the entry anew")
  }

  /// Nil if metadata, entity tag and modification date are damaged, or have not passed a transform that is required.
  private func plain(
    _ fields: EntryFields, for key: Span<UInt8>, id: NamespaceID, version: UInt64
  ) throws(LarderError) -> EntryFields? {
    guard let record = fields[.transformedMetadata] else {
      return requiresMetadataTransforms && !fields.metadataFields.isEmpty ? nil : fields
    }
    guard record.count > 4, case let count = Int(record.span.halfWord(at: 0)),
      count <= record.count - 4,
      let steps = TransformSteps(record.span.extracting(4..<4 + count)),
      case let context = self.context(.metadata, key: key, id: id, version: version),
      let bytes = try revert(steps, Array(record[(4 + count)...]), context),
      let found = EntryFields(bytes.span), hasRequired(steps, where: \.coversMetadata)
    else { return nil }
    var plain = fields
    plain[.transformedMetadata] = nil
    plain.metadataFields = found
    return plain
  }

  private var requiresMetadataTransforms: Bool {
    requiresTransforms && transforms.contains { $0.isRequired && $0.coversMetadata }
  }

  private func revert(
    _ steps: TransformSteps, _ bytes: [UInt8], _ context: TransformContext
  ) throws(LarderError) -> [UInt8]? {
    var context = context
    var current = bytes
    for (index, step) in steps.all.enumerated().reversed() {
      guard let transform = transforms.first(where: { $0.id == step.id }) else {
        throw LarderError(
          .unreadable, "the value of \(Key(context.key)) is \(step.id.name)",
          hint: step.id.remedy)
      }
      context.previous = steps.encoded(index)
      do {
        current = try transform.revert(
          current.span, step.parameters.span, size: step.size, for: context)
      } catch let error as LarderError where error.code == .unreadable {
        throw error
      } catch {
        return nil
      }
      if current.count != step.size { return nil }
    }
    return current
  }
}

// The entries in which transforms keep their own data.

extension StoreEngine {
  /// A value of the namespace ``TransformStorage/namespace``; nil if the key has none.
  func transformValue(for key: String) throws -> [UInt8]? {
    try key.withKeyBytes { key in
      let handle = handle(for: TransformStorage.namespace)
      let transaction = try beginRead()
      let id = try identify(handle, in: transaction)
      let found = try lookUp(
        key, in: id, keyHash: Checksum.keyHash(of: key, in: id), at: coarseNow, transaction)
      guard found.outcome == .fresh else { return nil }
      var value: [UInt8]?
      _ = try withValue(of: found, key: key, in: transaction) { value = $0.copied }
      return value
    }
  }

  func isTransformNamespace(_ id: NamespaceID) throws(LarderError) -> Bool {
    try identify(handle(for: TransformStorage.namespace), in: beginRead()) == id
  }
}

extension EntryAttributes {
  /// Metadata, entity tag and modification date as fields.
  var metadataFields: EntryFields {
    var fields = EntryFields()
    if let entityTag { fields[.entityTag] = entityTag }
    if let lastModified { fields[.lastModified] = lastModified }
    if let metadata { fields[.metadata] = metadata }
    return fields
  }
}
