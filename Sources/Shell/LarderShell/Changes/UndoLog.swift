import Larder
import LarderSystem
import ShellLanguage

/// The entries that the last changing command at the prompt has replaced, so that `undo` can take it back.
final class UndoLog {
  /// The bytes that are kept of one command.
  static let most = 64_000_000
  /// The cost of an entry beside its key and value.
  private static let entrySize = 400

  struct Item {
    let namespace: Store.Namespace
    let key: Key
    /// The entry before the command, and its value; nil without an entry.
    let before: (entry: Store.Entry, value: [UInt8]?)?
    /// The entry behind the command.
    var after: Store.Entry?

    /// Whether the entry has not changed since.
    func isStill(_ present: Store.Entry?) -> Bool {
      (present?.version, present?.expires, present?.isPinned)
        == (after?.version, after?.expires, after?.isPinned)
    }
  }

  /// A command that can be taken back runs.
  private(set) var isRecording = false
  /// The command that the items are of.
  private(set) var command = ""
  private(set) var items: [Item] = []
  /// Entries whose values could not be read before they were replaced.
  private(set) var lost = 0
  private(set) var isTooLarge = false
  private var running = ""
  private var size = 0
  /// The items of the batch under way, which can be made twice.
  private var pending: [Item] = []
  private var values: [EntryName: (version: UInt64, value: [UInt8])] = [:]

  private struct EntryName: Hashable {
    let namespace: ExactString
    let key: Key
  }

  /// The items of the last command stay until the next one has changed something.
  func begin(_ command: String) {
    (isRecording, running) = (true, command)
  }

  func end() {
    isRecording = false
    values = [:]
  }

  func forget() {
    (items, command, lost, size, isTooLarge) = ([], "", 0, 0, false)
  }

  /// Reads values that the next batch replaces.
  func read(_ keys: some Sequence<(Store.Namespace, Key)>) throws {
    guard isRecording, !isTooLarge else { return }
    values = [:]
    for (namespace, key) in keys {
      do {
        _ = try namespace.lookUp(key.bytes) { entry, value in
          values[EntryName(namespace: ExactString(namespace.name), key: key)] = (
            entry.version, value.bytes
          )
        }
      } catch let error as LarderError where error.code == .unreadable {
        // The entry can be removed without being read, and is counted as lost.
        continue
      }
    }
  }

  func beginBatch() { pending = [] }

  /// Keeps the entry under a key as it is before a change of this batch.
  func keep(_ present: Store.Entry?, under key: Key, in namespace: Store.Namespace) {
    guard isRecording else { return }
    let known = values[EntryName(namespace: ExactString(namespace.name), key: key)]
    let value = known.flatMap { $0.version == present?.version ? $0.value : nil }
    pending.append(
      Item(namespace: namespace, key: key, before: present.map { (entry: $0, value: value) }))
  }

  /// Notes the entries as the batch leaves them.
  func endBatch(_ batch: inout WriteBatch) throws {
    for index in pending.indices {
      pending[index].after = try batch.entry(for: pending[index].key, in: pending[index].namespace)
    }
  }

  /// The batch is committed.
  func commit() {
    add(pending)
    pending = []
  }

  func add(_ added: [Item]) {
    guard isRecording, !added.isEmpty else { return }
    if !running.isEmpty {
      forget()
      (command, running) = (running, "")
    }
    for item in added where !isTooLarge {
      if let before = item.before, before.value == nil, item.after?.version != before.entry.version
      {
        lost += 1
        continue
      }
      size += Self.entrySize + item.key.bytes.count + (item.before?.value?.count ?? 0)
      items.append(item)
    }
    guard size > Self.most else { return }
    (items, isTooLarge) = ([], true)
  }
}
