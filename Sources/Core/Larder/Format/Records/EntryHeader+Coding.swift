import LarderSystem

// The bytes of a header. Most headers have 25 bytes: numbers below 2^32 take 4 bytes, times are stored as differences, and a
// number that follows from another field is omitted. A bit field, the form, tells which numbers are stored, and their lengths.

extension EntryHeader {
  /// Reads the header of a record. Nil if the bytes cannot be a header.
  @inline(__always)
  init?(_ record: Span<UInt8>) {
    guard record.count >= Self.plainSize else {
      self.init(uncommon: record)
      return
    }
    let bytes = record.extracting(0..<Self.plainSize)
    let head = bytes.word(at: 8)
    guard UInt16(truncatingIfNeeded: head) & ~Form.plainFlags == Form.plain else {
      self.init(uncommon: record)
      return
    }
    let written = Int64(bitPattern: bytes.word(at: 9) &>> 16)
    let expires = written &+ Int64(bytes.halfWord(at: 21))
    let version = UInt64(bytes.halfWord(at: 17))
    let flags = Flags(rawValue: UInt8(truncatingIfNeeded: head))
    self.init(
      flags: flags, codec: UInt8(truncatingIfNeeded: head &>> 16), checksum: bytes.word(at: 0),
      written: written, expires: expires, staleUntil: expires, deadline: expires,
      sequence: flags.contains(.pinned) ? 0 : version, version: version, size: Self.plainSize)
  }

  @inline(never)
  private init?(uncommon record: Span<UInt8>) {
    guard record.count >= Self.fixedSize else { return nil }
    let form = Form(bits: UInt16(truncatingIfNeeded: record.word(at: 8)))
    let size = form.size
    guard record.count >= size else { return nil }
    var reader = WordReader(record.extracting(0..<size), at: Self.fixedSize)
    self.init(
      flags: Flags(rawValue: UInt8(truncatingIfNeeded: form.bits & Form.plainFlags)),
      codec: record[10], checksum: record.word(at: 0),
      written: Int64(bitPattern: record.word(at: 9) &>> 16), expires: Self.never,
      staleUntil: Self.never, deadline: Self.never, sequence: 0, version: 0, size: size)
    let isPinned = flags.contains(.pinned)
    if form.bits & Form.wide != 0 {
      // In a wide header the high byte of the form is 0, and the time of writing has 8 bytes instead of 6.
      guard form.bits &>> 8 == 0 else { return nil }
      written |= Int64(bitPattern: UInt64(reader.next(2))) &<< 48
      expires = Int64(bitPattern: reader.next(8))
      staleUntil = Int64(bitPattern: reader.next(8))
      deadline = Int64(bitPattern: reader.next(8))
      version = reader.next(8)
      sequence = reader.next(8)
    } else {
      let number = form.bits & Form.longNumbers == 0 ? 4 : 6
      version = reader.next(number)
      let hasOwn = form.bits & Form.ownSequence != 0
      guard !(hasOwn && isPinned) else { return nil }
      sequence = hasOwn ? reader.next(number) : isPinned ? 0 : version
      let length = form.length(Form.expiresShift)
      guard length != Form.Length.never else { return nil }
      if length != Form.Length.none { expires = written + reader.difference(length) }
      switch form.length(Form.staleShift) {
      case Form.Length.none: staleUntil = expires
      case Form.Length.never: break
      case let length:
        guard expires != Self.never else { return nil }
        staleUntil = expires + reader.difference(length)
      }
      switch form.length(Form.deadlineShift) {
      case Form.Length.none: deadline = staleUntil
      case Form.Length.never: break
      case let length:
        guard staleUntil != Self.never else { return nil }
        deadline = staleUntil - reader.difference(length)
      }
    }
    if form.bits & Form.hasFields != 0 { fieldsCount = UInt32(reader.next(4)) }
    guard Int(fieldsCount) <= record.count - size, staleUntil >= expires,
      isPinned == (sequence == 0)
    else { return nil }
    if fieldsCount > 0, Self.isTransformed(record.extracting(fieldsRange)) {
      flags.insert(.transformed)
    }
  }

  var form: Form {
    var bits = UInt16(flags.intersection(.known).rawValue)
    if fieldsCount > 0 { bits |= Form.hasFields }
    return Form(bits: bits | (compactForm ?? Form.wide))
  }

  /// The high byte of the form; nil if a number is too large for a compact header.
  private var compactForm: UInt16? {
    guard 0..<1 << 48 ~= written, max(version, sequence) < 1 << 48,
      (sequence == 0) == flags.contains(.pinned), staleUntil >= expires
    else { return nil }
    var bits: UInt16 = max(version, sequence) >> 32 == 0 ? 0 : Form.longNumbers
    if sequence != version, sequence != 0 { bits |= Form.ownSequence }
    guard let lifetime = Self.length(of: expires, from: written, to: expires),
      let stale = Self.length(of: staleUntil, from: expires, to: staleUntil),
      let early = Self.length(of: deadline, from: deadline, to: staleUntil)
    else { return nil }
    if expires != Self.never { bits |= max(lifetime, Form.Length.short) &<< Form.expiresShift }
    return bits | stale &<< Form.staleShift | early &<< Form.deadlineShift
  }

  /// The length of `time`, which is stored as the difference between two times; nil if the difference does not fit.
  private static func length(of time: Int64, from early: Int64, to late: Int64) -> UInt16? {
    if early == late { return Form.Length.none }
    if time == never { return Form.Length.never }
    let (difference, overflow) = late.subtractingReportingOverflow(early)
    guard late != never, !overflow, 0..<1 << 48 ~= difference else { return nil }
    return difference >> 32 == 0 ? Form.Length.short : Form.Length.long
  }

  /// Appends the header in the form `form` to an empty record. ``seal(_:keyHash:)`` must then set the checksum.
  func append(to record: inout OutputSpan<UInt8>, _ form: Form) {
    record.append(word: 0)
    record.append(
      word: UInt64(form.bits) | UInt64(codec) &<< 16 | UInt64(bitPattern: written) &<< 24)
    record.append(UInt8(truncatingIfNeeded: written &>> 40))
    if form.bits & Form.wide != 0 {
      record.append(littleEndian: UInt16(truncatingIfNeeded: written &>> 48))
      for time in [expires, staleUntil, deadline] { record.append(word: UInt64(bitPattern: time)) }
      record.append(word: version)
      record.append(word: sequence)
    } else {
      let isLong = form.bits & Form.longNumbers != 0
      record.append(number: version, isLong: isLong)
      if form.bits & Form.ownSequence != 0 { record.append(number: sequence, isLong: isLong) }
      record.append(difference: expires &- written, form.length(Form.expiresShift))
      record.append(difference: staleUntil &- expires, form.length(Form.staleShift))
      record.append(difference: staleUntil &- deadline, form.length(Form.deadlineShift))
    }
    if fieldsCount > 0 { record.append(number: UInt64(fieldsCount), isLong: false) }
  }

  static func seal(_ record: inout OutputSpan<UInt8>, keyHash: UInt64) {
    let checksum = checksum(of: record.span, keyHash: keyHash)
    record.replaceWord(at: 0, with: checksum)
  }
}

extension WordReader {
  fileprivate mutating func difference(_ length: UInt16) -> Int64 {
    let count = EntryHeader.Form.bytes(length)
    return count == 0 ? 0 : Int64(bitPattern: next(count))
  }
}

extension OutputSpan<UInt8> {
  /// Appends a number of 4 bytes, or of 6 bytes if `isLong` is set.
  @inline(__always)
  fileprivate mutating func append(number: UInt64, isLong: Bool) {
    append(littleEndian: UInt32(truncatingIfNeeded: number))
    if isLong { append(littleEndian: UInt16(truncatingIfNeeded: number &>> 32)) }
  }

  @inline(__always)
  fileprivate mutating func append(difference: Int64, _ length: UInt16) {
    guard EntryHeader.Form.bytes(length) > 0 else { return }
    append(number: UInt64(bitPattern: difference), isLong: length == EntryHeader.Form.Length.long)
  }
}
