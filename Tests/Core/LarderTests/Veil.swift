import LarderSystem

@testable import Larder

/// A transform that stores no parameters with the value. Each test chooses the functions `applied` and `reverted`.
struct PlainTransform: ValueTransform {
  let id: TransformID
  var applied: @Sendable ([UInt8]) throws -> [UInt8]? = { $0 }
  var reverted: @Sendable (_ bytes: [UInt8], _ size: Int) throws -> [UInt8] = { bytes, _ in bytes }

  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) throws -> (bytes: [UInt8], parameters: [UInt8])? {
    try applied(bytes.copied).map { (bytes: $0, parameters: []) }
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] { try reverted(bytes.copied, size) }
}

/// Encrypts bytes in a simple way, only for tests. The parameters are a checksum of the bytes and of the place of the entry.
struct Veil: ValueTransform {
  var id = TransformID(rawValue: 200)
  var number: UInt8 = 7
  var isRequired = false
  var coversMetadata: Bool { true }

  private func mark(_ bytes: [UInt8], _ context: TransformContext) -> [UInt8] {
    var all =
      bytes + context.store + context.key + context.previous + [context.part == .value ? 0 : 1]
    all.append(word: context.version)
    all.append(word: UInt64(context.namespace))
    var mark: [UInt8] = []
    mark.append(word: Checksum.of(all.span, seed: 99))
    return mark
  }

  func apply(_ bytes: Span<UInt8>, for context: TransformContext) -> (
    bytes: [UInt8], parameters: [UInt8]
  )? {
    let plain = bytes.copied
    return (plain.map { $0 ^ number }, mark(plain, context))
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] {
    let plain = bytes.copied.map { $0 ^ number }
    guard mark(plain, context) == parameters.copied else {
      throw LarderError(.damaged, "changed")
    }
    return plain
  }
}
