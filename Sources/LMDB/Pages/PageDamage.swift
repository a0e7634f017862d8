package import LarderSystem

/// A page of the data file that is not what it must be, and why.
package struct PageDamage: Error, Hashable, Sendable, CustomStringConvertible {
  package let page: UInt64
  package let reason: String

  package var description: String { "page \(page): \(reason)" }
}

extension LMDBError {
  /// A page of the data file is not what it must be; nothing was read from it or written over it.
  package static let damagedPage = LMDBError(code: -31_010)
}
