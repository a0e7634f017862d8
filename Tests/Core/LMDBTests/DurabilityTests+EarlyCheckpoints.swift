import LarderPeer
import Testing

@testable import LMDB

/// LMDB does not reuse pages that were freed since the last checkpoint, so after many freed pages the next checkpoint is early.
extension `Durability levels` {
  @Test func `checkpointed: a file that grows fast gets its checkpoint early`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    let file = try RecoveryFile(opening: directory.store + "/recovery")
    for number in 0..<40 {
      try environment.set([UInt8(number)], Fixture.filling(number, count: 1 << 20))
    }
    #expect(try eventually { try (file.read()?.recoveryPoint?.transaction ?? 0) > 10 })
    environment.close()
  }

  @Test func `checkpointed: freed pages get an early checkpoint without file growth`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    let file = try RecoveryFile(opening: directory.store + "/recovery")
    try environment.set([1], Fixture.filling(1, count: 60 << 20))
    try environment.set([1], [1])
    for number in 2..<4 {
      try environment.sync()
      try environment.set([5], [UInt8(number)])
    }
    let (first, pages) = (environment.lastTransaction, environment.handle.data.pages)
    for number in 0..<20 { try environment.set([5], Fixture.filling(number, count: 1 << 20)) }
    #expect(try eventually { try (file.read()?.recoveryPoint?.transaction ?? 0) > first })
    #expect(environment.handle.data.pages == pages)
  }

  @Test func `freed pages are counted over commits after which known pages are forgotten`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    try environment.set([5], Fixture.filling(0, count: 40_000))
    let before = environment.writeGuard.freedPageCount
    let commits = 2 * WriteGuard.rememberedWrites
    for number in 0..<commits { try environment.set([5], Fixture.filling(number, count: 40_000)) }
    // Each commit frees 10 value pages and a leaf. The next write counts these pages, so the last commit is not counted.
    let freed = environment.writeGuard.freedPageCount - before
    #expect(freed >= 11 * (commits - 1) && freed <= 14 * commits)
  }
}
