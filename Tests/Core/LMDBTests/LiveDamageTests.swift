import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

/// Damage to the meta pages while the store is open.
@Suite struct LiveDamageTests {
  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  /// Changes the number of the last page in both meta pages.
  private func setLastPage(_ number: UInt64) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.store + "/data.mdb"))
    let bytes = Data((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    for page in 0..<2 {
      try file.seek(toOffset: UInt64(page * 4096 + 136))
      try file.write(contentsOf: bytes)
    }
    try file.close()
  }

  @Test(arguments: [1 << 34, 1 << 40, 1 << 62, 1 << 63])
  func `a last page that no file has is damage, not a map to wait for`(number: UInt64) throws {
    let options = Fixture.options(mapSize: 1 << 20, lockTimeout: .milliseconds(200))
    let environment = try Fixture.open(directory.store, options)
    try environment.set([1], [2])
    #expect(try environment.value([1]) == [2])
    try setLastPage(number)
    #expect(failure { _ = try environment.value([1]) } == .damagedPage)
    #expect(failure { try environment.set([1], [3]) } == .damagedPage)
    #expect(failure { _ = try environment.value([1]) } == .damagedPage)
  }

  @Test(arguments: [1 << 62, 1 << 63, UInt64(Int64.max), UInt64.max])
  func `a write under way does not calculate with such a number`(number: UInt64) throws {
    let environment = try Fixture.open(directory.store)
    try environment.set([1], [2])
    let error = failure {
      try environment.write { transaction in
        try setLastPage(number)
        #expect(try transaction.pagesBehindLast(limit: 1 << 30) == 0)
        _ = try transaction.hasRun(of: 3, limit: 1 << 30)
      }
    }
    #expect(error != nil)
  }
}
