extension CommandTable {
  /// Every command of the shell.
  package static let standard = CommandTable([
    .namespaces, .keys, .more, .count, .get, .info, .exists, .ttl, .expiring, .search, .sizes,
    .plot, .watch, .mark, .diff, .set, .touch, .expire, .persist, .evict, .purge, .clear,
    .invalidate, .pin,
    .unpin, .stats,
    .limits, .rename, .export, .import, .report, .compact, .sync, .verify, .use, .output, .option,
    .source,
    .history,
    .echo, .help, .quit,
  ])
}
