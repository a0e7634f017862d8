extension CommandTable {
  /// Every command of the shell.
  package static let standard = CommandTable([
    .namespaces, .keys, .more, .count, .get, .info, .exists, .ttl, .expiring, .search, .sizes,
    .plot,
    .mark, .diff, .set, .touch, .expire, .persist, .evict, .purge, .clear, .pin, .unpin, .stats,
    .limits, .rename, .export, .import, .report, .sync, .verify, .use, .output, .option, .source,
    .history,
    .echo, .help, .quit,
  ])
}
