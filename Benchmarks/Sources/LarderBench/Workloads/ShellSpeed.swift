import Foundation
import Larder

/// The processor time and the memory of single commands of the program `larder` in a large store. Each command is a process.
struct ShellSpeed {
  /// The resources that a command used.
  struct Use {
    /// The processor time in nanoseconds.
    let time: Double
    /// The most bytes of its own memory that the process used. 0 if the system does not report this.
    let memory: Double
  }

  private let program: String
  private let directory: String
  private var store: String { directory + "/store" }

  /// Makes the store: values of 200 bytes that never expire, a few with a tag, a few that expire soon, and a few expired ones.
  init(program: String, count: Int, few: Int, in directory: String) throws {
    self.program = program
    self.directory = directory
    var options = Store.Options()
    options.create = true
    let store = try Store(at: directory + "/store", options: options)
    try store.override(.unlimited)
    let namespace = store.namespace("large")
    let now = Timestamp(Date())
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write { batch in
        for number in start..<min(start + 10_000, count) {
          let text = String(format: "%09d", number)
          let value = Array("{\"n\":\(number),\"text\":\"".utf8)
          let filling = [UInt8](repeating: 0x61 + UInt8(number % 26), count: 198 - value.count)
          var attributes = EntryAttributes(codec: .json)
          if number % (count / few) == 0 { attributes.tags = ["few"] }
          if number % (count / few) == 1 { attributes.expires = .after(.minutes(30)) }
          if number % (count / few) == 2 {
            attributes.expires = .at(now.advanced(by: .minutes(-1)))
          }
          try batch.set(
            value + filling + Array("\"}".utf8), for: "entry:" + text, in: namespace, attributes)
        }
      }
    }
    try store.close()
  }

  /// The median of `rounds` runs. An additional first run fills the page cache and does not count.
  func run(_ words: [String], rounds: Int) throws -> Use {
    try Self.run([program, store] + words, rounds: rounds)
  }

  /// The processor time in which the library reads the facts of each entry without its value.
  func headers() throws -> Double {
    let namespace = try Store(at: store).namespace("large")
    return try RunClock.processor.time {
      var next: PageCursor?
      repeat { next = try namespace.page(limit: 1000, after: next).next } while next != nil
    }
  }

  /// The time and memory of a C program that opens the store with LMDB and reads one key; nil if there is no compiler.
  func readInC(rounds: Int) throws -> Use? {
    guard let compiler = Programs.path(of: "cc") else { return nil }
    let (source, program) = (directory + "/get.c", directory + "/get")
    try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
    guard try Self.spawn([compiler, "-O2", source, "-o", program, "-llmdb"]).status == 0 else {
      return nil
    }
    return try Self.run([program, store], rounds: rounds)
  }

  /// The time and memory of an empty Swift program that links Foundation, as the shell does; nil if there is no compiler.
  func emptySwift(rounds: Int) throws -> Use? {
    guard let compiler = Programs.path(of: "swiftc") else { return nil }
    let (source, program) = (directory + "/empty.swift", directory + "/empty")
    try "import Foundation\nexit(getenv(\"NOTHING\") == nil ? 0 : 1)\n"
      .write(toFile: source, atomically: true, encoding: .utf8)
    guard try Self.spawn([compiler, "-O", source, "-o", program]).status == 0 else { return nil }
    return try Self.run([program], rounds: rounds)
  }

  private static let source = """
    #include <lmdb.h>
    #include <stdio.h>
    #include <string.h>
    int main(int argc, char **argv) {
      MDB_env *env; MDB_txn *txn; MDB_dbi dbi; MDB_cursor *cursor; MDB_val key, data;
      if (mdb_env_create(&env) || mdb_env_set_maxdbs(env, 16)) return 1;
      if (mdb_env_open(env, argv[1], MDB_RDONLY, 0600)) return 2;
      if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) || mdb_dbi_open(txn, NULL, 0, &dbi)) return 3;
      if (mdb_cursor_open(txn, dbi, &cursor) || mdb_cursor_get(cursor, &key, &data, MDB_LAST)) return 4;
      fwrite(key.mv_data, 1, key.mv_size, stdout);
      return 0;
    }
    """

  // MARK: Processes

  private static func run(_ words: [String], rounds: Int) throws -> Use {
    var uses: [Use] = []
    for round in 0...rounds {
      let (status, use) = try spawn(words)
      guard status == 0 else {
        throw Failure("\(words.joined(separator: " ")) ended with \(status)")
      }
      if round > 0 { uses.append(use) }
    }
    return Use(
      time: Figure(uses.map(\.time)).median, memory: Figure(uses.map(\.memory)).median)
  }

  /// Runs a program and discards its output. Returns the exit status, and the resources that the program used.
  private static func spawn(_ words: [String]) throws -> (status: Int32, use: Use) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
    guard code == 0 else {
      throw Failure("cannot start \(words[0]): \(String(cString: strerror(code)))")
    }
    var status: Int32 = 0
    var usage = rusage()
    var memory = 0
    while wait4(process, &status, WNOHANG, &usage) == 0 {
      memory = max(memory, ProcessFigures.memory(of: process)?.own ?? 0)
      usleep(2000)
    }
    let seconds =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    return (
      status & 0x7F == 0 ? status >> 8 & 0xFF : status,
      Use(time: seconds * 1e9, memory: Double(memory))
    )
  }
}
