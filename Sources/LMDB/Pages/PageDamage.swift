package import LarderSystem

/// A damaged page of the data file, with the reason.
package struct PageDamage: Error, Hashable, Sendable, CustomStringConvertible {
  package let page: UInt64
  package let reason: String

  package var description: String { "page \(page): \(reason)" }
}

extension LMDBError {
  /// A page of the data file is damaged; nothing was read from it or written to it.
  package static let damagedPage = LMDBError(code: -31_010)
}
