import TestSupport
import Testing

@testable import Larder

/// Loaded values that wait for their commit beside other processes.
extension LoadCommitTests {
  @Test(.timeLimit(.minutes(20)))
  func `a child that was forked while a loaded value waited fails at once`() throws {
    let peer = try PeerProcess("fork-while-loading", directory.path + "/store", saying: "ended 0")
    #expect(Set([peer.line(), peer.line()]) == ["parent done", "closed"])
  }

  @Test(.timeLimit(.minutes(20)))
  func `no child waits for a lock that a thread of the parent holds`() throws {
    let peer = try PeerProcess("fork-beside-threads", directory.path + "/store", ["100"])
    #expect(peer.line() == "failures [:]")
  }

  @Test func `a value is returned while another process holds the lock`() async throws {
    let store = try Store.temporary()
    let boards = store.cache(TextCodec(), in: "boards")
    try await boards.set("known", for: "bern")
    let other = try PeerProcess("hold-write", store.path, saying: "writing")
    let first = try await origin.ask(boards, LoadOptions())
    #expect(first.value == "load 1" && !first.isCommitted && first.error == nil)
    #expect(try boards.value(for: "bern") == "known")
    try other.endInput()
    #expect(other.line() == "done")
    try await boards.settle()
    #expect(try boards.contains("thun"))
  }
}
