import Foundation
import LMDB

extension Peer {
  /// Writes while the process can get no more address space. After the end of this limit, writes again.
  func growWithoutRoom() throws {
    let environment = try Fixture.open(store, Fixture.options(mapSize: 1 << 20))
    var stored = 0
    let write = {
      try environment.store([stored])
      stored += 1
    }
    for _ in 0..<4 { try write() }
    let used = try Shortage.addressSpace
    if used > 1 << 40 { return Peer.say("sanitized") }
    let original = try Shortage.limit(RLIMIT_AS, to: rlim_t(used + 1 << 20))
    let end = Peer.outcome { while stored < 1000 { try write() } }
    Peer.say("\(end) \(stored > 8) \(environment.info.mapSize)")
    Peer.say("\(try environment.isWhole([3]))")
    try Shortage.limit(RLIMIT_AS, to: original)
    for _ in 0..<20 { try write() }
    Peer.say("\(environment.info.mapSize > 1 << 20)")
  }

  /// Writes while the process can map less memory than the file limit allows.
  func limitWithoutRoom() throws {
    let environment = try Fixture.open(store, Fixture.options(mapSize: 1 << 20))
    let used = try Shortage.addressSpace
    if used > 1 << 40 { return Peer.say("sanitized") }
    // For the first allocation of each thread, glibc reserves up to 128 MB of addresses, so the limit leaves 160 MB.
    try Shortage.limit(RLIMIT_AS, to: rlim_t(used + 160 << 20))
    environment.setFileLimit(1 << 40)
    try environment.store(0..<100)
    Peer.say("\(environment.info.mapSize > 100 * 65_536)")
    environment.setFileLimit(8 << 20)
    let end = Peer.outcome { try environment.store(100..<200) }
    Peer.say("\(end) \(environment.info.mapSize)")
  }
}
