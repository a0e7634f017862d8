import Foundation
import LMDB
import LarderSystem

extension Peer {
  /// Makes the write of the meta page fail as on a broken disk: replaces its descriptor by `/dev/full`.
  func failMetaWrite() throws {
    let environment = try Fixture.open(store)
    try environment.set([1], [1])
    let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    let descriptor = try Self.metaDescriptor()
    Peer.say("swapped \(dup2(full.fileDescriptor, descriptor) == descriptor)")
    Peer.say("write \(Peer.outcome { try environment.set([1], [2]) })")
    Peer.say("read \(Peer.outcome { _ = try environment.value([1]) })")
    Peer.say("write \(Peer.outcome { try environment.set([1], [3]) })")
    let anew = try Fixture.open(store)
    Peer.say("anew \(anew !== environment) \(try anew.value([1]) ?? [])")
    try anew.set([1], [4])
    Peer.say("after \(try anew.value([1]) ?? [])")
    Peer.say("old \(Peer.outcome { _ = try environment.value([1]) })")
  }

  /// The descriptor that LMDB opens for synchronous writes of meta pages.
  private static func metaDescriptor() throws -> Int32 {
    for descriptor in try dataDescriptors() {
      let info = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
      let flags = info.split(separator: "\n").first { $0.hasPrefix("flags") }
      let mode = flags?.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0, radix: 8) }
      if let mode, mode & O_DSYNC != 0 { return descriptor }
    }
    throw LMDBError(code: ENOENT)
  }
}
