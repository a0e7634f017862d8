/// `bytes` are stored instead of the value; nil if no transform changed the value.
typealias TransformedValue = (bytes: [UInt8]?, steps: TransformSteps?, metadata: [UInt8]?)

/// The transforms of a store, in their order. A write applies the transforms, and a read reverts them.
struct TransformPipeline: Sendable {
  let transforms: [any ValueTransform]
  var isEmpty: Bool { transforms.isEmpty }
  let hasRequired: Bool
  let requiresMetadata: Bool

  init(_ transforms: [any ValueTransform]) {
    self.transforms = transforms
    hasRequired = transforms.contains(where: \.isRequired)
    requiresMetadata = transforms.contains { $0.isRequired && $0.coversMetadata }
  }

  func apply(
    to value: Span<UInt8>, _ attributes: EntryAttributes, of entry: TransformContext
  ) throws(LarderError) -> TransformedValue {
    // A negative entry has no value, so no transform has anything to change.
    let changed = try attributes.isNegative ? nil : apply(transforms, to: value, entry)
    return try (changed?.bytes, changed?.steps, metadata(attributes.metadataFields, of: entry))
  }

  /// Whether an entry may be read: all required transforms changed the entry, or the entry is negative and has no value.
  func accepts(_ header: EntryHeader, _ record: Span<UInt8>) -> Bool {
    let isEmpty = header.flags.contains(.negative) && header.payloadStart == record.count
    if !hasRequired || isEmpty { return true }
    let range = header.flags.contains(.transformed) ? header.field(.transforms, in: record) : nil
    return isComplete(range.flatMap { TransformSteps(record.extracting($0)) })
  }

  /// Whether the steps include every required transform for which `concerns` is true.
  func isComplete(
    _ steps: TransformSteps?, where concerns: (any ValueTransform) -> Bool = { _ in true }
  ) -> Bool {
    transforms.allSatisfy { transform in
      !transform.isRequired || !concerns(transform)
        || steps?.all.contains { $0.id == transform.id } == true
    }
  }

  /// The bytes after all transforms, and the steps of the transforms that changed the bytes; nil if none changed the bytes.
  func apply(
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
        steps.all.append(.init(id: transform.id, size: size, parameters: result.parameters))
        current = result.bytes
      }
    } catch let error as LarderError { throw error } catch {
      throw LarderError(
        .unencodable, "the value of \(Key(context.key)) cannot be transformed: \(error)",
        hint: "check the transforms of the store and their keys")
    }
    return current.map { ($0, steps) }
  }

  /// The bytes as they were written; nil if the bytes or the steps are damaged. Throws ``LarderError/Code/unreadable`` for a
  /// missing transform.
  func revert(
    _ steps: TransformSteps?, _ bytes: [UInt8], _ context: TransformContext
  ) throws(LarderError) -> [UInt8]? {
    guard let steps else { return nil }
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
      } catch let error as LarderError where error.code == .unreadable { throw error } catch {
        return nil
      }
      if current.count != step.size { return nil }
    }
    return current
  }
}
