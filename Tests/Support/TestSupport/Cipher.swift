package import Larder

/// Simulates the encryption of an application. A program without this transform cannot read the values.
package struct Cipher: ValueTransform {
  package let id = TransformID.aesGCM
  package let isRequired: Bool
  package let coversMetadata: Bool

  package init(isRequired: Bool = false, coversMetadata: Bool = false) {
    (self.isRequired, self.coversMetadata) = (isRequired, coversMetadata)
  }

  package func apply(_ bytes: Span<UInt8>, for context: TransformContext) -> (
    bytes: [UInt8], parameters: [UInt8]
  )? { (flipped(bytes), [1, 2, 3]) }

  package func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) -> [UInt8] { flipped(bytes) }

  private func flipped(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] ^ 0x55 } }
}
