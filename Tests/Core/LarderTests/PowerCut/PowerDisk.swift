import TestSupport

/// A disk at one point of a trace: the bytes that certainly are on the disk, and the changes that may be on the disk.
///
/// Assumptions: a successful sync has written everything, and the disk writes a sector of 512 bytes whole or not at all.
/// Unsynced changes may reach the disk in any order. LMDB's commits need whole sectors: a disk that writes units of 8 bytes may
/// write only a part of a meta page, and then commits may be lost.
struct PowerDisk {
  static let sector = 512

  enum Luck {
    case nothing, everything
    /// Each pending call reaches the disk with this chance, but only as a whole.
    case calls(Double)
    /// Each sector of the pending calls reaches the disk with this chance.
    case sectors(Double)
    /// The earliest pending calls reach the disk. The number is their share of all pending calls.
    case prefix(Double)
  }

  private struct Pending {
    enum Change {
      case write(offset: Int, bytes: ArraySlice<UInt8>, isSynced: Bool)
      case resize(Int)
      case create(String)
      case rename(String, String)
      case unlink(String)
      case makeDirectory
    }
    let number: Int
    let inode: UInt64
    let change: Change
  }

  private var files: [UInt64: [UInt8]] = [:]
  private var names: [String: UInt64] = [:]
  private var hasDirectory: Bool
  private var pending: [Pending] = []
  private var next = 0
  private var syncs: [UInt64: Int] = [:]
  private var loss: Loss

  /// Selects the writes that reach the disk although their sync fails.
  struct Loss {
    let arriving: Double
    private var random: SeededRNG

    init(arriving: Double, seed: UInt64) {
      self.arriving = arriving
      random = SeededRNG(seed: seed)
    }

    mutating func next() -> Bool { Double.random(in: 0..<1, using: &random) < arriving }
  }

  /// - Parameter initial: the files on the disk before the trace began, by name.
  init(
    initial: [String: (inode: UInt64, bytes: [UInt8])]? = nil,
    loss: Loss = Loss(arriving: 0, seed: 0)
  ) {
    self.loss = loss
    hasDirectory = initial != nil
    for (name, file) in initial ?? [:] {
      names[name] = file.inode
      files[file.inode] = file.bytes
    }
  }

  mutating func apply(_ event: PowerTrace.Event) {
    switch event {
    case .write(let inode, let offset, let bytes, let arrival):
      if arrival == .failed { return }
      note(inode, .write(offset: offset, bytes: bytes, isSynced: arrival != .later))
    case .resize(let inode, let length): note(inode, .resize(length))
    case .create(let name, let inode): note(inode, .create(name))
    case .rename(let from, let to): note(0, .rename(from, to))
    case .unlink(let name): note(0, .unlink(name))
    case .makeDirectory: note(0, .makeDirectory)
    case .beginSync(let number): syncs[number] = next
    case .endSync(let number, let inode, let name):
      guard let limit = syncs.removeValue(forKey: number) else { return }
      settle(before: limit, inode: inode, name: name)
    case .failSync(let number, let inode, let name):
      guard let limit = syncs.removeValue(forKey: number) else { return }
      lose(before: limit, inode: inode, name: name)
    case .say: break
    }
  }

  /// Applies a failed sync. Each write that the sync covers is either on the disk now or lost. But after a failed sync of a
  /// directory the system keeps the new names, and the next sync of the directory writes these names.
  private mutating func lose(before limit: Int, inode: UInt64, name: String) {
    if name == "" || name == ".." { return }
    pending.removeAll { item in
      guard case .write(_, _, isSynced: false) = item.change, item.inode == inode,
        item.number < limit
      else { return false }
      return !loss.next()
    }
    settle(before: limit, inode: inode, name: name)
  }

  private mutating func note(_ inode: UInt64, _ change: Pending.Change) {
    pending.append(Pending(number: next, inode: inode, change: change))
    next += 1
  }

  private mutating func settle(before limit: Int, inode: UInt64, name: String) {
    var rest: [Pending] = []
    for item in pending {
      let isCovered =
        switch item.change {
        case .write, .resize: item.inode == inode
        case .create, .rename, .unlink: name == ""
        case .makeDirectory: name == ".."
        }
      if item.number < limit, isCovered { carryOut(item) } else { rest.append(item) }
    }
    pending = rest
  }

  private mutating func carryOut(_ item: Pending) {
    switch item.change {
    case .write(let offset, let bytes, _): put(bytes, at: offset, of: item.inode)
    case .resize(let length): resize(item.inode, to: length)
    case .create(let name): names[name] = item.inode
    case .rename(let from, let to):
      if let inode = names.removeValue(forKey: from) { names[to] = inode }
    case .unlink(let name): names[name] = nil
    case .makeDirectory: hasDirectory = true
    }
  }

  private mutating func resize(_ inode: UInt64, to length: Int) {
    let count = files[inode]?.count ?? 0
    if length < count {
      files[inode]!.removeLast(count - length)
    } else {
      files[inode, default: []] += [UInt8](repeating: 0, count: length - count)
    }
  }

  private mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int, of inode: UInt64) {
    if offset + bytes.count > files[inode]?.count ?? 0 { resize(inode, to: offset + bytes.count) }
    files[inode]!.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// One possible state of the disk. Nil if the directory of the store is not on the disk.
  func image(_ luck: Luck, _ random: inout SeededRNG) -> [String: [UInt8]]? {
    var disk = self
    let mayBeLonger = Bool.random(using: &random)
    let end = Int(
      Double(pending.count) * { if case .prefix(let part) = luck { part } else { 1 } }())
    for (index, item) in pending.enumerated() {
      if case .write(let offset, let bytes, let isSynced) = item.change {
        if isSynced {
          disk.put(bytes, at: offset, of: item.inode)
          continue
        }
        // The new length of the file may have reached the disk without the written bytes.
        if mayBeLonger, offset + bytes.count > disk.files[item.inode]?.count ?? 0 {
          disk.resize(item.inode, to: offset + bytes.count)
        }
        if case .sectors(let chance) = luck {
          var start = offset
          while start < offset + bytes.count {
            let stop = min((start / Self.sector + 1) * Self.sector, offset + bytes.count)
            if Double.random(in: 0..<1, using: &random) < chance {
              let part = bytes[bytes.startIndex + start - offset..<bytes.startIndex + stop - offset]
              disk.put(part, at: start, of: item.inode)
            }
            start = stop
          }
          continue
        }
      }
      let arrives =
        switch luck {
        case .nothing: false
        case .everything: true
        case .calls(let chance), .sectors(let chance):
          Double.random(in: 0..<1, using: &random) < chance
        case .prefix: index < end
        }
      if arrives { disk.carryOut(item) }
    }
    return disk.hasDirectory ? disk.names.mapValues { disk.files[$0] ?? [] } : nil
  }

  static func luck(_ random: inout SeededRNG) -> Luck {
    let chance = [0.05, 0.3, 0.5, 0.7, 0.95].randomElement(using: &random)!
    return switch Int.random(in: 0..<10, using: &random) {
    case 0: .nothing
    case 1: .everything
    case 2: .prefix(Double.random(in: 0...1, using: &random))
    case 3...5: .calls(chance)
    default: .sectors(chance)
    }
  }
}
