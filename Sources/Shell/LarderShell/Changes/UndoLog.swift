import Larder
import ShellLanguage

/// For `undo`: the former entries under the keys that the last changing command at the prompt has changed.
final class UndoLog {
  static let most = 64_000_000
  /// The memory in bytes that an item needs besides its key and value.
  private static let entrySize = 400

  /// Whether the log cannot hold the former entries. The log holds their values only if the change loses the values.
  static func isTooLarge(_ tally: Tally, losesValues: Bool = true) -> Bool {
    tally.entries * entrySize + (losesValues ? tally.bytes : 0) > most
  }

  struct Item {
    let namespace: Store.Namespace
    let key: Key
    let before: (entry: Store.Entry, value: [UInt8]?)?
    var after: Store.Entry?

    /// The bytes that the entry has in a batch that restores the entry.
    var size: Int { before.map { max($0.value?.count ?? 0, $0.entry.storedSize) } ?? 0 }

    func isStill(_ present: Store.Entry?) -> Bool {
      (present?.version, present?.expires, present?.isPinned)
        == (after?.version, after?.expires, after?.isPinned)
    }
  }

  /// Whether the running command is one that `undo` can revert.
  private(set) var isRecording = false
  /// The command to which `items` belong. Without items: the command that cleared the log, or an empty text.
  private(set) var command = ""
  var items: [Item] = []
  /// The number of entries whose former values could not be read, so that `undo` cannot restore these entries.
  var lost = 0
  var isTooLarge: Bool { size > Self.most }
  /// The running command, until the command has an item.
  private var running = ""
  /// Whether the running command has made a change without an item.
  var hasChanged = false
  private var size = 0
  /// The items of the batch that runs now. `commit` adds the items to `items`.
  private var pending: [Item] = []
  /// Whether that batch makes a change without an item.
  private var isPending = false
  /// The position in `items` of the item of each entry.
  private var places: [EntryID: Int] = [:]
  private var values: [EntryID: (version: UInt64, value: [UInt8])] = [:]

  /// Begins a command. The items of the previous command stay until this command changes the store.
  func begin(_ command: String, isRecorded: Bool = true) {
    (isRecording, running) = (isRecorded, command)
  }

  /// Ends a command. If the command changed the store without an item, `undo` must not revert an older command instead.
  func end() {
    if hasChanged, !running.isEmpty {
      forget()
      command = running
    }
    (isRecording, running, hasChanged, values) = (false, "", false, [:])
  }

  func forget() { (items, places, command, lost, size) = ([], [:], "", 0, 0) }

  /// Reads the values that the next batch replaces.
  func read(_ keys: some Sequence<(Store.Namespace, Key)>) throws {
    guard isRecording, !isTooLarge || !running.isEmpty else { return }
    values = [:]
    for (namespace, key) in keys {
      do {
        _ = try namespace.withEntry(for: key) { entry, value in
          values[EntryID(entry)] = (entry.version, value.bytes)
        }
      } catch let error as LarderError where error.code == .unreadable {
        // The command can remove an entry whose value cannot be read. If so, `undo` reports the entry as lost.
        continue
      }
    }
  }

  func keep(_ present: Store.Entry?, under key: Key, in namespace: Store.Namespace) {
    isPending = !isRecording
    guard isRecording else { return }
    let known = values[EntryID(namespace.name, key.bytes)]
    let value = known.flatMap { $0.version == present?.version ? $0.value : nil }
    pending.append(
      Item(namespace: namespace, key: key, before: present.map { (entry: $0, value: value) }))
  }

  /// Runs `body`, which calls `keep` for each changed entry. A batch may run twice, so the items of the previous run are dropped.
  func recording<Result>(
    _ batch: inout WriteBatch, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    (pending, isPending) = ([], false)
    let result = try body(&batch)
    for index in pending.indices {
      pending[index].after = try batch.entry(for: pending[index].key, in: pending[index].namespace)
    }
    return result
  }

  func commit() {
    if isPending { hasChanged = true }
    add(pending)
    pending = []
  }

  func add(_ added: [Item]) {
    let added = added.filter { !$0.isStill($0.before?.entry) }
    guard isRecording, !added.isEmpty else { return }
    if !running.isEmpty {
      forget()
      (command, running) = (running, "")
    }
    for item in added where !isTooLarge {
      let id = EntryID(item.namespace.name, item.key.bytes)
      // An import may have a key twice. `undo` restores the content before the import.
      if let place = places[id] {
        items[place].after = item.after
        continue
      }
      if let before = item.before, before.value == nil,
        item.after?.version != before.entry.version || item.after?.state == .expired
      {
        lost += 1
        continue
      }
      size += Self.entrySize + item.key.bytes.count + (item.before?.value?.count ?? 0)
      places[id] = items.count
      items.append(item)
    }
    if isTooLarge { (items, places) = ([], [:]) }
  }
}

extension Array {
  /// The elements in parts that a batch of the store takes: up to 500 elements and 48 MB, or one element.
  func batches(_ size: (Element) -> Int) -> [ArraySlice<Element>] {
    var batches: [ArraySlice<Element>] = []
    var bytes = 0
    for (index, element) in enumerated() {
      bytes += size(element)
      if let last = batches.last, last.count < 500, bytes <= 48_000_000 {
        batches[batches.count - 1] = self[last.startIndex...index]
      } else {
        batches.append(self[index...index])
        bytes = size(element)
      }
    }
    return batches
  }
}
