import LMDB
import Larder
import LarderSystem
import Synchronization

final class CountingCodec: Codec, Equatable {
  struct NoText: Error {}
  let id = CodecID(rawValue: 201)
  let isLossless: Bool
  private let count = Atomic(0)

  init(isLossless: Bool = false) { self.isLossless = isLossless }

  var decoded: Int { count.load(ordering: .relaxed) }

  func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  func decode(_ bytes: Span<UInt8>) throws -> String {
    count.add(1, ordering: .relaxed)
    guard let text = String(validating: bytes.copied, as: UTF8.self) else { throw NoText() }
    return text
  }

  static func == (left: CountingCodec, right: CountingCodec) -> Bool { left === right }
}
