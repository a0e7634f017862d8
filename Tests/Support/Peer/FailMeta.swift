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
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(name),
        let info = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(name)")
      else { continue }
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(name)")
      let flags = String(decoding: info, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("flags")
      }
      let mode =
        flags?.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0, radix: 8) } ?? 0
      if target?.hasSuffix("data.mdb") == true, mode & O_DSYNC != 0 { return number }
    }
    throw LMDBError(code: ENOENT)
  }
}
