import CLarderSystem
import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite struct Words {
  let directory = TemporaryDirectory()
  let environment: Environment
  init() throws { environment = try Fixture.open(directory.store) }
  private var file: String { directory.store + "/access" }
  private func contents() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }

  private func opened(_ count: Int = 64) -> SharedTable {
    let words = SharedWords.of(environment)
    #expect(words.open(making: count))
    return words
  }

  @Test func `a new file is private, has all its blocks, and is zero`() throws {
    let words = SharedWords.of(environment)
    #expect(words.count == 0 && !words.isWritable)
    #expect(words.open(making: 4096))
    #expect(words.isWritable && words.values == Array(repeating: 0, count: 4096))
    for index in 0..<SharedTable.View.noteCount { #expect(words.view.note(index) == 0) }
    let status = try #require(FileStatus.of(file))
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(status.st_size == 128 + 4 * 4096 && status.st_blocks * 512 >= status.st_size)
  }

  @Test func `words, wide words and notes are kept, each in its own place`() throws {
    do {
      let words = opened()
      let view = words.view
      for index in 0..<64 { view[index] = UInt32(index) + 1 }
      view.store(.max, wide: 3)
      view.release(5, to: 4)
      #expect(view.exchange(5, for: 6, at: 4) && !view.exchange(5, for: 7, at: 4))
      for index in 0..<8 { view.setNote(index, UInt64(index) + 100) }
    }
    let again = SharedWords.of(environment)
    #expect(again.open(making: 128) && again.count == 64)
    let kept = (0..<64).map { UInt32($0) + 1 }
    let expected = kept[..<6] + [.max, .max, 6, 0] + kept[10...]
    #expect(again.values == Array(expected))
    #expect(again.view.acquire(4) == 6)
    for index in 0..<8 { #expect(again.view.note(index) == UInt64(index) + 100) }
  }

  @Test func `what is mapped by two at once is the same memory`() throws {
    let (first, second) = (opened(), SharedWords.of(environment))
    #expect(second.openForReading())
    first.set(9, 9)
    #expect(second.value(9) == 9 && !second.isWritable)
    #expect(second.open(making: 64) && second.isWritable)
    second.set(8, 8)
    #expect(first.value(8) == 8)
  }

  @Test func `reading alone makes no file and changes none`() throws {
    let words = SharedWords.of(environment)
    #expect(!words.openForReading() && words.count == 0)
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(!words.replace(count: 64) { _, _ in })
    try Data(repeating: 3, count: 400).write(to: URL(fileURLWithPath: file))
    let before = try TemporaryDirectory.listing(directory.store)
    #expect(!words.openForReading() && words.count == 0)
    #expect(try TemporaryDirectory.listing(directory.store) == before)
  }

  @Test(arguments: [
    "nothing", "empty", "short", "half", "long", "random", "other store", "other layout",
    "other count", "link", "two names", "directory", "open to others", "hole",
  ]) func `what cannot be used is replaced by a new one`(_ kind: String) throws {
    let made = opened(128)
    made.set(5, 5)
    let original = try contents()
    let manager = FileManager.default
    func put(_ data: Data) throws { try makePrivateFile(file, data) }
    var isKept = false
    switch kind {
    case "nothing": try manager.removeItem(atPath: file)
    case "empty": try put(Data())
    case "short": try put(original.prefix(100))
    case "half": try put(original.prefix(128 + 4 * 70))
    case "long": try put(original + Data(count: 4))
    case "random":
      var random = SeededRNG(seed: UInt64(seed))
      try put(Data(random.bytes(original.count)))
    case "other store":
      #expect(SharedWords.of(environment, store: Array(repeating: 1, count: 16)).open(making: 128))
    case "other layout": #expect(SharedWords.of(environment, layout: 2).open(making: 128))
    case "other count": try put(original.prefix(128 + 4 * 126))
    case "link":
      try original.write(to: URL(fileURLWithPath: directory.path + "/elsewhere"))
      try manager.removeItem(atPath: file)
      try manager.createSymbolicLink(
        atPath: file, withDestinationPath: directory.path + "/elsewhere")
    case "two names": try manager.linkItem(atPath: file, toPath: directory.path + "/elsewhere")
    case "directory":
      try manager.removeItem(atPath: file)
      try manager.createDirectory(atPath: file, withIntermediateDirectories: false)
    case "open to others": try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    case "hole":
      isKept = true
      try put(original.prefix(128))
      try FileDescriptor(opening: file, O_RDWR).truncate(original.count)
    default: Issue.record("\(kind)")
    }
    let words = SharedWords.of(environment)
    #expect(words.openForReading() == isKept)
    if kind == "directory" {
      // `SharedWords` cannot replace a directory by a file, so the store has no shared words, and must work without them.
      #expect(!words.open(making: 128) && words.count == 0)
      return
    }
    #expect(words.open(making: 128))
    #expect(words.values == Array(repeating: 0, count: 128))
    #expect(try contents().count == original.count)
    let status = try #require(FileStatus.of(file))
    #expect(status.st_mode & 0o777 == 0o600 && status.st_nlink == 1)
    #expect(status.st_blocks * 512 >= status.st_size)
    #expect(!manager.fileExists(atPath: file + ".new"))
    if kind == "link" || kind == "two names" {
      #expect(manager.contents(atPath: directory.path + "/elsewhere") == original)
    }
  }

  @Test func `a file left by a killed maker is no obstacle`() throws {
    try Data(count: 10).write(to: URL(fileURLWithPath: file + ".new"))
    #expect(SharedWords.of(environment).open(making: 64))
    #expect(!FileManager.default.fileExists(atPath: file + ".new"))
  }

  @Test func `a process waits for another one whose disk is slow to make the file`() throws {
    let peer = try PeerProcess("words", directory.store, saying: "open")
    let made = SharedWords.of(environment).open(making: 64) { _ in
      do { try peer.tell("open 64") } catch { Issue.record(error) }
      usleep(300_000)
    }
    #expect(made && peer.line() == "true 64")
  }

  @Test func `whoever maps a file that was replaced goes on with the new one`() throws {
    let (first, second, reader) = (opened(), opened(), SharedWords.of(environment))
    #expect(reader.openForReading())
    first.set(1, 10)
    let done = first.replace(count: 128) { old, new in
      for index in 0..<64 { new[2 * index] = old[index] }
      new.setNote(0, 3)
    }
    #expect(done && first.count == 128 && first.value(2) == 10)
    #expect(second.count == 128 && second.isWritable && second.view.note(0) == 3)
    #expect(reader.count == 128 && !reader.isWritable)
    second.set(7, 7)
    #expect(first.value(7) == 7 && reader.value(7) == 7)
    #expect(second.replace(count: 64) { _, _ in } && first.count == 64)
  }

  @Test func `a replacement by another build's layout ends the use without a contest`() throws {
    let (mine, other) = (opened(), SharedWords.of(environment, layout: 2))
    #expect(other.open(making: 64))
    other.set(1, 5)
    // `mine` still uses the replaced file, so its writes reach no other process.
    mine.set(1, 6)
    #expect(mine.value(1) == 6 && other.value(1) == 5)
    #expect(!mine.replace(count: 128) { _, _ in } && mine.value(1) == 6)
  }

  @Test func `files of another store in the directory are neither replaced nor removed`() throws {
    let words = opened()
    words.set(1, 5)
    try FileManager.default.moveItem(atPath: directory.store, toPath: directory.path + "/former")
    let other = try Fixture.open(directory.store)
    let theirs = SharedWords.of(other, store: Array(repeating: 1, count: 16))
    #expect(theirs.open(making: 64))
    #expect(!words.open(making: 64) && words.failure == .replaced)
    words.remove()
    #expect(theirs.isInPlace && words.value(1) == 5)
    other.close()
  }

  @Test func `after closing nothing can be stored, and what was read can still be read`() throws {
    let words = opened()
    words.set(1, 1)
    environment.close()
    #expect(words.value(1) == 1 && !words.isWritable)
  }

  @Test func `a store without data but with these files counts as empty`() throws {
    #expect(SharedWords.of(environment).open(making: 64))
    environment.close()
    try FileManager.default.removeItem(atPath: directory.store + "/data.mdb")
    #expect(try Fixture.open(directory.store).value(Fixture.signature) == [1])
  }

  @Test func `two processes share the words and follow each other's replacements`() throws {
    let words = SharedWords.of(environment)
    let peer = try PeerProcess("words", directory.store, saying: "open")
    #expect(try [peer.ask("read"), peer.ask("open 64")] == ["false 0", "true 64"])
    #expect(words.open(making: 128) && words.count == 64)
    words.set(3, 33)
    #expect(try [peer.ask("get 3"), peer.ask("set 4 44")] == ["33", "set"])
    #expect(words.value(4) == 44)
    #expect(try peer.ask("replace 192") == "true 192")
    #expect(words.count == 192 && words.value(3) == 34 && words.value(4) == 45)
    #expect(words.replace(count: 64) { _, new in new[0] = 1 })
    #expect(try peer.ask("get 0") == "1")
    #expect(try peer.end() == 0)
  }

  @Test func `a forked child may not store`() throws {
    let peer = try PeerProcess("words", directory.store)
    try peer.tell("open 64")
    try peer.tell("fork")
    try peer.endInput()
    #expect(peer.lines() == ["open", "true 64", "child false true", "parent true"])
  }

  @Test func `exchanges of several processes are not lost`() throws {
    let words = opened()
    let peers = try (0..<2).map { _ in try PeerProcess("words", directory.store, saying: "open") }
    for peer in peers { #expect(try peer.ask("open 64") == "true 64") }
    for peer in peers { try peer.tell("count 20000") }
    for peer in peers { #expect(peer.line() == "counted") }
    #expect(words.view.wide(3) == 40_000)
  }

  @Test func `readers in threads follow many replacements and never see a torn file`() throws {
    let (words, other) = (opened(), opened())
    let rounds = 60
    try inThreads(3) { thread in
      if thread == 0 {
        for round in 1...rounds {
          let done = words.replace(count: 64 * (1 + round % 5)) { _, new in
            for index in 0..<new.count { new[index] = UInt32(round) }
          }
          #expect(done)
        }
      } else {
        var latest: UInt32 = 0
        while latest < rounds {
          let view = other.view
          let first = view[0]
          #expect(view[view.count - 1] == first && first >= latest)
          latest = first
        }
      }
    }
  }

  @Test(.enabled(if: canMount, "no right to mount a small file system"))
  func `on a full disk the store goes on without the file, or with the one it has`() throws {
    let script = "mount -t tmpfs -o size=3m none \(directory.path)"
    let peer = try PeerProcess(
      "words", directory.path + "/full", under: ["unshare", "-m"] + inShell(script), saying: "open")
    for (question, answer) in [
      ("open 1048576", "false 0"), ("open 64", "true 64"), ("set 1 7", "set"),
      ("replace 1048576", "false 64"), ("get 1", "7"), ("files", "true false"), ("store", "done"),
    ] { #expect(try peer.ask(question) == answer) }
    #expect(try peer.end() == 0)
  }
}
