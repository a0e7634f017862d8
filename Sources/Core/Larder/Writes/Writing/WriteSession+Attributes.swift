import LMDB
import LarderSystem

/// Changes that keep an entry's value and version. The result is false for a damaged record, unless stated otherwise.
extension WriteSession {
  /// Edits the header and the fields. A damaged record stays unchanged, because a new checksum would hide the damage.
  mutating func amend(
    _ entry: StoredEntry, as change: EntryChange = .amended,
    _ edit: (inout EntryHeader, inout EntryFields) -> Void
  ) throws(LarderError) -> Bool {
    guard let body = try intactBody(of: entry), let key = entry.key else { return false }
    var (header, fields) = (entry.header, entry.fields)
    edit(&header, &fields)
    let payload = body.span.extracting(droppingFirst: Int(entry.header.fieldsCount))
    let draft = Draft(
      payload, for: key.span, at: entry.entryKey, header, fields, encoded: fields.encoded(),
      keepingValueOf: entry)
    try replace(entry, with: draft, as: change)
    return true
  }

  /// Replaces the expiry, the end of the stale window and the time to idle. If `idle` is nil, removes the time to idle.
  mutating func reschedule(
    _ entry: StoredEntry, expires: Int64, staleUntil: Int64, idle: IdleInterval?,
    written: Int64? = nil, as change: EntryChange = .amended
  ) throws(LarderError) -> Bool {
    try amend(entry, as: change) { header, fields in
      header.written = written ?? header.written
      header.expires = expires
      header.staleUntil = staleUntil
      header.deadline = header.indexedDeadline(replacing: entry.header)
      if idle == nil { header.flags.remove(.idle) } else { header.flags.insert(.idle) }
      if fields.idle != idle { fields.idle = idle }
    }
  }

  /// Extends the lifetime of an entry with a time to idle after an access at `moment`. Returns whether the entry was written.
  @discardableResult
  mutating func extend(_ entry: StoredEntry, accessedAt moment: Int64) throws(LarderError) -> Bool {
    guard entry.header.flags.contains(.idle), let idle = entry.fields.idle,
      moment >= idle.due(end: entry.header.expires)
    else { return false }
    let end = idle.end(after: moment)
    return try reschedule(
      entry, expires: end, staleUntil: Lifetime.late(end, stale: entry.header.stale ?? .zero),
      idle: idle)
  }

  mutating func setOwners(_ owners: [StoredOwner], of entry: StoredEntry) throws(LarderError)
    -> Bool
  {
    try amend(entry) { _, fields in
      if owners != entry.owners { fields.replaceAll(.owner, with: owners.map(\.field)) }
    }
  }
}
